"""Gradients of complex values: of elementwise functions, and of functions that move elements."""

_X = "t([3, 3], 'complex128')"
_I = "paddle.to_tensor([0, 2, 1])"
_ROWS = "paddle.to_tensor([[0, 2, 1], [1, 0, 0], [2, 2, 1]])"
_ELEMENTWISE = ("tan", "sinh", "cosh", "tanh", "asin", "acos", "atan", "asinh", "acosh", "atanh", "expm1")
_MOVED = {
    "tril": "x.tril(-1)",
    "triu": "x.triu(1)",
    "index_select": f"paddle.index_select(x, {_I}, 1)",
    "gather_nd": "paddle.gather_nd(x, paddle.to_tensor([[0, 1], [2, 0]]))",
    "index_sample": f"paddle.index_sample(x, {_ROWS})",
    "diagonal": "paddle.diagonal(x, 1)",
    "trace": "paddle.trace(x)",
    "index_put": "paddle.index_put(x, (paddle.to_tensor([0, 2]), paddle.to_tensor([1, 1])), x[0, :2])",
    "dot": "paddle.dot(x[0], x[1])",
}

CALLS = {
    **{
        name: f"grad(lambda x: paddle.{name}(x), {_X})"
        for name in _ELEMENTWISE
    },
    "sigmoid": "grad(lambda x: F.sigmoid(x), t([3, 3], 'complex64'))",
    "silu": "grad(lambda x: F.silu(x), t([3, 3], 'complex64'))",
    **{name: f"grad(lambda x: {call}, {_X})" for name, call in _MOVED.items()},
    "stanh": "grad(lambda x: paddle.stanh(x), t([3, 3], 'complex64'))",
    "tan_": f"grad(lambda x: paddle.tan_(x * 1), {_X})",
    "tril_": f"grad(lambda x: (x * 1).tril_(), {_X})",
}
