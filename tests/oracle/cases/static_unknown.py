"""What random calls in a Program showed: unknown sizes, gradients of integers, errors of arguments."""

_RUN = """\
paddle.enable_static()
main, startup = paddle.static.Program(), paddle.static.Program()
with paddle.static.program_guard(main, startup):
{body}
exe = paddle.static.Executor()
exe.run(startup)
found = exe.run(main, feed={{{feed}}}, fetch_list=fetch)
paddle.disable_static()
{result}"""

_VALUES = {
    "x": "np.array([[1.0, 2.0, -3.0]], 'float32')",
    "y": "np.array([[0.5], [1.5]], 'float32')",
    "s": "np.array([[3.0, 1.0], [1.0, 2.0]], 'float32')",
    "q": "np.array([[[[1.0, 2.0]], [[0.5, -1.0]]]], 'float32')",
    "p": "np.array([1, 0, 2, 1], 'int32')",
    "m": "np.array([[[[1.0, 2.0], [3.0, 4.0]]]], 'float32')",
    "e": "np.array([0.25], 'float32')",
    "z": "np.array([1 + 2j, 3 - 1j], 'complex64')",
    "shape": "np.array([2, 1], 'int32')",
    "i": "np.array([1, 0], 'int64')",
    "angle": "np.array([[0.5, 1.0, 2.0]], 'float32')",
}


def _declared(name: str, known: bool) -> str:
    sizes = f"list({_VALUES[name]}.shape)" if known else f"[-1] * {_VALUES[name]}.ndim"
    return f"{name} = paddle.static.data('{name}', {sizes}, str({_VALUES[name]}.dtype))"


def _run(used: str, code: str, known: str = "", gradient: str = "") -> str:
    """What ``code`` gives with ``used``, of which only the sizes of ``known`` are declared, and its shape."""
    names = used.split()
    lines = [_declared(name, name in known.split()) for name in names]
    lines += [f"{name}.stop_gradient = False" for name in gradient.split()]
    lines += [f"out = {code}", "fetch = [out]"]
    if gradient:
        lines += [
            "weight = paddle.static.data('weight', out.shape, out.dtype)",
            f"fetch += paddle.static.gradients([out], [{', '.join(gradient.split())}], [weight])",
        ]
    body = "\n".join(f"    {line}" for line in lines)
    feed = ", ".join(f"'{name}': {_VALUES[name]}" for name in names)
    if gradient:
        feed += f", 'weight': {_WEIGHTS[code]}"
    return _RUN.format(body=body, feed=feed, result="found, len(out.shape)")


_WEIGHTS = {
    "paddle.cast(x, 'int64')": "np.array([[3, 4, 5]])",
    "paddle.cast(paddle.cast(x, 'int32'), 'float32')": "np.array([[3, 4, 5]], 'float32')",
    "paddle.count_nonzero(x)": "np.array(3)",
    "paddle.nansum(x, dtype='int32')": "np.array(3, 'int32')",
    "paddle.exp(x)": "np.array([[3, 4, 5]], 'float32')",
}


def _kind(used: str, code: str) -> str:
    """The kind of the error that building or running gives."""
    made = _run(used, code, known=used)
    body = "".join(f"    {line}\n" for line in made.rsplit("\n", 2)[0].split("\n"))
    return (
        f"kind = ''\ntry:\n{body}except ValueError as error:\n"
        "    kind = 'InvalidArgument' if 'InvalidArgument' in str(error) else 'another'\n"
        "finally:\n    paddle.disable_static()\nkind"
    )


CALLS = {
    "squeeze/size that is not known": _run("x", "paddle.squeeze(x, 0)"),
    "squeeze/no axis": _run("x", "paddle.squeeze(x, 0).squeeze()", known="x"),
    "expand/-1 to 1": _run("y", "paddle.expand(y, [-1, 1]) + 0"),
    "expand/-1 to more": _run("y", "paddle.expand(y, [2, 3]) * 1"),
    "matrix_power/0": _run("s", "paddle.linalg.matrix_power(s, 0)"),
    "matrix_power/3": _run("s", "paddle.linalg.matrix_power(s, 3)"),
    "cosine_similarity/eps": _run("x e", "F.cosine_similarity(x, x * 0.25, eps=e)", known="x e"),
    "pad/Variable": _run("m p", "F.pad(m, p)", known="m p"),
    "pad/Variable, reflect": _run("m p", "F.pad(m, p // p.sum(), mode='reflect')", known="m p"),
    "zeropad2d/Variable": _run("m p", "F.zeropad2d(m, p)", known="p"),
    "where_/one argument": _run("x", "paddle.where_(x > 0)[1]", known="x"),
    "reshape/complex": _run("z shape", "paddle.reshape(z, shape)", known="z shape"),
    "polar/two dtypes": _run("x angle", "paddle.polar(paddle.cast(x, 'float64'), angle)", known="x angle"),
    "data/shape of another": _run("x", "paddle.exp(x)", gradient="x"),
    **{
        f"gradient/{name}": _run("x", code, known="x", gradient="x")
        for name, code in (
            ("cast to integers", "paddle.cast(x, 'int64')"),
            ("there and back", "paddle.cast(paddle.cast(x, 'int32'), 'float32')"),
            ("count_nonzero", "paddle.count_nonzero(x)"),
            ("sum of integers", "paddle.nansum(x, dtype='int32')"),
        )
    },
    "argmax/dtype raises": "paddle.enable_static()\n"
    "x = paddle.static.data('x', [3], 'float32')\ntry:\n    out = paddle.argmax(x, dtype='float32')\n"
    "finally:\n    paddle.disable_static()\nout",
    "cumprod/no dim raises": "paddle.enable_static()\n"
    "x = paddle.static.data('x', [3], 'float32')\ntry:\n    out = paddle.cumprod(x)\n"
    "finally:\n    paddle.disable_static()\nout",
    "tanh/array raises": "paddle.enable_static()\ntry:\n    out = paddle.tanh(np.ones([2], 'float32'))\n"
    "finally:\n    paddle.disable_static()\nout",
    "kind/flip": _kind("e", "paddle.flip(paddle.reshape(e, []), 0)"),
    "kind/kthvalue": _kind("x", "paddle.kthvalue(x, 7)[0]"),
    "kind/bincount": _kind("i", "paddle.bincount(i - 5)"),
    "kind/one_hot": _kind("i", "F.one_hot(i + 3, 3)"),
    "kind/attribute": _kind("x e", "F.leaky_relu(x, e)"),
    "kind/index_put": _kind("y", "paddle.index_put(y, (y,), y)"),
}

TOLERANCES = {"polar/two dtypes": 1e-7}  # the sine is one of float32
