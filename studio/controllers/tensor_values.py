"""What a child process sends of a tensor, into the view that shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from widgets.tensor_view import Block, Counts, Planes, Statistics, TensorView


def show_values(tensor: TensorView, kind: str, values: Mapping[str, Any]) -> None:
    """Show a view of :mod:`engine.debugger.views`: image, histogram, statistics, or rows of a table."""
    if kind == "image":
        pixels = np.asarray(values["values"], np.float32)
        figures = {name: int(values[name]) for name in ("first", "total", "sample", "samples", "step")}
        tensor.set_planes(Planes(pixels, low=number(values["low"]), high=number(values["high"]), **figures))
    elif kind == "histogram":
        counts = tuple(int(count) for count in values["counts"])
        low, high = number(values["low"]), number(values["high"])
        tensor.set_histogram(Counts(low, high, counts, int(values["not_finite"])))
    elif kind == "statistics":
        tensor.set_statistics(_statistics(values))
    else:
        row, column = int(values["row"]), int(values["column"])
        tensor.set_block(Block(row, column, _cells(values["values"])))


def number(value: Any) -> float:
    """A number; NaN for None."""
    return float("nan") if value is None else float(value)


def _statistics(values: Mapping[str, Any]) -> Statistics:
    counts = ("count", "nan", "positive_infinite", "negative_infinite", "zero", "bytes")
    found = Statistics(**{name: int(values[name]) for name in counts})
    figures = {name: number(values[name]) for name in ("minimum", "maximum", "mean", "deviation")}
    return replace(found, **figures)


def _cells(rows: Sequence[Sequence[Any]]) -> np.ndarray[Any, Any]:
    """Numbers of a table, where NaN, infinities and complex numbers are texts."""
    cells = np.array([[_cell(each) for each in row] for row in rows])
    return cells if cells.ndim == 2 else cells.reshape(len(rows), -1)


def _cell(value: Any) -> Any:
    return (
        complex(value)
        if isinstance(value, str) and "j" in value
        else (float(value) if isinstance(value, str) else value)
    )
