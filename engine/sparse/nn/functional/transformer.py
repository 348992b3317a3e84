"""Attention where each query looks at some keys only."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ShapeError, UnsupportedError
from engine.eager.sparse import Sparse
from engine.ops.arrays import shape as shapes
from engine.ops.sparse import products, rows
from engine.tensor import math
from engine.tensor.logic import not_equal
from engine.tensor.sparse import parts
from engine.tensor.sparse.activations import softmax
from engine.tensor.sparse.products import flat_places
from engine.tensor.tensor_like import AnyTensor

_FORBIDDEN = 1e9


def attention(
    query: AnyTensor,
    key: AnyTensor,
    value: AnyTensor,
    sparse_mask: Sparse,
    key_padding_mask: AnyTensor | None = None,
    attn_mask: AnyTensor | None = None,
    name: str | None = None,
) -> Any:
    """Attention over [batch, heads, length, size] at the positions of a CSR mask [batch * heads, length,
    length].

    Keys count only where ``key_padding_mask`` [batch, length] and ``attn_mask`` [length, length] are not 0.
    Works on the CPU too, where Paddle 2.6 has no kernel.
    """
    parts.require_sparse("attention", sparse_mask=sparse_mask)
    if not sparse_mask.is_sparse_csr():
        raise UnsupportedError("attention: sparse_mask must be a CSR tensor; use to_sparse_csr()")
    if query.ndim != 4 or list(sparse_mask.shape) != [
        query.shape[0] * query.shape[1],
        query.shape[2],
        key.shape[2],
    ]:
        raise ShapeError(
            "attention: query must be [batch, heads, length, size] and sparse_mask [batch * heads, length, "
            f"length]: got {list(query.shape)} and {list(sparse_mask.shape)}"
        )
    heads, length, size = (int(d) for d in query.shape[1:])
    keys = int(key.shape[2])
    flat_rows, flat_columns = flat_places(sparse_mask)
    flat_query, flat_key, flat_value = (
        shapes.reshape(m, shape=[-1, int(m.shape[-1])]) for m in (query, key, value)
    )
    scores = products.sampled_matmul(math.scale(flat_query, size**-0.5), flat_key, flat_rows, flat_columns)
    matrix, row, column = (sparse_mask.coordinates()[n] for n in range(3))
    allowed = None
    if key_padding_mask is not None:
        allowed = _looked_up(key_padding_mask, math.floor_divide(matrix, heads) * keys + column, scores)
    if attn_mask is not None:
        seen = _looked_up(attn_mask, row * keys + column, scores)
        allowed = seen if allowed is None else math.multiply(allowed, seen)
    if allowed is not None:
        scores = math.add(scores, math.scale(allowed, _FORBIDDEN, -_FORBIDDEN))
    weights = softmax(sparse_mask.with_values(scores))._values
    if allowed is not None:  # a query without keys gives zeros
        weights = math.multiply(weights, allowed)
    out = products.matmul(weights, flat_rows, flat_columns, flat_value, height=int(flat_query.shape[0]))
    return shapes.reshape(out, shape=[int(query.shape[0]), heads, length, int(value.shape[-1])])


def _looked_up(mask: Any, places: Any, like: Any) -> Any:
    """1 where the mask is not 0 at places in row-major order, else 0."""
    flat = shapes.reshape(mask, shape=[-1])
    return math.cast(
        not_equal(rows.take_rows(flat, places), math.scale(rows.take_rows(flat, places), 0.0)), like.dtype
    )
