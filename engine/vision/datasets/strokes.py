"""The stroke prototypes of the built-in digits, as tables that draw any number of digits at once.

Between corners a stroke is a Catmull-Rom curve through its points, so every sample on it is a fixed mixture
of four
points: the mixtures are worked out once, and hold however the points are moved.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.resources
import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

SEGMENTS = 32
"""Straight pieces that a digit is drawn with, over all its strokes."""


@dataclass(frozen=True)
class StrokeTable:
    """All prototypes, padded to common sizes. ``P`` prototypes, ``C`` control points, ``M`` samples."""

    digits: np.ndarray  # [P] which digit
    families: np.ndarray  # [P] prototypes of one digit with alike strokes share a number and can be mixed
    weights: np.ndarray  # [P]
    points: np.ndarray  # [P, C, 2] control points, the last one repeated
    ends: np.ndarray  # [P, C] 1.0 at the ends of strokes
    mix_from: np.ndarray  # [P, M, 4] which control points a sample mixes
    mix_weight: np.ndarray  # [P, M, 4]
    starts: np.ndarray  # [P, SEGMENTS] the sample at which a straight piece starts; it ends at the next one


@functools.cache
def stroke_table() -> StrokeTable:
    """The prototypes in resources/strokes/digits.json."""
    return build_table(json.loads(_text())["prototypes"])


@functools.cache
def fingerprint() -> str:
    """The SHA-256 of the prototypes' file: found without their tables, which a cached data set needs not."""
    return hashlib.sha256(_text()).hexdigest()


def _text() -> bytes:
    return importlib.resources.files("resources").joinpath("strokes", "digits.json").read_bytes()


def build_table(prototypes: list[dict[str, Any]]) -> StrokeTable:
    """Tables of ``prototypes`` (``digit``, ``weight``, ``strokes`` of points [x, y] or corners [x, y, 1])."""
    drawn = [_Drawn(prototype["strokes"]) for prototype in prototypes]
    most_points = max(len(one.points) for one in drawn)
    most_samples = max(len(one.mix_from) for one in drawn)
    families: dict[Any, int] = {}
    shapes = [
        (
            prototype["digit"],
            tuple(tuple(point[2:] for point in map(tuple, stroke)) for stroke in prototype["strokes"]),
        )
        for prototype in prototypes
    ]
    return StrokeTable(
        digits=np.array([prototype["digit"] for prototype in prototypes]),
        families=np.array([families.setdefault(shape, len(families)) for shape in shapes]),
        weights=np.array([float(prototype["weight"]) for prototype in prototypes]),
        points=np.stack([_padded(one.points, most_points) for one in drawn]),
        ends=np.stack([_padded(one.ends, most_points) for one in drawn]),
        mix_from=np.stack([_padded(one.mix_from, most_samples) for one in drawn]),
        mix_weight=np.stack([_padded(one.mix_weight, most_samples) for one in drawn]),
        starts=np.stack([one.starts for one in drawn]),
    )


class _Drawn:
    """One prototype: its control points, and the mixtures of them that are the samples on its curves."""

    def __init__(self, strokes: list[list[list[float]]]) -> None:
        self.points = np.array([point[:2] for stroke in strokes for point in stroke], np.float64)
        self.ends = np.array(
            [float(i in (0, len(stroke) - 1)) for stroke in strokes for i in range(len(stroke))], np.float64
        )
        spans_of = []
        first = 0
        for stroke in strokes:
            spans_of.append(_spans(stroke, first))
            first += len(stroke)
        lengths = [self._lengths(spans) for spans in spans_of]
        shares = _shares([math.fsum(length) for length in lengths])
        mixtures: list[list[tuple[int, float]]] = []
        starts: list[int] = []
        for spans, length, pieces in zip(spans_of, lengths, shares, strict=True):
            starts += range(len(mixtures), len(mixtures) + pieces)
            mixtures += _along(spans, length, pieces)
        self.mix_from = np.array([[point for point, _ in mixture] for mixture in mixtures])
        self.mix_weight = np.array([[weight for _, weight in mixture] for mixture in mixtures], np.float64)
        self.starts = np.array(starts)

    def _lengths(self, spans: list[tuple[int, int, int, int]]) -> list[float]:
        steps = [self.points[end] - self.points[start] for _, start, end, _ in spans]
        return [math.sqrt(float(x * x + y * y)) + 1e-9 for x, y in steps]


def _spans(stroke: list[list[float]], first: int) -> list[tuple[int, int, int, int]]:
    """For every gap: the points before, at its ends and after it; at an end or corner one repeats."""
    last = len(stroke) - 1
    spans = []
    for i in range(last):
        before = i - 1 if i > 0 and len(stroke[i]) < 3 else i
        after = i + 2 if i + 1 < last and len(stroke[i + 1]) < 3 else i + 1
        spans.append((first + before, first + i, first + i + 1, first + after))
    return spans


def _shares(lengths: list[float]) -> list[int]:
    """``SEGMENTS`` divided in proportion to the strokes' lengths, at least two each."""
    total = math.fsum(lengths)  # exact, so the same with every Python
    shares = [max(2, round(SEGMENTS * length / total)) for length in lengths]
    shares[int(np.argmax(shares))] += SEGMENTS - sum(shares)
    return shares


def _along(
    spans: list[tuple[int, int, int, int]], lengths: list[float], pieces: int
) -> list[list[tuple[int, float]]]:
    """``pieces + 1`` mixtures at even steps along a stroke."""
    reached = np.concatenate([[0.0], np.cumsum(lengths)])
    mixtures = []
    for step in range(pieces + 1):
        position = reached[-1] * step / pieces
        which = min(int(np.searchsorted(reached, position, side="right")) - 1, len(spans) - 1)
        mixtures.append(_mixture(spans[which], (position - reached[which]) / lengths[which]))
    return mixtures


def _mixture(span: tuple[int, int, int, int], t: float) -> list[tuple[int, float]]:
    """The Catmull-Rom weights of the four points of a span at ``t`` from 0 to 1."""
    before, start, end, after = span
    weights = [
        -0.5 * t + t * t - 0.5 * t * t * t,
        1.0 - 2.5 * t * t + 1.5 * t * t * t,
        0.5 * t + 2.0 * t * t - 1.5 * t * t * t,
        -0.5 * t * t + 0.5 * t * t * t,
    ]
    if before == start:  # the point that mirrors the end at the start
        weights = [0.0, weights[1] + 2.0 * weights[0], weights[2] - weights[0], weights[3]]
    if after == end:
        weights = [weights[0], weights[1] - weights[3], weights[2] + 2.0 * weights[3], 0.0]
    return list(zip(span, weights, strict=True))


def _padded(values: np.ndarray, length: int) -> np.ndarray:
    return np.concatenate([values, np.repeat(values[-1:], length - len(values), axis=0)])
