"""Samples as people know them: images, the curves of sequences, the named values of a table's rows."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from engine.training.sources.preparing.prepared import Prepared
from engine.training.sources.spec import Column, DataSpec

ShownSamples: TypeAlias = "NDArray[np.uint8] | NDArray[np.float32] | list[list[list[str]]]"
"""One of three: images as ``display_images`` gives them; sequences, float32 [n, steps, values] with NaN for
padding; or for each row of a table the name and the text of each column, the most unusual value first."""
MOST_STEPS = 256
MOST_CURVES = 8
MOST_COLUMNS = 30
_SAMPLED = 2000
"""So many rows say what is usual in a column."""
_EPOCH = datetime.date(1970, 1, 1)


def shown_samples(data: Prepared, places: Sequence[int], spec: DataSpec | None = None) -> ShownSamples:
    """The samples at these places of ``data``.

    Args:
        spec: of the data; images without one.

    Raises:
        DataError: a sample can't be read.
    """
    if spec is None or data.prepare.is_image or spec.kind == "images":
        return display_images(data, places)
    values = np.asarray(data.rows.read(data.chosen[np.asarray(places, np.int64)]), np.float32)
    if spec.kind == "sequences" and values.ndim == 3:
        return _curves(values, spec.masked)
    if values.ndim != 2:
        return display_images(data, places)
    usual = np.asarray(data.rows.read(data.chosen[:_SAMPLED]), np.float32)
    columns = spec.inputs
    if len(columns) != values.shape[1]:
        columns = tuple(Column(str(place), "input", "number") for place in range(values.shape[1]))
    return _rows(values, usual, columns)


def _curves(values: NDArray[np.float32], masked: bool) -> NDArray[np.float32]:
    """Some of the steps where there are too many, evenly spaced, and the first of many values."""
    if masked:
        values = np.where(values[..., -1:] > 0, values[..., :-1], np.float32(np.nan))
    steps = values.shape[1]
    if steps > MOST_STEPS:
        values = values[:, np.linspace(0, steps - 1, MOST_STEPS).round().astype(np.int64)]
    return np.ascontiguousarray(values[..., :MOST_CURVES], np.float32)


def _rows(
    values: NDArray[np.float32], usual: NDArray[np.float32], columns: Sequence[Column]
) -> list[list[list[str]]]:
    unusual = np.stack(
        [_deviations(values[:, at], usual[:, at], bool(each.words)) for at, each in enumerate(columns)],
        axis=1,
    )
    order = np.argsort(-unusual, axis=1, kind="stable")[:, :MOST_COLUMNS]
    return [
        [[columns[at].name, _text(float(row[at]), columns[at])] for at in chosen]
        for row, chosen in zip(values, order.tolist(), strict=True)
    ]


def _deviations(values: NDArray[Any], usual: NDArray[Any], is_words: bool) -> NDArray[np.float64]:
    """How many standard deviations each value is from the mean; a word counts as an indicator of itself."""
    if is_words:
        shares = np.asarray([np.mean(usual == value) for value in values], np.float64)
        shares = np.maximum(shares, 1 / (len(usual) + 1))
        return np.sqrt((1 - shares) / shares)
    known = usual[np.isfinite(usual)].astype(np.float64)
    if not known.size:
        return np.zeros(len(values))
    off = np.abs(np.nan_to_num(values.astype(np.float64), nan=float(known.mean())) - known.mean())
    return np.asarray(off / (known.std() or 1.0), np.float64)


def _text(value: float, column: Column) -> str:
    if value != value:
        return "\u2013"
    if column.words:
        return column.words[int(value) - 1] if 0 < value <= len(column.words) else "\u2013"
    if column.type == "date":
        try:
            return (_EPOCH + datetime.timedelta(days=value)).isoformat()
        except OverflowError:
            return f"{value:.6g}"
    return f"{value:.6g}"


def display_images(data: Prepared, places: Sequence[int]) -> NDArray[np.uint8]:
    """The samples at these places as images that people know: without what normalises them.

    The result is [count, height, width, 3] for three channels, else [count, height, width] of the first one;
    a vector is one line, from its least to its largest value.

    Raises:
        DataError: a sample can't be read.
    """
    values = data.prepare.scaled(data.rows.read_resized(data.chosen[np.asarray(places, np.int64)]))
    return image_bytes(values if data.prepare.is_image else _stretched(values))


def image_bytes(values: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Images from 0 to 1, [count, channels, height, width] or flatter, as uint8; shapes as above."""
    if values.ndim == 4:
        values = values.transpose(0, 2, 3, 1) if values.shape[1] == 3 else values[:, 0]
    elif values.ndim != 3:
        values = values.reshape(len(values), 1, -1)
    return np.asarray(np.clip(np.rint(values * 255.0), 0, 255), np.uint8)


def _stretched(values: NDArray[np.float32]) -> NDArray[np.float32]:
    flat = values.reshape(len(values), -1)
    low, high = flat.min(axis=1, keepdims=True), flat.max(axis=1, keepdims=True)
    return np.asarray((flat - low) / np.maximum(high - low, np.float32(1e-12)), np.float32)
