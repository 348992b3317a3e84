"""The matrix product of older networks: leading and trailing dimensions are flattened first."""

from __future__ import annotations

import math as python_math
from typing import Any

from engine.core.errors import ShapeError
from engine.core.infer import require_same_dtype
from engine.core.opdef import op
from engine.core.spec import Spec
from engine.ops.arrays import shape
from engine.ops.linalg import products as linalg


def _size(dims: Any) -> int:
    return -1 if any(d < 0 for d in dims) else python_math.prod(dims)


def _infer_mul(x: Spec, y: Spec, *, x_num_col_dims: int = 1, y_num_col_dims: int = 1) -> Spec:
    dtype = require_same_dtype("mul", x=x, y=y)
    if not 0 < x_num_col_dims < max(x.ndim, 1) or not 0 < y_num_col_dims < max(y.ndim, 1):
        raise ShapeError(
            f"mul: x is {x} and y is {y}: {x_num_col_dims} and {y_num_col_dims} leading dimensions of "
            "them are the rows, and at least one more must follow"
        )
    inner, other = _size(x.shape[x_num_col_dims:]), _size(y.shape[:y_num_col_dims])
    if inner != other and -1 not in (inner, other):
        raise ShapeError(
            f"mul: x is {x} and y is {y}: rows of x have {inner} elements and columns of y {other}; they "
            "must be equal"
        )
    return Spec((*x.shape[:x_num_col_dims], *y.shape[y_num_col_dims:]), dtype)


@op("mul", infer=_infer_mul)
def mul(xp, x, y, *, x_num_col_dims=1, y_num_col_dims=1):
    """x and y as matrices, their first dimensions (so many) the rows, multiplied."""
    rows, columns = x.shape[:x_num_col_dims], y.shape[y_num_col_dims:]
    inner = python_math.prod(y.shape[:y_num_col_dims])
    product = xp.matmul(x.reshape(python_math.prod(rows), inner), y.reshape(inner, python_math.prod(columns)))
    return product.reshape(*rows, *columns)


@mul.grad_all("x", "y")
def _mul_grad(
    g: Any, x: Any, y: Any, x_num_col_dims: int, y_num_col_dims: int, wanted: frozenset[str]
) -> Any:
    flat = _matrix(g, x_num_col_dims)
    gx = gy = None
    if "x" in wanted:
        gx = linalg.matmul(flat, _matrix(y, y_num_col_dims), trans_y=True)
        gx = shape.reshape_to(gx, x)
    if "y" in wanted:
        gy = linalg.matmul(_matrix(x, x_num_col_dims), flat, trans_x=True)
        gy = shape.reshape_to(gy, y)
    return gx, gy


def _matrix(x: Any, rows: int) -> Any:
    """x with its first ``rows`` dimensions as one and the others as one."""
    if x.ndim > rows + 1:
        x = shape.flatten(x, start_axis=rows, stop_axis=x.ndim - 1)
    return shape.flatten(x, start_axis=0, stop_axis=rows - 1) if rows > 1 else x
