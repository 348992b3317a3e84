"""Forms with a trailing underscore: what the tensor holds afterwards, gradients, refusals."""

_NO_ARGUMENTS = (
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "digamma", "erf",
    "erfinv", "exp", "expm1", "floor", "frac", "i0", "lgamma", "log", "log10", "log1p", "log2", "logit",
    "nan_to_num", "neg", "reciprocal", "round", "rsqrt", "sigmoid", "sin", "sinh", "sqrt", "tan",
    "tanh", "trunc", "tril", "triu", "t", "squeeze", "flatten", "cumsum"
)
_COMPARISONS = ("equal", "not_equal", "less_than", "less_equal", "greater_than", "greater_equal")
_WITH_A_TENSOR = (
    "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "mod", "floor_mod", "hypot", "ldexp"
)
_ONE = {
    **dict.fromkeys((*_WITH_A_TENSOR, *_COMPARISONS), "t([2, 3], seed=1) + 2"),
    "pow": "2.0",
    "polygamma": "1",
    "multigammaln": "1",
    "cast": "'float64'",
    "reshape": "[3, 2]",
    "transpose": "[1, 0]",
    "unsqueeze": "0",
    "clip": "0.2, 0.6",
    "scale": "2.0, 0.5",
    "cumprod": "1",
    "lerp": "t([2, 3], seed=1), 0.3",
    "renorm": "2.0, 0, 0.5",
    "addmm": "t([2, 4], seed=1), t([4, 3], seed=2)",
    "masked_fill": "paddle.to_tensor([[True, False, True]]), 9.0",
    "index_add": "paddle.to_tensor([0]), 0, t([1, 3], seed=1)",
    "index_fill": "paddle.to_tensor([0]), 0, 7.0",
    "put_along_axis": "paddle.to_tensor([[0, 1, 0]]), 5.0, 0",
    "scatter": "paddle.to_tensor([1]), t([1, 3], seed=1)",
}
_INTEGERS = {"bitwise_and": "ints([4], 9, seed=1)", "bitwise_or": "ints([4], 9, seed=1)",
             "bitwise_xor": "ints([4], 9, seed=1)", "bitwise_not": "", "gcd": "ints([4], 9, seed=1)",
             "lcm": "ints([4], 9, seed=1)", "abs": "", "neg": "", "add": "ints([4], 9, seed=1)",
             "multiply": "ints([4], 9, seed=1)", "trunc": "", "clip": "2, 6", "scale": "2.0"}
_SHIFTED = ("acosh", "multigammaln")
# Top-level functions of Paddle; the others are methods only.
_METHODS_ONLY = (
    "add", "subtract", "ceil", "clip", "erfinv", "exp", "floor", "lerp", "reciprocal", "round", "rsqrt",
    "scale", "sigmoid", "sqrt", "flatten", "put_along_axis"
)
_FUNCTIONS_ONLY = ("erf", "expm1")
# Paddle records nothing for these, or refuses later.
_WITHOUT_GRADIENT = (*_COMPARISONS, "floor_divide", "remainder", "mod", "floor_mod", "multigammaln")


def _calls() -> dict[str, str]:
    calls = {}
    for name in (*_NO_ARGUMENTS, *_ONE):
        arguments = _ONE.get(name, "")
        start = "pos([2, 3]) / 1.2" + (" + 1.5" if name in _SHIFTED else "")
        if name not in _FUNCTIONS_ONLY:
            calls[f"{name}_/"] = f"x = {start}\ny = x.{name}_({arguments})\n[x, y is x]"
        if name not in _METHODS_ONLY:
            comma = ", " if arguments else ""
            calls[f"{name}_/function"] = f"x = {start}\npaddle.{name}_(x{comma}{arguments})\nx"
        if name not in (*_FUNCTIONS_ONLY, *_WITHOUT_GRADIENT):
            calls[f"{name}_/raises for a leaf"] = (
                f"x = {start}\nx.stop_gradient = False\nx.{name}_({arguments})"
            )
    for name, arguments in _INTEGERS.items():
        calls[f"{name}_/int64"] = f"x = ints([4], 9)\nx.{name}_({arguments})\nx"
    return calls


CALLS: dict[str, str] = {
    **_calls(),
    "logical_and_/": "x = bools([4])\nx.logical_and_(bools([4], seed=1))\nx",
    "logical_or_/": "x = bools([4])\npaddle.logical_or_(x, bools([4], seed=1))\nx",
    "logical_not_/": "x = bools([4])\nx.logical_not_()\nx",
    "logical_not_/int64": "x = ints([4], 2)\nx.logical_not_()\nx",
    "where_/": "x = t([2, 3])\npaddle.where_(x > 0, x, t([2, 3], seed=1))\nx",
    "version/": "x = t([3])\na = x.inplace_version\nx.exp_()\nx.add_(t([3]))\n[a, x.inplace_version]",
    "version/view": "x = t([2, 3])\nv = x.reshape([6])\nx.exp_()\n[v, v.inplace_version]",
    "version/reshape_": (
        "x = t([2, 3])\nv = x.reshape([6])\nx.reshape_([3, 2])\n[v.shape, x.shape, v.inplace_version]"
    ),
    "gradient/exp_": "grad(lambda x: (x * 1.0).exp_(), t([3]))",
    "gradient/chain": "grad(lambda x: (x * 1.0).multiply_(paddle.ones([3]) * 2).add_(x).tanh_(), t([3]))",
    "gradient/reshape_": "grad(lambda x: (x * 1.0).reshape_([6]) * paddle.arange(6.0), t([2, 3]))",
    "gradient/transpose_": "grad(lambda x: (x * 1.0).transpose_([1, 0]) * t([3, 2]), t([2, 3]))",
    "gradient/cast_": "grad(lambda x: (x * 1.0).cast_('float64'), t([3]))",
    "gradient/clip_": "grad(lambda x: (x * 1.0).clip_(-0.5, 0.5), t([5]))",
    "gradient/raises for a changed value": (
        "x = t([3])\nx.stop_gradient = False\ny = x * 1.0\nz = y * y\ny.exp_()\nz.sum().backward()"
    ),
    "gradient/no_grad": (
        "x = t([3])\nx.stop_gradient = False\nwith paddle.no_grad():\n    x.scale_(2.0)\n(x * "
        "x).sum().backward()\n[x, x.grad]"
    ),
    "shape/raises for broadcast": "t([3]).add_(t([2, 3]))",
    "fill_/": "x = t([3])\nx.fill_(2.5)\nx",
    "zero_/": "x = t([3])\nx.zero_()\n[x, x.inplace_version]",
    "set_value/": "x = t([3])\nx.set_value(np.ones(3, 'float32'))\nx",
    "increment/": "x = paddle.to_tensor([3])\npaddle.increment(x)\nx"
}
