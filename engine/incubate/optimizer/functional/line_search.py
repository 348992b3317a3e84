"""A line search for functions of one tensor, with the strong Wolfe conditions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

DECREASE = 1e-4  # the value must fall by this share of what the slope at the start promises
CURVATURE = 0.9  # the slope must fall to this share
NARROW = 1e-8  # an interval of this width is not divided further
FURTHEST = 10.0

_Array = np.ndarray[Any, Any]


@dataclass
class Point:
    """A step along the line: the value there, the gradient, and the slope along the line."""

    step: Any
    value: Any
    gradient: Any
    slope: Any


def _cubic(a: Point, b: Point) -> Any:
    """Where the cubic through both points with their slopes is least, within them."""
    low, high = (a.step, b.step) if a.step <= b.step else (b.step, a.step)
    d1 = a.slope + b.slope - 3 * (a.value - b.value) / (a.step - b.step)
    square = d1**2 - a.slope * b.slope
    if not square >= 0:
        return (low + high) / 2
    d2 = np.sqrt(square)
    if a.step <= b.step:
        found = b.step - (b.step - a.step) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2))
    else:
        found = a.step - (a.step - b.step) * ((a.slope + d2 - d1) / (a.slope - b.slope + 2 * d2))
    return np.minimum(np.maximum(found, low), high)


def strong_wolfe(
    evaluate: Callable[[Any], tuple[Any, Any]], xk: _Array, pk: _Array, most: int, first: float
) -> tuple[Point, int]:
    """A step from ``xk`` along ``pk``, and how many evaluations are counted; 0 where none is found.

    Nocedal and Wright, Numerical optimization (2006), algorithms 3.5 and 3.6. As in Paddle, an evaluation
    that ends a division of an interval is not counted, and the slope of the lower end is that at 0.
    """
    number = xk.dtype.type

    def at(step: Any) -> Point:
        value, gradient = evaluate(xk + step * pk)
        return Point(step, value, gradient, np.dot(gradient, pk))

    start = at(number(0))
    before, now, count = start, at(number(first)), 1

    def too_high(point: Point) -> bool:
        return bool(point.value > start.value + number(DECREASE) * point.step * start.slope)

    def flat(point: Point) -> bool:
        return bool(abs(point.slope) <= -number(CURVATURE) * start.slope)

    def zoom(low: Point, high: Point) -> tuple[Point, int]:
        divided = 0
        while divided < most and not abs(high.step - low.step) < NARROW:
            step = _cubic(low, high)
            if min(abs(step - low.step), abs(step - high.step)) < number(0.1) * abs(high.step - low.step):
                step = number(0.5) * (low.step + high.step)
            point = at(step)
            if too_high(point) or point.value >= low.value:
                high = point
            elif flat(point):
                return point, divided
            else:
                if point.slope * (high.step - low.step) >= 0:
                    high = low
                low = point
            divided += 1
        return low, divided

    for n in range(most):
        if n:
            now = at(min(2 * now.step, number(FURTHEST)))
        count += 1
        if np.isinf(now.value):
            break
        low = Point(before.step, before.value, before.gradient, start.slope)
        if too_high(now) or (now.value >= before.value and n > 1):
            found, more = zoom(low, now)
            return found, count + more
        if flat(now):
            return now, count
        if now.slope >= 0:
            found, more = zoom(now, low)
            return found, count + more
        before = now
    return Point(number(0), start.value, start.gradient, start.slope), count
