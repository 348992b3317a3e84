"""How an input is covered and what it is compared with: windows of occlusion, fillings of values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from studio.session.predict.model_input import ModelInput

# What covers values, and what a sample is compared with.
FILLS = ("zero", "mean", "white")


@dataclass(frozen=True)
class Covering:
    """The shape in which a sample is covered, the axes that windows move along, and their side and step where
    usual ones don't suit; as :meth:`engine.explain.Subject.occlusion` takes them."""

    form: Sequence[int] | None = None
    axes: Sequence[int] | None = None
    size: int | None = None
    step: int | None = None


def covering_of(asked: ModelInput) -> Covering:
    """How values of this input are covered: squares of an image, single columns of a table."""
    if asked.form in ("digit", "picture"):
        if asked.layout == "HW":
            flat = len(asked.shape) != 2
            return Covering((asked.height, asked.width) if flat else None, (0, 1))
        return Covering(None, (1, 2) if asked.layout == "CHW" else (0, 1))
    if asked.form == "table" or (asked.raw is not None and asked.raw.is_table):
        return Covering((math.prod(asked.shape),), (0,), 1, 1)
    return Covering(None, (0,))


def usual_baseline(asked: ModelInput) -> str:
    """What a sample is compared with unless another fill is chosen: zero says little of a year, and black is
    an image without information."""
    return "mean" if asked.raw is not None and asked.raw.is_table else "zero"


def fill_used(asked: ModelInput, fill: str) -> str:
    """What ``filled`` takes for a fill: mean of a table is ``usual``, the values for missing numbers, where
    only they are known, and zero where neither is."""
    if asked.form in ("digit", "picture"):
        return fill
    if fill != "mean" or asked.raw is None or not asked.raw.is_table:
        return "zero"
    return "mean" if asked.raw.means else "usual" if any(asked.raw.fills) else "zero"


def fill_words(asked: ModelInput, fill: str) -> str:
    """A fill that was used, for the command line."""
    if asked.form in ("digit", "picture"):
        return "the mean of the image" if fill == "mean" else fill
    return {
        "mean": "the mean of each column in the training",
        "usual": "the values that the training put for missing numbers",
    }.get(fill, fill)


def filled(asked: ModelInput, values: NDArray[Any], fill: str) -> NDArray[Any]:
    """Values of a person without information: zeros (black), white, or the mean, that of the image or of the
    columns in the training."""
    found = np.zeros_like(values)
    if asked.form in ("digit", "picture"):
        return np.asarray(found + {"mean": values.mean(), "white": 1.0}.get(fill, 0.0), found.dtype)
    used = fill_used(asked, fill)
    if asked.raw is None or used == "zero":
        return found
    known = asked.raw.means if used == "mean" else asked.raw.fills
    return np.asarray(known, found.dtype).reshape(found.shape)
