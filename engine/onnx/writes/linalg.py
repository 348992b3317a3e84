"""Rows of ``engine.ops.linalg``: products, norms and diagonals."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.operators.infer import normal_axes
from engine.onnx.writes.graph import Graph, Value
from engine.onnx.writes.rows import writes
from engine.onnx.writes.sizes import (
    Size,
    computed,
    flat,
    joined,
    numbers_below,
    reshaped,
    size,
    sizes,
    total,
    typed,
)

FLOATING = {"float16", "float32", "float64", "bfloat16"}


# -- products ------------------------------------------------------------------------------------------------
def product(
    g: Graph, x: Value, y: Value, trans_x: bool = False, trans_y: bool = False, kind: str = "MatMul"
) -> Value:
    """The matrix product. Vectors become matrices: runtimes reorder products of transposed ones wrongly."""
    left = g.Unsqueeze(x, [0]) if x.ndim == 1 else _turned(g, x) if trans_x else x
    right = g.Unsqueeze(y, [1]) if y.ndim == 1 else _turned(g, y) if trans_y else y
    made = getattr(g, kind)(left, right)
    dropped = [axis for axis, each in ((-2, x), (-1, y)) if each.ndim == 1]
    return g.Squeeze(made, dropped) if dropped else made


def _turned(g: Graph, x: Value) -> Value:
    return g.Transpose(x, perm=[*range(x.ndim - 2), x.ndim - 1, x.ndim - 2])


@writes("matmul_v2")
def _(g: Graph, x: Value, y: Value, *, trans_x: bool, trans_y: bool) -> Value:
    return product(g, x, y, trans_x, trans_y)


@writes("bmm")
def _(g: Graph, x: Value, y: Value) -> Value:
    return product(g, x, y)


@writes("mv")
def _(g: Graph, x: Value, vec: Value) -> Value:
    return product(g, x, vec)


def flat_product(g: Graph, x: Value, y: Value, x_rows: int, y_rows: int, kind: str = "MatMul") -> Value:
    """The product of ``x`` and ``y`` as matrices: their first dimensions are rows."""
    left = x if x.ndim == 2 and x_rows == 1 else g.Flatten(x, axis=x_rows)
    right = y if y.ndim == 2 and y_rows == 1 else g.Flatten(y, axis=y_rows)
    made = getattr(g, kind)(left, right)
    if x_rows == 1 and y.ndim - y_rows == 1:
        return made  # type: ignore[no-any-return]
    return reshaped(g, made, [*sizes(g, x, 0, x_rows), *sizes(g, y, y_rows)])


@writes("mul")
def _(g: Graph, x: Value, y: Value, *, x_num_col_dims: int, y_num_col_dims: int) -> Value:
    return flat_product(g, x, y, x_num_col_dims, y_num_col_dims)


@writes("product_of_rows")
def _(g: Graph, x: Value, y: Value) -> Value:
    rows = [g.Flatten(each, axis=each.ndim - 1) if each.ndim > 2 else each for each in (x, y)]
    return g.MatMul(g.Transpose(rows[0], perm=[1, 0]), rows[1])


@writes("dot")
def _(g: Graph, x: Value, y: Value) -> Value:
    return g.ReduceSum(g.Mul(x, y), [-1], keepdims=0)


@writes("addmm")
def _(g: Graph, input: Value, x: Value, y: Value, *, alpha: float, beta: float) -> Value:
    if x.dtype in FLOATING:
        return g.Gemm(x, y, input, alpha=float(alpha), beta=float(beta))
    return g.Add(g.Mul(input, g.like(beta, x)), g.Mul(g.MatMul(x, y), g.like(alpha, x)))


@writes("cross")
def _(g: Graph, x: Value, y: Value, *, dim: int) -> Value:
    a, b = ([g.Gather(each, order, axis=dim) for order in ([1, 2, 0], [2, 0, 1])] for each in (x, y))
    return g.Sub(g.Mul(a[0], b[1]), g.Mul(a[1], b[0]))


# -- norms ---------------------------------------------------------------------------------------------------
@writes("squared_l2_norm")
def _(g: Graph, x: Value) -> Value:
    return g.ReduceSum(g.Mul(flat(g, x), flat(g, x)), [0], keepdims=1)


@writes("frobenius_norm")
def _(g: Graph, x: Value, *, dim: Any, keep_dim: bool, reduce_all: bool) -> Value:
    axes = None if reduce_all or not dim else list(normal_axes("frobenius_norm", dim, x.ndim))
    return g.Sqrt(g.ReduceSum(g.Mul(x, x), axes, keepdims=int(keep_dim)))


@writes("determinant")
def _(g: Graph, input: Value) -> Value:
    return g.Det(input)


def _iterated(g: Graph, weight: Value, u: Value, v: Value, dim: int, power_iters: int, eps: float) -> Any:
    dim %= weight.ndim
    moved = g.transposed(weight, [dim, *(n for n in range(weight.ndim) if n != dim)])
    matrix = g.Flatten(moved, axis=1)
    turned = g.Transpose(matrix, perm=[1, 0])
    left, right = g.Unsqueeze(u, [1]), g.Unsqueeze(v, [1])
    small = g.like(eps, weight)
    for _ in range(power_iters):
        right = g.MatMul(turned, left)
        right = g.Div(right, g.Add(g.ReduceL2(right, axes=[0]), small))
        left = g.MatMul(matrix, right)
        left = g.Div(left, g.Add(g.ReduceL2(left, axes=[0]), small))
    return matrix, left, right


@writes("spectral_norm")
def _(g: Graph, weight: Value, u: Value, v: Value, *, dim: int, power_iters: int, eps: float) -> Value:
    matrix, left, right = _iterated(g, weight, u, v, dim, power_iters, eps)
    largest = g.MatMul(g.MatMul(g.Transpose(left, perm=[1, 0]), matrix), right)
    return g.Div(weight, g.Reshape(largest, [1] * weight.ndim))


@writes("spectral_norm_vectors")
def _(g: Graph, weight: Value, u: Value, v: Value, *, dim: int, power_iters: int, eps: float) -> Any:
    _, left, right = _iterated(g, weight, u, v, dim, power_iters, eps)
    return g.Squeeze(left, [1]), g.Squeeze(right, [1])


# -- diagonals -----------------------------------------------------------------------------------------------
def _planes_last(ndim: int, axis1: int, axis2: int) -> list[int]:
    first, second = axis1 % ndim, axis2 % ndim
    return [*(n for n in range(ndim) if n not in (first, second)), first, second]


def _positions(g: Graph, rows: Size, columns: Size, offset: int) -> Value:
    """Where the elements of a diagonal are in a matrix that is one row after the other."""
    below, right = max(-offset, 0), max(offset, 0)
    count = computed(g, "Min", computed(g, "Sub", rows, below), computed(g, "Sub", columns, right))
    count = computed(g, "Max", count, 0)
    start = computed(g, "Add", computed(g, "Mul", columns, below), right)
    step = computed(g, "Add", columns, 1)
    if isinstance(count, int) and isinstance(start, int) and isinstance(step, int):
        return g.constant(np.arange(count) * step + start)
    return g.Add(g.Mul(numbers_below(g, count), joined(g, [step])), joined(g, [start]))


def _in_rows(g: Graph, x: Value, axis1: int, axis2: int) -> tuple[Value, Value, list[Size]]:
    """``x`` with the planes of two axes last, the same with each as one row, and its sizes."""
    order = _planes_last(x.ndim, axis1, axis2)
    moved = typed(g.transposed(x, order), [x.shape[n] for n in order], x.dtype)
    parts = sizes(g, moved)
    return moved, reshaped(g, moved, [*parts[:-2], total(g, parts[-2:])]), parts


@writes("diagonal")
def _(g: Graph, x: Value, *, offset: int, axis1: int, axis2: int) -> Value:
    _, rows, parts = _in_rows(g, x, axis1, axis2)
    return g.Gather(rows, _positions(g, parts[-2], parts[-1], offset), axis=x.ndim - 2)


@writes("fill_diagonal_tensor")
def _(g: Graph, x: Value, y: Value, *, offset: int, dim1: int, dim2: int) -> Value:
    _, rows, parts = _in_rows(g, x, dim1, dim2)
    places = g.Expand(_positions(g, parts[-2], parts[-1], offset), joined(g, sizes(g, y)))
    made = reshaped(g, g.ScatterElements(rows, places, y, axis=x.ndim - 2), parts)
    order = _planes_last(x.ndim, dim1, dim2)
    return g.transposed(made, [order.index(n) for n in range(x.ndim)])


def _embedded(g: Graph, x: Value, offset: int, filling: float) -> Value:
    """The last dimension of ``x`` on a diagonal of matrices."""
    places = numbers_below(g, size(g, x, -1))
    on = g.Equal(g.Unsqueeze(places, [1]), places)
    made = g.Where(on, g.Unsqueeze(x, [x.ndim]), g.like(filling, x))
    if not offset:
        return made
    before, after = [max(-offset, 0), max(offset, 0)], [max(offset, 0), max(-offset, 0)]
    nothing = [0] * (x.ndim - 1)
    return g.Pad(made, [*nothing, *before, *nothing, *after], g.like(filling, x))


@writes("diag_embed")
def _(g: Graph, x: Value, *, offset: int, dim1: int, dim2: int) -> Value:
    order = _planes_last(x.ndim + 1, dim1, dim2)
    return g.transposed(_embedded(g, x, offset, 0), [order.index(n) for n in range(x.ndim + 1)])


@writes("diag_v2")
def _(g: Graph, x: Value, *, offset: int, padding_value: float) -> Value:
    if x.ndim == 2:
        rows, columns = sizes(g, x)
        return g.Gather(flat(g, x), _positions(g, rows, columns, offset), axis=0)
    return _embedded(g, x if x.ndim else flat(g, x), offset, padding_value)
