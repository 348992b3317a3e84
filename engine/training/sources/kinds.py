"""What a sample is: an image, a row of a table or a sequence, found by the shape and the type of an array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from engine.core.errors import DataError
from resources.families import DataKind
from resources.settings.data import STORED

CHANNELS = (1, 3, 4)
SHORTEST_SIDE = 8
"""Pixels of a side from which floats may be images."""
Layout: TypeAlias = Literal["grey", "first", "last", "flat", "steps", "other"]


@dataclass(frozen=True)
class SampleForm:
    """What a sample is, how it is arranged from the array's row, and why.

    ``layout``: where the channels of an image are (grey has none), flat for a row that becomes one vector,
    steps for numbers that become steps of one value, other for a row that stays as it is.
    """

    kind: DataKind
    layout: Layout
    reason: str


def sample_form(
    where: str, shape: Sequence[int], dtype: np.dtype[Any], kind: str, lengths: bool = False
) -> SampleForm:
    """What a sample of this shape is.

    Args:
        kind: ``auto``, ``stored`` or the kind that is asked for.
        lengths: whether the data says how many steps each sample has.

    Raises:
        DataError: a sample of this shape can't be of that kind; says which kinds fit.
    """
    size = " x ".join(map(str, shape)) or "1"
    if kind == STORED:
        layout = image_layout(shape)
        stored: DataKind = "images" if layout != "other" else "sequences" if len(shape) == 2 else "table"
        return SampleForm(stored, layout, "arrays of two or three dimensions are images, as stored")
    if kind == "auto":
        found, reason = _detected(where, shape, dtype, lengths)
        return SampleForm(found, _layout(found, shape), reason)
    fitting = [each for each in ("images", "table", "sequences") if _fits(each, shape)]
    if lengths:
        fitting = ["sequences"]
    if kind not in fitting:
        raise DataError(
            f"{where}: samples of {size} can't be {kind}: {_NEEDS.get(kind, 'no such kind')}; "
            f"choose kind {' or '.join(fitting)}"
        )
    chosen: DataKind = kind  # type: ignore[assignment]
    return SampleForm(chosen, _layout(chosen, shape), "chosen with the setting kind")


def form_of_input(
    where: str, shape: Sequence[int], dtype: np.dtype[Any], kind: str, lengths: bool = False
) -> SampleForm:
    """What one of several inputs is. Unlike a single input, integers other than bytes, and
    arrays of many dimensions, stay as they are, and ``stored`` is as ``auto``. Raises as ``sample_form``."""
    if kind not in ("auto", STORED):
        return sample_form(where, shape, dtype, kind, lengths)
    if (dtype.kind in "iu" and dtype != np.uint8) or len(shape) > 3:
        return SampleForm("table", "other", "one of several inputs, fed as it is stored")
    return sample_form(where, shape, dtype, "auto", lengths)


_NEEDS = {
    "images": "an image has two sides of at least 2 pixels, and may have channels",
    "table": "a row of a table has no lengths",
    "sequences": "a sequence has steps of one or several values",
}


def _detected(where: str, shape: Sequence[int], dtype: np.dtype[Any], lengths: bool) -> tuple[DataKind, str]:
    size = " x ".join(map(str, shape))
    if lengths:
        return "sequences", "the data has the lengths of its sequences"
    if len(shape) <= 1:
        return "table", f"each sample is a row of {size or 1} numbers"
    if len(shape) > 3:
        raise DataError(
            f"{where}: samples of {len(shape)} dimensions are neither images, rows of a table nor sequences: "
            f"{list(shape)}; choose kind table to feed each as one row, or stored for your own model"
        )
    if len(shape) == 3:
        return "images", f"samples of {size} are images with channels"
    low, high = min(shape), max(shape)
    if dtype == np.uint8 and low > 1:
        return "images", f"bytes of {size}"
    if low >= SHORTEST_SIDE and high <= 2 * low:
        return "images", f"{size}: both sides are at least {SHORTEST_SIDE} and alike"
    steps, values = shape
    return "sequences", f"{steps} steps of {values} value{'s' * (values != 1)}: the sides are not an image's"


def _fits(kind: str, shape: Sequence[int]) -> bool:
    if kind == "images":
        return image_layout(shape) != "other"
    return kind == "table" or 1 <= len(shape) <= 2


def _layout(kind: DataKind, shape: Sequence[int]) -> Layout:
    if kind == "images":
        return image_layout(shape)
    if kind == "table":
        return "flat"
    return "steps" if len(shape) == 1 else "other"


def image_layout(shape: Sequence[int]) -> Layout:
    """Where the channels of an image of this shape are: grey (none), first, last; other where it is none."""
    if len(shape) == 2 and min(shape) > 1:
        return "grey"
    if len(shape) != 3:
        return "other"
    return "last" if shape[2] in CHANNELS and not (shape[0] in CHANNELS and shape[0] <= shape[2]) else "first"
