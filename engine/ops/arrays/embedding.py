"""Embeddings: rows of a table by number, their gradient, and row numbers within a shard of the table."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, DTypeError, OutOfRangeError, ShapeError
from engine.core.operators.bounds import Number, Reserved, Size
from engine.core.operators.infer import require_floating, same_as_x
from engine.core.operators.opdef import op
from engine.core.values.spec import Spec


def _infer_shard(x: Spec, *, index_num: int, nshards: int, shard_id: int, **_: Any) -> Spec:
    if nshards < 1 or index_num < 1 or not 0 <= shard_id < nshards:
        raise ArgumentError(
            f"shard_index: index_num {index_num}, nshards {nshards}, shard_id {shard_id}; "
            "shard_id is 0 to nshards - 1"
        )
    return same_as_x(x)


@op("shard_index", infer=_infer_shard)
def shard_index(xp, x, *, index_num: Reserved, nshards: Reserved, shard_id: Size, ignore_value: Number = -1):
    """Numbers relative to their shard, where that is ``shard_id``; ``ignore_value`` elsewhere."""
    _infer_shard(Spec(x.shape, "int64"), index_num=index_num, nshards=nshards, shard_id=shard_id)
    size = (index_num + nshards - 1) // nshards
    if x.size and (int(x.min()) < 0 or int(x.max()) >= index_num):
        wrong = x[(x < 0) | (x >= index_num)].reshape(-1)[0]
        raise OutOfRangeError(
            f"shard_index: {int(wrong)} is out of range for index_num {index_num}; use 0 to {index_num - 1}"
        )
    return xp.where(x // size == shard_id, x % size, x.dtype.type(ignore_value))


INTEGER_ROWS = ("int8", "int16")
"""Dtypes of the rows of a quantized table."""


def _infer(ids: Spec, weight: Spec, **_: Any) -> Spec:
    if weight.ndim != 2:
        raise ShapeError(f"embedding: weight must be [rows, size]: got {weight}; reshape it")
    if weight.dtype.name not in INTEGER_ROWS:
        require_floating("embedding", weight=weight)
    if not ids.dtype.is_integer:
        raise DTypeError(f"embedding: x holds row numbers: got {ids}; cast it to int64")
    return Spec((*ids.shape, weight.shape[1]), weight.dtype)


def _fits(dtype: Any) -> bool:
    return dtype.kind in "fc" or dtype.name in INTEGER_ROWS


_SLOTS = {"ids": "Ids", "weight": "W"}


@op("lookup_table_v2", infer=_infer, slots=_SLOTS)
def lookup(xp, ids, weight, *, is_sparse=False, padding_idx: Number = -1):
    """The row of weight at each number in ids, zeros where it is padding_idx (-1: none)."""
    if weight.ndim != 2 or ids.dtype.kind not in "iu" or not _fits(weight.dtype):
        raise TypeError("wrong inputs")  # inference explains the error
    rows = weight.shape[0]
    if xp is np and ids.size and (int(ids.min()) < 0 or int(ids.max()) >= rows):
        wrong = ids[(ids < 0) | (ids >= rows)].reshape(-1)[0]
        raise OutOfRangeError(
            f"embedding: row {int(wrong)} is out of range: weight has {rows} rows; use 0 to {rows - 1}"
        )
    found = xp.take(weight, ids, axis=0)
    if xp is not np:
        return _masked(xp, found, ids, rows, padding_idx)
    if padding_idx >= 0:
        found[ids == padding_idx] = 0
    return found


def _masked(xp: Any, found: Any, ids: Any, rows: int, padding_idx: int) -> Any:
    """0 for the padding, and NaN for rows that do not exist: to count either, a GPU would be waited for."""
    if padding_idx >= 0:
        found = xp.where((ids == padding_idx)[..., None], found.dtype.type(0), found)
    if found.dtype.kind in "fc":
        found = xp.where(((ids < 0) | (ids >= rows))[..., None], found.dtype.type(np.nan), found)
    return found


@op(
    "lookup_table_v2_grad",
    infer=lambda g_in, ids, like, **_: like,
    slots={**_SLOTS, "g_in": "Out@GRAD", "out": "W@GRAD", "like": "W"},
)
def _lookup_grad(xp, g_in, ids, like, *, is_sparse=False, padding_idx: Number = -1):
    """Zeros like the table with each row of g_in added at its number."""
    result = xp.zeros(like.shape, g_in.dtype)
    flat, rows = ids.reshape(-1), g_in.reshape(-1, g_in.shape[-1])
    if padding_idx >= 0:
        valid = flat != padding_idx
        # A GPU would be waited for to count them: there nothing is added for them.
        flat, rows = (
            (flat[valid], rows[valid])
            if xp is np
            else (flat, xp.where(valid[:, None], rows, rows.dtype.type(0)))
        )
    xp.add.at(result, flat, rows)
    return result


_lookup_grad.grad(g_in=lambda g, ids, **attrs: lookup(ids, g, **attrs))


lookup.grad(weight=lambda g, ids, weight_like, **attrs: _lookup_grad(g, ids, weight_like, **attrs))
