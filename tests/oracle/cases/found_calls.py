"""Calls in which random arguments showed a difference (tests/differential)."""

_NORMAL = "F.batch_norm(t([2, 3]), t([3]), pos([3]), pos([3], seed=1), t([3], seed=1), {}, epsilon={})"
_DRAWN = ("uniform_()", "normal_()", "exponential_()", "cauchy_()", "geometric_(0.5)")
_CHANGED = {
    "elu_": "2.0",
    "leaky_relu_": "0.2",
    "thresholded_relu_": "0.3",
    "hardtanh_": "-0.5, 0.4",
}
_RANGES = (
    ("arange", "0, 7.31, 2.5"),
    ("arange", "-1.7, 3.2, 1"),
    ("arange", "5.9, 0, -1.9"),
    ("arange", "0, paddle.to_tensor(7.31), 1"),
    ("linspace", "0, 1.83, 4"),
    ("linspace", "0.5, paddle.to_tensor(3.7), 3"),
    ("linspace", "7.9, 0, 3"),
    ("logspace", "0.5, 3.7, 3, 2.5"),
    ("logspace", "-1.37, -1.93, 2, 1.55"),
    ("logspace", "0, 1.83, 4, 2"),
)
_SHAPES = (
    ([0], [2, 0]), ([0], [1, 0]), ([4, 0], [2, 2, 0]), ([0, 3], [3, 0]), ([2, 3], [0, 0, 0]),
    ([0], [5, 0, -1]), ([2, 0], [-1, 0]), ([2, 0], [0, -1, 3]), ([0, 2], [0, 0])
)
_REFUSED = ([3, 0], [0, 0, 0], [5, 0, -1], [-1, 0])

CALLS = {
    **{
        f"gradient in place/{name}": f"grad(lambda x: F.{name}(x * 1, {more}), t([2, 3]))"
        for name, more in _CHANGED.items()
    },
    **{f"gradient of drawn numbers/{call}": f"grad(lambda x: (x * 1).{call}, t([3]))" for call in _DRAWN},
    "gradient of drawn numbers/poisson": "grad(lambda x: paddle.poisson(x), pos([3]))",
    **{
        f"batch_norm/training {training} epsilon {epsilon}": _NORMAL.format(training, epsilon)
        for training in (True, False)
        for epsilon in (0.01, 2.0)
    },
    "unique_consecutive/one": "paddle.unique_consecutive(t([1]), True, True, axis=0)",
    "unique_consecutive/no dimensions": "paddle.unique_consecutive(t([]), True, True)",
    "unique_consecutive/no elements": "paddle.unique_consecutive(t([0]))",
    "unique_consecutive/one row": "paddle.unique_consecutive(t([1, 2]), return_counts=True, axis=0)",
    "cov/one row by columns": "paddle.linalg.cov(t([1, 4]), rowvar=False)",
    "cov/one column by columns": "paddle.linalg.cov(t([4, 1]), rowvar=False)",
    "corrcoef/one row by columns": "paddle.linalg.corrcoef(t([1, 4]), rowvar=False)",
    "renorm/float64": "paddle.renorm(t([3, 2], 'float64'), 2.0, 1, 0.596)",
    "renorm/gradient": "grad(lambda x: paddle.renorm(x, 2.0, 0, 0.5), t([3, 2], 'float64'))",
    "uniform_/seed": "t([3]).uniform_(0.0, 1.0, np.int64(2))",
    "multigammaln/float": "paddle.multigammaln(pos([3]) + 3, 2.0)",
    "unflatten/empty": "t([2, 4, 0]).unflatten(1, [2, 2]).shape",
    **{
        f"reshape/{'raises ' * (new in _REFUSED)}{old} to {new}": f"paddle.reshape(t({old}), {new}).shape"
        for old, new in _SHAPES
    },
    "where_/raises without values": "paddle.where_(bools([2]))",
    "item/kind": "refusal(lambda: t([1]).item(1), ValueError)",
    "index_select/kind": "refusal(lambda: paddle.index_select(t([2]), paddle.to_tensor([4])), ValueError)",
    "index_add/kind": (
        "refusal(lambda: paddle.index_add(t([2]), paddle.to_tensor([4]), 0, t([1])), ValueError)"
    ),
    "matmul/kind": "refusal(lambda: paddle.matmul(t([2, 2]), t([2, 2], 'float64')), ValueError)",
    "gt/kind": "refusal(lambda: t([2]) > None, ValueError)",
    "ldexp/raises for a number": "paddle.ldexp(t([2]), 2)",
    "argmax/raises for a dtype": "paddle.argmax(t([2]), dtype=paddle.float32)",
    "trapezoid/raises without dimensions": "paddle.trapezoid(t([]))",
    "diagonal/raises without dimensions": "paddle.diagonal(t([]))",
    **{
        f"{name} of integers/{values} {dtype}": f"paddle.{name}({values}, dtype='{dtype}')"
        for name, values in _RANGES
        for dtype in ("int64", "int32")
    },
    "arange of integers/raises for a step below 1": "paddle.arange(0, 5, 0.5, dtype='int64')",
    "matrix_power/NumPy's integer": "paddle.linalg.matrix_power(t([2, 2]), np.int64(-1))",
    "matrix_power/tensor": "paddle.linalg.matrix_power(t([2, 2]), paddle.to_tensor(2))",
    "polar/gradients of two dtypes": (
        "grad(lambda x, y: paddle.polar(x, y).real(), pos([2]), t([2], 'float64'))"
    ),
    "split/raises for a tensor of several": "paddle.split(t([3, 3]), paddle.to_tensor([1, 2]))",
    "gather_tree/raises for shapes": "F.gather_tree(ints([2, 3, 3], 3), ints([3, 3, 3], 3))",
    "full/raises without a value": "paddle.full([2], None)",
    "diag_embed/raises without dimensions": "paddle.diag_embed(t([]))",
    "getitem/kind": "refusal(lambda: t([2])[[5]], ValueError)",
    "transpose/kind": "refusal(lambda: paddle.transpose(t([2, 2]), 1), ValueError)",
    "ifftshift/raises without dimensions": "paddle.fft.ifftshift(t([]), 0)",
    "unfold/complex gradient": "grad(lambda x: paddle.unfold(x, 0, 2, 2), t([4], 'complex64'))",
    "renorm/norm below": "paddle.renorm(t([2, 2], 'float64') * 0, 2.0, 0, 0.5)",
    "linear/gradients of a wider bias": (
        "grad(lambda x, w, b: F.linear(x, w, b), t([2, 3]), t([3, 2], seed=1), t([2], 'float64'))"
    ),
    "conv2d/gradients of a narrower bias": (
        "grad(lambda x, w, b: F.conv2d(x, w, b), t([1, 1, 3, 3]), t([2, 1, 2, 2], seed=1), t([2], 'float16'))"
    ),
    "adaptive_max_pool2d/empty": "F.adaptive_max_pool2d(t([1, 0, 5, 6]), 2).shape",
    "bilinear/no outputs": "F.bilinear(t([1, 3]), t([1, 5], seed=1), t([0, 3, 5]), t([1, 0])).shape",
    "renorm/empty": "paddle.renorm(t([1, 0, 4]), 2.0, 1, 0.8).shape",
}
