"""Linear algebra: matrix products."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ShapeError
from engine.core.infer import broadcast_shapes, require_floating, require_same_dtype
from engine.core.opdef import op
from engine.core.spec import Spec
from engine.ops import math, shape


def _infer_matmul(x: Spec, y: Spec, *, trans_x: bool = False, trans_y: bool = False) -> Spec:
    dtype = require_same_dtype("matmul", x=x, y=y)
    if x.ndim == 0 or y.ndim == 0:
        raise ShapeError(f"matmul: x is {x} and y is {y}; both need at least one dimension")
    a = list(x.shape) if x.ndim > 1 else [1, x.shape[0]]
    b = list(y.shape) if y.ndim > 1 else [y.shape[0], 1]
    if trans_x and x.ndim > 1:
        a[-1], a[-2] = a[-2], a[-1]
    if trans_y and y.ndim > 1:
        b[-1], b[-2] = b[-2], b[-1]
    if a[-1] != b[-2] and -1 not in (a[-1], b[-2]):
        raise ShapeError(
            f"matmul: x is {x}{' transposed' if trans_x else ''} and y is "
            f"{y}{' transposed' if trans_y else ''}: the inner dimensions are {a[-1]} and {b[-2]}; they must "
            "be equal"
        )
    result = [*broadcast_shapes("matmul", a[:-2], b[:-2]), a[-2], b[-1]]
    if x.ndim == 1:
        result.pop(-2)
    if y.ndim == 1:
        result.pop(-1)
    return Spec(result, dtype)


@op("matmul_v2", infer=_infer_matmul, broadcasts=True)
def matmul(xp, x, y, *, trans_x=False, trans_y=False):
    """Matrix product over the last two dimensions, broadcast over the others."""
    if trans_x and x.ndim > 1:
        x = x.swapaxes(-1, -2)
    if trans_y and y.ndim > 1:
        y = y.swapaxes(-1, -2)
    return xp.matmul(x, y)


@matmul.grad_all("x", "y")
def _matmul_grad(g: Any, x: Any, y: Any, trans_x: bool, trans_y: bool, wanted: frozenset[str]) -> Any:
    if x.ndim == 1 or y.ndim == 1:
        return _vector_grad(g, x, y, trans_x, trans_y)
    x, y = math.conjugate(x), math.conjugate(y)
    gx = gy = None
    if "x" in wanted:
        gx = matmul(y, g, trans_x=trans_y, trans_y=True) if trans_x else matmul(g, y, trans_y=not trans_y)
    if "y" in wanted:
        gy = matmul(g, x, trans_x=True, trans_y=trans_x) if trans_y else matmul(x, g, trans_x=not trans_x)
    return gx, gy


def _vector_grad(g: Any, x: Any, y: Any, trans_x: bool, trans_y: bool) -> tuple[Any, Any]:
    """Vectors as matrices of one row or column, and back."""
    a = shape.unsqueeze(x, axes=[0]) if x.ndim == 1 else x
    b = shape.unsqueeze(y, axes=[1]) if y.ndim == 1 else y
    if x.ndim == 1:
        g = shape.unsqueeze(g, axes=[g.ndim if y.ndim == 1 else g.ndim - 1])
        trans_x = False
    if y.ndim == 1:
        g = shape.unsqueeze(g, axes=[g.ndim])
        trans_y = False
    gx, gy = _matmul_grad(g, a, b, trans_x, trans_y, frozenset(("x", "y")))
    if x.ndim == 1:
        gx = shape.squeeze(gx, axes=[gx.ndim - 2])
    if y.ndim == 1:
        gy = shape.squeeze(gy, axes=[gy.ndim - 1])
    return gx, gy


def _infer_norm(x: Spec, **_: Any) -> Spec:
    require_floating("squared_l2_norm", x=x)
    return Spec((1,), x.dtype)


@op("squared_l2_norm", infer=_infer_norm)
def squared_l2_norm(xp, x):
    """Sum of squares over everything, as one element."""
    flat = x.reshape(-1)
    return xp.dot(flat, flat).reshape(1)


squared_l2_norm.grad(x=lambda g, x: shape.reshape(g, shape=[]) * x * 2.0)
