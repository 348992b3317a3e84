"""Sizes, strides and paddings of sliding windows, as convolution and pooling take them."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.errors import ArgumentError


def pair(where: str, name: str, value: Any, least: int = 1) -> list[int]:
    """``value`` as two whole numbers. Raises ArgumentError for anything else, or below ``least``."""
    items = list(value) if isinstance(value, (list, tuple)) else [value, value]
    if len(items) != 2 or any(isinstance(v, bool) or not isinstance(v, (int, np.integer)) for v in items):
        raise ArgumentError(
            f"{where}: {name} is a whole number or two of them: got {value!r}; pass e.g. 2 or (2, 2)"
        )
    if min(items) < least:
        raise ArgumentError(f"{where}: {name} must be {least} or more: got {value!r}")
    return [int(v) for v in items]


def padding_of(where: str, padding: Any, channel_last: bool) -> tuple[list[int], str]:
    """The ``paddings`` and ``padding_algorithm`` attributes for every form that ``padding`` may have.

    ``'SAME'`` or ``'VALID'``; one number; ``[height, width]``; ``[top, bottom, left, right]``; or a pair for
    each of the four dimensions, those of batch and channel being zero. Raises ArgumentError for another form.
    """
    if isinstance(padding, str):
        algorithm = padding.upper()
        if algorithm not in ("SAME", "VALID"):
            raise ArgumentError(f"{where}: padding {padding!r} is none of 'SAME', 'VALID' or numbers")
        return [0, 0], algorithm
    items = [padding, padding] if isinstance(padding, (int, np.integer)) else padding
    if isinstance(items, (list, tuple)) and len(items) == 4 and isinstance(items[0], (list, tuple)):
        items = _spatial(where, items, channel_last)
    numbers = list(items) if isinstance(items, (list, tuple)) else []
    if len(numbers) not in (2, 4) or any(
        not isinstance(v, (int, np.integer)) or isinstance(v, bool) for v in numbers
    ):
        raise ArgumentError(
            f"{where}: padding {padding!r} has no known form; pass a number, [height, width], "
            "[top, bottom, left, right], a pair for each dimension, 'SAME' or 'VALID'"
        )
    if min(numbers) < 0:
        raise ArgumentError(f"{where}: padding must not be negative: got {padding!r}")
    if len(numbers) == 4 and numbers[0] == numbers[1] and numbers[2] == numbers[3]:
        numbers = numbers[0::2]
    return [int(v) for v in numbers], "EXPLICIT"


def _spatial(where: str, pairs: Any, channel_last: bool) -> list[Any]:
    """The pairs of height and width out of those of all dimensions."""
    if any(not isinstance(p, (list, tuple)) or len(p) != 2 for p in pairs):
        raise ArgumentError(f"{where}: padding by dimension is four pairs: got {pairs!r}")
    batch, channel = pairs[0], pairs[3 if channel_last else 1]
    if any((*batch, *channel)):
        raise ArgumentError(
            f"{where}: batch and channel can't be padded: got {pairs!r}; make their pairs (0, 0)"
        )
    height, width = pairs[1:3] if channel_last else pairs[2:4]
    return [*height, *width]
