"""Variables where an argument is otherwise a number: axes, bounds, counts, sizes, shares, in static mode."""

_VALUES = {
    "x": ("[2, 3]", "float32", "[[0.5, -1.0, 2.0], [3.0, 0.25, -2.5]]"),
    "n": ("[2, 3]", "int64", "[[5, -1, 2], [3, 7, -2]]"),
    "y": ("[1, 1, 2, 2]", "float32", "[[[[1.0, 2.0], [3.0, 4.0]]]]"),
    "i": ("[2]", "int64", "[2, 0]"),
    "a": ("[1]", "int64", "[1]"),
    "b": ("[1]", "int32", "[2]"),
    "c": ("[]", "int64", "1"),
    "minus": ("[1]", "int32", "[-1]"),
    "both": ("[2]", "int32", "[0, 1]"),
    "shape": ("[2]", "int64", "[-1, 2]"),
    "zero": ("[3]", "int32", "[0, -1, 1]"),
    "wide": ("[3]", "int32", "[2, -1, 3]"),
    "low": ("[]", "float32", "0.0"),
    "high": ("[1]", "float32", "[1.5]"),
    "one": ("[]", "float32", "1.0"),
}


def _run(code: str) -> str:
    """The code in a Program; its last line is what is fetched."""
    *lines, last = code.split("\n")
    used = [name for name in _VALUES if any(name in _names(line) for line in (*lines, last))]
    data = ["{0} = paddle.static.data('{0}', {1}, '{2}')".format(name, *_VALUES[name][:2]) for name in used]
    fed = ", ".join(f"'{name}': np.array({_VALUES[name][2]}, '{_VALUES[name][1]}')" for name in used)
    body = "".join(f"    {line}\n" for line in (*data, *lines, f"out = {last}"))
    return (
        "paddle.enable_static()\nmain, startup = paddle.static.Program(), paddle.static.Program()\n"
        f"with paddle.static.program_guard(main, startup):\n{body}"
        "exe = paddle.static.Executor()\nexe.run(startup)\n"
        f"found = exe.run(main, feed={{{fed}}}, fetch_list=[out])\npaddle.disable_static()\nfound"
    )


def _again(what: str) -> str:
    return (
        "main = paddle.static.Program()\n"
        "def made(shape, dtype):\n    return paddle.static.data('x', shape, dtype)\n"
        "paddle.enable_static()\ntry:\n    with paddle.static.program_guard(main):\n"
        f"        made([2, 3], 'float32')\n        made({what})\nfinally:\n    paddle.disable_static()\n0"
    )


def _names(line: str) -> set[str]:
    return set("".join(c if c.isalnum() or c == "_" else " " for c in line).split())


_ONE = {
    **{f"{f} {a}": f"paddle.{f}(x, axis={a})" for f in ("sum", "mean", "max", "min", "prod")
       for a in ("a", "[c]", "both")},
    "sum keepdim": "paddle.sum(x, axis=b - 2, keepdim=True)",
    "sum whole numbers": "paddle.sum(n, axis=a)",
    "std": "paddle.std(x, axis=a)",
    "var": "paddle.var(x, axis=a, unbiased=False)",
    "count_nonzero": "paddle.count_nonzero(x, axis=a)",
    "argmax": "paddle.argmax(x, axis=a)",
    "argmin 0d": "paddle.argmin(x, axis=c)",
    "cumsum": "paddle.cumsum(x, axis=a)",
    "cumsum 0d": "paddle.cumsum(x, axis=c)",
    "squeeze": "paddle.squeeze(x.reshape([2, 1, 3]), axis=a)",
    "unsqueeze": "paddle.unsqueeze(x, axis=a)",
    "unsqueeze list": "paddle.unsqueeze(x, axis=[a, 0])",
    "unsqueeze two": "paddle.unsqueeze(x, axis=both)",
    "concat": "paddle.concat([x, x], axis=a)",
    "split": "paddle.split(x, 3, axis=a)[1]",
    "split sections": "paddle.split(x, [a, 2], axis=1)[1]",
    "split rest": "paddle.split(x, [a, -1], axis=1)[1]",
    "chunk": "paddle.chunk(x, 3, axis=c)[2]",
    "gather": "paddle.gather(x, i, axis=a)",
    "topk": "paddle.topk(x, b)[0]",
    "topk of columns": "paddle.topk(x, a, axis=0, largest=False)[1]",
    "linspace": "paddle.linspace(low, high, b)",
    "linspace num": "paddle.linspace(0, 1, b)",
    "logspace": "paddle.logspace(low, high, b, 2.0)",
    "eye": "paddle.eye(b)",
    "reshape": "paddle.reshape(x, [b - 3, 2])",
    "reshape tensor": "paddle.reshape(x, shape)",
    "reshape zero": "paddle.reshape(x, zero)",
    "expand": "paddle.expand(x, [2, minus, 3])",
    "expand tensor": "paddle.expand(x, wide)",
    "broadcast_to": "paddle.broadcast_to(x, wide)",
    "one_hot": "F.one_hot(i, b + 2)",
    "clip": "paddle.clip(x, low, high)",
    "clip one": "paddle.clip(x, min=low)",
    "clip whole numbers": "paddle.clip(n, max=high)",
    "dropout all": "F.dropout(x, one)",
    "dropout test": "F.dropout(x, high - 1, training=False, mode='downscale_in_infer')",
    "uniform": "paddle.uniform([2], min=low, max=high) * 0",
    "adaptive_avg_pool2d": "F.adaptive_avg_pool2d(y, [a, a])",
    "interpolate area": "F.interpolate(y, size=[b + 1, 4], mode='area')"
}
_GRADIENTS = {
    "sum": "paddle.sum(x, axis=a) ** 2",
    "mean": "paddle.mean(x, axis=both)",
    "max": "paddle.max(x, axis=a) ** 2",
    "prod": "paddle.prod(x, axis=a)",
    "cumsum": "paddle.cumsum(x, axis=c) ** 2",
    "concat": "paddle.concat([x, x * x], axis=a)",
    "split": "paddle.split(x, 3, axis=a)[1] ** 2",
    "gather": "paddle.gather(x, i, axis=a) ** 2",
    "topk": "paddle.topk(x, b)[0] ** 2",
    "clip": "paddle.clip(x, low, high) ** 2",
    "unsqueeze": "paddle.unsqueeze(x, axis=a) ** 2",
    "expand": "paddle.expand(x, wide) ** 2",
    "reshape": "paddle.reshape(x, shape) ** 2",
}
CALLS: dict[str, str] = {
    **{f"value/{name}": _run(code) for name, code in _ONE.items()},
    **{
        f"gradient/{name}": _run(f"x.stop_gradient = False\npaddle.static.gradients([{code}], [x])[0]")
        for name, code in _GRADIENTS.items()
    },
    "data/twice": _run("x = paddle.static.data('x', [2, 3], 'float32')\nx + 1"),
    "data/raises other shape": _again("[3, 2], 'float32'"),
    "data/raises other dtype": _again("[2, 3], 'int64'"),
}
