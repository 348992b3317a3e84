"""Occlusion: how far the score drops where a part of the sample is covered.

Source: Zeiler and Fergus, "Visualizing and Understanding Convolutional Networks", 2014.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np

from engine.core.errors import ArgumentError, CancelledError
from engine.explain.answers import Array, Progress
from engine.explain.integrated import filled
from engine.explain.sample import Sample

_CHANNELS = (1, 3, 4)
MOST_PLACES = 100_000


def axes_of(value: Array) -> tuple[int, ...]:
    """The axes of a sample that are covered: rows and columns of an image (channels first or last), the steps
    of a sequence, the values of a row."""
    if value.ndim >= 3:
        last = value.shape[-1] in _CHANNELS and value.shape[-3] not in _CHANNELS
        return (value.ndim - 3, value.ndim - 2) if last else (value.ndim - 2, value.ndim - 1)
    if value.ndim == 2:
        # An image without channels, else steps of several values.
        return (0, 1) if value.shape[0] == value.shape[1] else (0,)
    return (0,) if value.ndim else ()


def usual_size(side: int) -> int:
    """A window's side: a fifth, of short rows one value."""
    return 1 if side < 10 else max(1, round(side / 5))


def usual_step(size: int) -> int:
    """The distance between windows: a third of their side."""
    return max(1, size // 3)


def places_along(side: int, size: int, step: int) -> list[int]:
    """Where windows begin along an axis: they reach its end."""
    return sorted({min(place, side - size) for place in range(0, side - size + step, step)})


def occlude(
    sample: Sample,
    size: int | Sequence[int] | None,
    step: int | Sequence[int] | None,
    color: float | Array,
    axes: Sequence[int] | None,
    form: Sequence[int] | None,
    progress: Progress,
    cancelled: Callable[[], bool],
) -> tuple[Array, float, list[int], list[int]]:
    """The mean drop of the score over the windows that cover each value, NaN where none did; the share of the
    windows that were computed, their sides and the steps between them."""
    value = _formed(sample.value, form)
    along = list(axes_of(value) if axes is None else axes)
    if not along or any(not -value.ndim <= axis < value.ndim for axis in along):
        raise ArgumentError(
            f"explain: a sample of shape {list(value.shape)} can't be covered along {along}; give axes of it"
        )
    along = [axis % value.ndim for axis in along]
    sides = [value.shape[axis] for axis in along]
    sizes = _each(size, [usual_size(side) for side in sides], "size", sides)
    steps = _each(step, [usual_step(each) for each in sizes], "step", None)
    corners = list(
        itertools.product(*(places_along(*each) for each in zip(sides, sizes, steps, strict=True)))
    )
    if len(corners) > MOST_PLACES:
        raise ArgumentError(
            f"explain: {len(corners)} windows are more than {MOST_PLACES}; give a larger step"
        )
    fill = filled(color, sample, "color").astype(value.dtype).reshape(value.shape)
    drops, counts = np.zeros(sides), np.zeros(sides, np.int64)
    done, most = 0, sample.together

    def spread() -> Array:
        return _spread(drops, counts, along, value.shape).reshape(sample.value.shape)

    while done < len(corners) and not cancelled():
        part = corners[done : done + most]
        variants = np.repeat(value[None], len(part), axis=0)
        windows = [
            tuple(slice(begin, begin + each) for begin, each in zip(corner, sizes, strict=True))
            for corner in part
        ]
        for variant, window in zip(variants, windows, strict=True):
            where: list[slice] = [slice(None)] * value.ndim
            for axis, each in zip(along, window, strict=True):
                where[axis] = each
            variant[tuple(where)] = fill[tuple(where)]
        try:
            scores = sample.scores(variants.reshape(-1, *sample.value.shape))
        except CancelledError:  # the model's process was ended: what was found before stays
            if not done:
                raise
            break
        for window, score in zip(windows, scores, strict=True):
            drops[window] += sample.score - score
            counts[window] += 1
        done += len(part)
        progress(done / len(corners), sample.placed(spread()))
    return spread(), done / len(corners), sizes, steps


def _formed(value: Array, form: Sequence[int] | None) -> Array:
    """The sample in the shape in which it is covered. Raises ArgumentError for one of another size."""
    if form is None:
        return value
    if math.prod(form) != value.size:
        raise ArgumentError(
            f"explain: a sample of shape {list(value.shape)} has no form {list(form)}; give sizes with "
            "the same product"
        )
    return value.reshape(tuple(form))


def _each(
    given: int | Sequence[int] | None, usual: list[int], what: str, most: list[int] | None
) -> list[int]:
    """A number for each axis. Raises ArgumentError for one that is not above 0."""
    if given is None:
        return usual
    found = [given] * len(usual) if isinstance(given, int) else [int(each) for each in given]
    if len(found) != len(usual) or any(each < 1 for each in found):
        raise ArgumentError(
            f"explain: {what} must be a number above 0, or {len(usual)} of them: got {given}; give e.g. "
            f"{usual[0]}"
        )
    return found if most is None else [min(pair) for pair in zip(found, most, strict=True)]


def _spread(drops: Array, counts: Array, along: list[int], shape: tuple[int, ...]) -> Array:
    """The means as float32 of the sample's shape."""
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(counts > 0, drops / counts, np.nan).astype(np.float32)
    ordered = np.argsort(along)
    means = means.transpose(ordered)
    form = [shape[axis] if axis in along else 1 for axis in range(len(shape))]
    return np.ascontiguousarray(np.broadcast_to(means.reshape(form), shape))
