"""What a static Variable answers, and derivatives of functions while a Program is built."""


def _asked(what: str) -> str:
    return (
        "paddle.enable_static()\nwith paddle.static.program_guard(paddle.static.Program()):\n"
        "    x = paddle.static.data('x', [2, 3], 'float32')\n    y = x * 2\n"
        f"    try:\n        found = {what}\n    finally:\n        paddle.disable_static()\nfound"
    )


def _run(code: str, fetch: str = "out") -> str:
    body = "".join(f"    {line}\n" for line in code.split("\n"))
    return (
        "paddle.enable_static()\nmain = paddle.static.Program()\n"
        "with paddle.static.program_guard(main):\n"
        "    x = paddle.static.data('x', [2, 3], 'float32')\n    x.stop_gradient = False\n"
        f"    v = paddle.static.data('v', [2, 3], 'float32')\n{body}"
        "values = np.arange(6, dtype='float32').reshape(2, 3)\n"
        "exe, feed = paddle.static.Executor(), {'x': values, 'v': values + 1}\n"
        f"found = exe.run(main, feed=feed, fetch_list={fetch})\n"
        "paddle.disable_static()\nfound"
    )


_SQUARE = "out = paddle.incubate.autograd.{product}(lambda a: a * a, x{v})"
_TWO = (
    "out = paddle.incubate.autograd.{product}(lambda a, b: paddle.matmul(a, b, transpose_y=True), [x, x]{v})"
)
_EIG = (
    "a = paddle.to_tensor(np.array([[2.0, 1.0], [0.5, 3.0]]) + {more}, '{dtype}', stop_gradient=False)\n"
    "w, v = paddle.linalg.eig(a)\nloss = (w * w).abs().sum() + (v.abs() * t([2, 2], 'float64')).sum()\n"
    "loss.backward()\na.grad"
)
CALLS: dict[str, str] = {
    **{
        f"asked/{what}": _asked(what)
        for what in (
            "x.place()", "type(x.cpu()).__name__", "x.cpu().shape", "x.cuda().shape",
            "x.attr_names", "x.ndimension()", "x.dim()", "x.ndim", "x.element_size()", "x.error_clip",
            "x.belong_to_optimizer", "str(x.type)", "repr(x.type)", "x.desc.name()", "x.desc.shape()",
            "x.desc.dtype()", "x.desc.persistable()", "(x._set_attr('a', 1), x.attr('a'), x._has_attr('a'))",
            "x._has_attr('a')", "x._to_readable_code()", "x.size().shape", "x.mean().item().shape",
            "y.op.type", "x.grad_name", "x.is_parameter", "paddle.is_tensor(x)",
        )
    },
    **{
        f"asked/raises {what}": _asked(what)
        for what in ("x.attr('a')", "x.item()", "float(x)", "int(x)", "x.get_value()")
    },
    "size/run": _run("out = x.size()", "[out]"),
    "cpu/run": _run("out = x.cpu() + 1", "[out]"),
    **{
        f"{product}/{name}{' v' if v else ''}": _run(
            code.format(product=product, v=v),
            "[out[0], *(out[1] if isinstance(out[1], (list, tuple)) else [out[1]])]",
        )
        for product in ("vjp", "jvp")
        for name, code, v in (
            ("square", _SQUARE, ""), ("square", _SQUARE, ", v"), ("two", _TWO, ""),
            ("two", _TWO, ", [v, v]" if product == "jvp" else ", paddle.matmul(v, v, transpose_y=True)"),
        )
    },
    "Jacobian/static": _run(
        "def f(a):\n    return paddle.matmul(a, a, transpose_y=True)\n"
        "out = paddle.incubate.autograd.Jacobian(f, [x])[:, :]",
        "[out]",
    ),
    "Hessian/static": _run(
        "H = paddle.incubate.autograd.Hessian(lambda a: paddle.sum(a * a * a), [x])\nout = H[:, :]", "[out]"
    ),
    **{
        f"eig/{dtype}": _EIG.format(dtype=dtype, more=more)
        for dtype, more in (("float64", "0"), ("complex128", "np.array([[0, 0.3j], [0.2j, 0]])"))
    },
    "eigvals/no gradient": "a = paddle.to_tensor(np.eye(2) * 2, stop_gradient=False)\n"
    "paddle.linalg.eigvals(a).stop_gradient"
}
