"""Sizes, strides and paddings of sliding windows, as convolution and pooling take them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from engine.core.errors import ArgumentError, ShapeError
from engine.core.operators.windows import AXES
from engine.tensor.tensor_like import AnyTensor, ShapeLike

# An integer that is not a bool.
Whole: TypeAlias = int | np.integer[Any]
# One integer, or one for each dimension of the image.
Sizes: TypeAlias = Whole | Sequence[Whole]
# Sizes, one before and one after each, a pair for each dimension of the tensor, 'SAME' or 'VALID'.
Padding: TypeAlias = Sizes | Sequence[Sequence[Whole]] | str
# Several integers: a list, in which tensors of one are too, an array, or one tensor of all.
Integers: TypeAlias = ShapeLike | np.ndarray[Any, Any]


def whole(value: object) -> bool:
    """True for an integer that is not a bool."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def sizes(where: str, name: str, value: Sizes, rank: int, least: int = 1) -> list[int]:
    """``value`` as ``rank`` integers. Raises ArgumentError for anything else, or below ``least``."""
    items: list[Any] = list(value) if isinstance(value, (list, tuple)) else [value] * rank
    if len(items) != rank or not all(map(whole, items)):
        raise ArgumentError(
            f"{where}: {name} is an integer or {rank} of them ({', '.join(AXES[rank])}): got {value!r}; "
            f"pass e.g. 2 or {(2,) * rank}"
        )
    if min(items) < least:
        raise ArgumentError(f"{where}: {name} must be {least} or more: got {value!r}")
    _require_int64(where, name, items)
    return [int(v) for v in items]


def _require_int64(where: str, name: str, items: list[Any]) -> None:
    if max(items) >= 1 << 63:
        raise ArgumentError(f"{where}: {name} must be below 2**63: got {max(items)}")


def padding_of(where: str, padding: Padding, channel_last: bool, rank: int) -> tuple[list[int], str]:
    """The ``paddings`` and ``padding_algorithm`` attributes for every form that ``padding`` may have.

    ``'SAME'`` or ``'VALID'``; one number; one for each dimension of the image; one before and one after each
    ([top, bottom, left, right]); or a pair for each dimension of the tensor, those of batch and channel being
    zero. Raises ArgumentError for another form.
    """
    if isinstance(padding, str):
        algorithm = padding.upper()
        if algorithm not in ("SAME", "VALID"):
            raise ArgumentError(f"{where}: padding {padding!r} is not one of 'SAME', 'VALID' or numbers")
        return [0] * rank, algorithm
    items: Any = [padding] * rank if isinstance(padding, (int, np.integer)) else padding
    if isinstance(items, (list, tuple)) and len(items) == rank + 2 and isinstance(items[0], (list, tuple)):
        items = _spatial(where, items, channel_last)
    numbers = list(items) if isinstance(items, (list, tuple)) else []
    if len(numbers) not in (rank, 2 * rank) or not all(map(whole, numbers)):
        raise ArgumentError(
            f"{where}: padding {padding!r} has no known form; pass a number, {rank} of them "
            f"({', '.join(AXES[rank])}), {2 * rank} (before and after each), a pair for each of the "
            f"{rank + 2} dimensions, 'SAME' or 'VALID'"
        )
    if min(numbers) < 0:
        raise ArgumentError(f"{where}: padding must not be negative: got {padding!r}")
    _require_int64(where, "padding", numbers)
    if len(numbers) == 2 * rank and numbers[0::2] == numbers[1::2]:
        numbers = numbers[0::2]
    return [int(v) for v in numbers], "EXPLICIT"


def _spatial(where: str, pairs: Any, channel_last: bool) -> list[Any]:
    """The pairs of the image's dimensions out of those of all."""
    if any(not isinstance(p, (list, tuple)) or len(p) != 2 for p in pairs):
        raise ArgumentError(f"{where}: padding by dimension is {len(pairs)} pairs: got {pairs!r}")
    batch, channel = pairs[0], pairs[-1 if channel_last else 1]
    if any((*batch, *channel)):
        raise ArgumentError(
            f"{where}: batch and channel can't be padded: got {pairs!r}; make their pairs (0, 0)"
        )
    return [v for pair in (pairs[1:-1] if channel_last else pairs[2:]) for v in pair]


def is_last(where: str, data_format: str, first: str, last: str) -> bool:
    """True for ``last``, False for ``first``. Raises ArgumentError for another data_format."""
    if data_format == first:
        return False
    if data_format != last:
        raise ArgumentError(f"{where}: data_format {data_format!r} is not one of {first!r}, {last!r}")
    return True


def require_rank(where: str, x: AnyTensor, ndim: int, dims: str, name: str = "x") -> None:
    """Raises ShapeError where ``x`` does not have ``ndim`` dimensions, called ``dims``."""
    if x.ndim != ndim:
        raise ShapeError(
            f"{where}: {name} has shape {list(x.shape)}: it needs {ndim} dimensions, {dims}; "
            "reshape or unsqueeze it"
        )
