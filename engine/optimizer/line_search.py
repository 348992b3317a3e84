"""A line search to a step that satisfies the strong Wolfe conditions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

DECREASE = 1e-4  # the value must fall by this share of what the slope at the start promises
CURVATURE = 0.9  # the slope must fall to this share
MOST = 25  # evaluations after the first


@dataclass(frozen=True)
class Point:
    """A step along the line: value and slope there, and the gradient of all parameters."""

    step: float
    value: float
    slope: float
    gradient: Any


def strong_wolfe(
    evaluate: Callable[[float], Point], start: Point, step: float, size: float, tolerance: float
) -> tuple[Point, int]:
    """A point that satisfies the conditions (else the best one found), and how often ``evaluate`` ran.

    ``step`` is tried first; ``size`` is the largest element of the direction: the search ends where the
    remaining interval moves no parameter by more than ``tolerance``. Nocedal and Wright, Numerical
    optimization (2006), algorithms 3.5 and 3.6, with cubic interpolation.
    """

    def high(point: Point) -> bool:
        return point.value > start.value + DECREASE * point.step * start.slope

    def flat(point: Point) -> bool:
        return abs(point.slope) <= -CURVATURE * start.slope

    before, now, count = start, evaluate(step), 1
    while not (high(now) or (count > 2 and now.value >= before.value)):
        if flat(now):
            return now, count
        if now.slope >= 0:
            break
        if count > MOST:
            return min(start, now, key=lambda point: point.value), count
        further = (now.step + 0.01 * (now.step - before.step), now.step * 10)
        before, now = now, evaluate(_cubic(before, now, *further))
        count += 1
    low, end = (before, now) if before.value <= now.value else (now, before)
    slow = False
    while count <= MOST:
        left, right = sorted((low.step, end.step))
        if (right - left) * size < tolerance:
            break
        step, slow = _inside(_cubic(low, end, left, right), left, right, slow)
        now = evaluate(step)
        count += 1
        if high(now) or now.value >= low.value:
            low, end = (now, low) if now.value < low.value else (low, now)
            continue
        if flat(now):
            return now, count
        low, end = now, (low if now.slope * (end.step - low.step) >= 0 else end)
    return low, count


def _inside(step: float, left: float, right: float, slow: bool) -> tuple[float, bool]:
    """``step`` moved away from the ends of the interval where it is near one for the second time in a row."""
    margin = 0.1 * (right - left)
    if min(right - step, step - left) >= margin:
        return step, False
    if slow or step >= right or step <= left:
        return (right - margin if abs(step - right) < abs(step - left) else left + margin), False
    return step, True


def _cubic(a: Point, b: Point, least: float, most: float) -> float:
    """The minimum of the cubic through both points, within the bounds. Formula 3.59 of the book."""
    if a.step > b.step:
        a, b = b, a
    if a.step == b.step:
        return (least + most) / 2
    first = a.slope + b.slope - 3 * (a.value - b.value) / (a.step - b.step)
    square = first * first - a.slope * b.slope
    if not square >= 0:
        return (least + most) / 2
    root = math.sqrt(square)
    below = b.slope - a.slope + 2 * root
    if below == 0:
        return (least + most) / 2
    return min(max(b.step - (b.step - a.step) * ((b.slope + root - first) / below), least), most)
