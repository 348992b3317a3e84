"""How an open size depends on the batch: N, 16N where a reshape joined it with others, or unknown."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from studio.session.graph.diagram.operators import ProgramIndex

_RESHAPES = frozenset(("reshape2", "flatten_contiguous_range", "reshape", "flatten", "flatten2"))
# The size of their results depends on values.
_BY_VALUES = frozenset(
    (
        *("range", "linspace", "randint", "randperm", "bincount", "nms", "multiclass_nms3"),
        *("unique", "unique_consecutive", "where_index", "masked_select"),
        *("repeat_interleave", "repeat_interleave_with_tensor_index"),
    )
)
_JOINED = "concat"

BATCH, UNKNOWN = Fraction(1), Fraction(0)


def batches(index: ProgramIndex) -> dict[int, Fraction]:
    """For values with one open size how many times the batch it is, where that is not 1; or UNKNOWN."""
    causes = _RESHAPES | _BY_VALUES | {_JOINED}
    if not index.batch_is_open or causes.isdisjoint(index.types):
        return {}
    arriving: dict[int, list[int]] = {}
    for value, target in zip(index.flowing.tolist(), index.targets.tolist(), strict=True):
        arriving.setdefault(target, []).append(value)
    found: dict[int, Fraction] = {}
    for value, maker in enumerate(index.makers):
        if not isinstance(maker, int) or maker >= len(index.types):
            continue
        taken = arriving.get(maker, ())
        if index.types[maker] not in causes and found.keys().isdisjoint(taken):
            continue
        shape = index.value(value).shape
        if shape is not None and _open(shape) == 1:
            share = _share(index, maker, shape, taken, found)
            if share != BATCH:
                found[value] = share
    return found


def _share(
    index: ProgramIndex, maker: int, shape: Sequence[int], taken: Sequence[int], found: Mapping[int, Fraction]
) -> Fraction:
    """How many times the batch the open size of a result is."""
    kind = index.types[maker]
    if kind in _BY_VALUES or (kind == _JOINED and _axis(index, maker, shape) == _first_open(shape)):
        return UNKNOWN
    shares = set()
    for value in taken:
        other = index.value(value).shape
        if other is None or not _open(other):
            continue
        share = found.get(value, BATCH) if _open(other) == 1 else UNKNOWN
        if kind in _RESHAPES:
            known = _known(shape)
            return share * Fraction(_known(other), known) if known else UNKNOWN
        shares.add(share)
    return shares.pop() if len(shares) == 1 else UNKNOWN


def _axis(index: ProgramIndex, maker: int, shape: Sequence[int]) -> int:
    axis = index.operators[maker]["attrs"].get("axis", 0)
    return axis % len(shape) if isinstance(axis, int) else 0


def _first_open(shape: Sequence[int]) -> int:
    return next(n for n, size in enumerate(shape) if size < 0)


def _open(shape: Sequence[int]) -> int:
    return sum(size < 0 for size in shape)


def _known(shape: Sequence[int]) -> int:
    return math.prod(size for size in shape if size >= 0)
