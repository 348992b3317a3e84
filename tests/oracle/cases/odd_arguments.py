"""Arguments that Paddle takes though they look odd: other shapes, more lists, arrays of one number."""


def _static(code: str) -> str:
    """The code in a Program; its last line is what is fetched."""
    *lines, last = code.split("\n")
    body = "".join(f"    {line}\n" for line in (*lines, f"out = {last}"))
    return (
        "paddle.enable_static()\nmain, startup = paddle.static.Program(), paddle.static.Program()\n"
        f"with paddle.static.program_guard(main, startup):\n{body}"
        "exe = paddle.static.Executor()\nexe.run(startup)\n"
        "found = exe.run(main, fetch_list=[out])\npaddle.disable_static()\nfound"
    )


def _made(shape: str, initializer: str) -> str:
    return f"paddle.create_parameter({shape}, 'float32', default_initializer=nn.initializer.{initializer})"


_CLIPPED = (
    "p = paddle.create_parameter([3], 'float32', "
    "default_initializer=nn.initializer.Assign([1.0, -2.0, 3.0]))\n"
    "opt = paddle.optimizer.SGD(0.5, parameters=[p], grad_clip=nn.{clip})\n"
    "(p * p).sum().backward()\nopt.step()\np.detach()"
)
_ASSIGNED = {
    "flat": ("[2, 3]", "np.arange(6.0)"),
    "turned": ("[2, 3]", "np.arange(6.0).reshape(3, 2)"),
    "longer": ("[2]", "np.ones([4])"),
    "more dimensions": ("[2]", "[[1.0], [2.0]]"),
    "0d": ("[1]", "np.array(3.0)"),
    "fits": ("[2]", "(1.0, 2.0)"),
}
_IMAGES = {
    "linear": ("[1, 2, 4]", "NCW", 1),
    "nearest": ("[1, 2, 3, 4]", "NCHW", 2),
    "bilinear": ("[1, 2, 3, 4]", "NCHW", 2),
    "bicubic": ("[1, 2, 3, 4]", "NCHW", 2),
    "trilinear": ("[1, 1, 2, 3, 2]", "NCDHW", 3),
}
_SIZES = {
    "list": "[6, 8, 5][:{n}]",
    "tuple": "(6, 8, 5)[:{n}]",
    "tensor": "paddle.to_tensor([6, 8, 5][:{n}])",
    "mixed": "[paddle.to_tensor(6), 8, 5][:{n}]",
    "int32": "[paddle.to_tensor([6], 'int32'), 8, 5][:{n}]",
    "floating": "[6.0, 8.0, 5.0][:{n}]",
}
_SCALES = {
    "number": "2",
    "fraction": "1.5",
    "list": "[2.0, 1.5, 1.0][:{n}]",
    "tensor": "paddle.to_tensor(2.0)",
    "tensors": "paddle.to_tensor([2.0] * {n})",
}


def _images(function: str, argument: str, value: str, mode: str, more: str = "") -> str:
    shape, data_format, n = _IMAGES[mode]
    value = value.format(n=n)
    return f"F.{function}(t({shape}), {argument}={value}, mode='{mode}', data_format='{data_format}'{more})"


CALLS: dict[str, str] = {
    **{
        f"Assign/{name}": f"p = {_made(shape, f'Assign({value})')}\n(p.shape, p.detach())"
        for name, (shape, value) in _ASSIGNED.items()
    },
    **{
        f"Assign/{name} in a Program": _static(
            f"p = {_made(shape, f'Assign({value})')}\np * 1.0"
        )
        for name, (shape, value) in _ASSIGNED.items()
    },
    "Assign/Linear": "init = nn.initializer.Assign(np.arange(6.0).reshape(3, 2))\n"
    "layer = nn.Linear(2, 3, weight_attr=init, bias_attr=False)\nlayer(paddle.ones([1, 3])).detach()",
    **{
        f"Bilinear/{shape}": f"{_made(shape, 'Bilinear()')}.detach()"
        for shape in ("[2, 2, 4, 4]", "[1, 1, 3, 3]", "[3, 1, 4, 4]", "[2, 2, 1, 1]")
    },
    **{
        f"Bilinear/raises {shape}": _made(shape, "Bilinear()")
        for shape in ("[2, 3, 2, 4]", "[4, 4]")
    },
    **{
        f"inplace_assign/{name}": "x = paddle.zeros([2])\n"
        f"(x._inplace_assign({value}), x.shape, x.detach(), x.stop_gradient)"
        for name, value in {
            "values": "paddle.ones([2]) * 5", "shape": "paddle.ones([3])",
            "dtype": "paddle.ones([2], 'int64')", "double": "paddle.ones([2, 1], 'float64')",
        }.items()
    },
    "inplace_assign/gradient": "x, z = paddle.zeros([2]), paddle.ones([2])\nz.stop_gradient = False\n"
    "x._inplace_assign(z * 2)\n(x * 3).sum().backward()\nz.grad.detach()",
    **{
        f"mean/{dtype} {axis}": f"paddle.mean(ints([3, 3], 9, '{dtype}') - 4, axis={axis})"
        for dtype in ("int32", "int64") for axis in ("None", "0", "[0, 1]")
    },
    "multiplex/fewer rows": "i = paddle.to_tensor([[1], [0]], 'int32')\n"
    "paddle.multiplex([t([4, 2]), t([4, 2], seed=1)], i)",
    "multiplex/raises more rows": "paddle.multiplex([t([2, 2])] * 2, paddle.to_tensor([[1], [0], [1]]))",
    **{
        f"tensordot/{axes}": f"paddle.tensordot(t([3, 3, 2]), t([3, 3, 2], seed=1), {axes})"
        for axes in ("[[0, 1], [1, 0], [2]]", "[[0], [1], [0]]", "([0, 1], [1, 0], [0], [1])", "np.int64(0)",
                     "[[0, 1], [0]]", "paddle.to_tensor([0, 1])", "[paddle.to_tensor([0]), [1]]")
    },
    **{
        f"{function}/{mode} size {name}": _images(function, "size", size, mode)
        for function, modes in (("interpolate", _IMAGES), ("upsample", ("bilinear",)))
        for mode in modes
        for name, size in _SIZES.items()
    },
    **{
        f"interpolate/{mode} scale {name}": _images("interpolate", "scale_factor", scale, mode)
        for mode in _IMAGES
        for name, scale in _SCALES.items()
    },
    **{
        f"interpolate/{mode} {more}": _images("interpolate", "size", _SIZES["list"], mode, f", {more}")
        for mode in ("linear", "bilinear", "trilinear", "bicubic")
        for more in ("align_corners=True", "align_mode=1", "align_corners=True, align_mode=1")
    },
    **{
        f"clip/{clip}": _CLIPPED.format(clip=clip)
        for value in ("0.1", "1", "paddle.to_tensor(0.1)", "paddle.to_tensor([0.1])", "np.float32(0.1)",
                      "np.array([0.1])", "'0.1'")
        for clip in (f"ClipGradBy{by}({value})" for by in ("Norm", "GlobalNorm", "Value"))
        if clip != "ClipGradByValue('0.1')"
    }
}
