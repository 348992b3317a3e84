"""Masks from lengths and from sparse layouts."""

from __future__ import annotations

import numpy as np

from engine.core.errors import ArgumentError, OutOfRangeError, ShapeError
from engine.core.operators.bounds import Size
from engine.core.operators.infer import require_integers
from engine.core.operators.opdef import op
from engine.core.values.dtype import as_dtype, bool_
from engine.core.values.spec import Spec


def _infer_mask(x: Spec, most: Spec | None = None, *, maxlen: int = -1, out_dtype: str = "int64") -> Spec:
    require_integers("sequence_mask", maxlen=most)
    return Spec((*x.shape, maxlen if most is None and maxlen > 0 else -1), out_dtype)


@op("sequence_mask", infer=_infer_mask, slots={"most": "MaxLenTensor", "out": "Y"})
def sequence_mask(xp, x, most=None, *, maxlen: Size = -1, out_dtype="int64"):
    """1 at the positions below each length, along a new last dimension of maxlen (or the largest length)."""
    size = int(most.reshape(-1)[0]) if most is not None else maxlen
    if size < 0:
        size = int(x.max()) if x.size else 0
    return (xp.arange(size) < x[..., None]).astype(as_dtype(out_dtype).np)


def _infer_sparse(offset: Spec, columns: Spec, like: Spec) -> Spec:
    require_integers("sparse_attention", sparse_csr_offset=offset, sparse_csr_columns=columns)
    if offset.ndim != 3 or columns.ndim != 3:
        raise ShapeError(
            f"sparse_attention: offsets are [batch, heads, length + 1], columns [batch, heads, elements]: "
            f"got {offset} and {columns}"
        )
    return like.with_dtype(bool_)


@op("csr_mask", infer=_infer_sparse)
def csr_mask(xp, offset, columns, like):
    """True at the elements of a sparse layout by rows, in the shape of like [batch, heads, rows, columns]."""
    batch, heads, rows, width = like.shape
    starts, places = (a if xp is np else xp.asnumpy(a) for a in (offset, columns))
    if starts.shape != (batch, heads, rows + 1) or places.shape[:2] != (batch, heads):
        raise ShapeError(
            f"sparse_attention: for scores {list(like.shape)} offsets must be {[batch, heads, rows + 1]} and "
            f"columns [{batch}, {heads}, elements]: got {list(starts.shape)} and {list(places.shape)}"
        )
    counts = np.diff(starts, axis=-1)
    if starts.size and ((starts[..., 0] != 0).any() or (counts < 0).any() or starts.max() > places.shape[2]):
        raise ArgumentError(
            "sparse_attention: sparse_csr_offset must begin at 0, never fall, and end within the columns"
        )
    mask = np.zeros(like.shape, bool)
    for b, h in np.ndindex(batch, heads):
        used = places[b, h, : starts[b, h, -1]]
        if used.size and (used.min() < 0 or used.max() >= width):
            wrong = used[(used < 0) | (used >= width)][0]
            raise OutOfRangeError(f"sparse_attention: column {int(wrong)} is out of range: there are {width}")
        mask[b, h, np.repeat(np.arange(rows), counts[b, h]), used] = True
    return xp.asarray(mask)
