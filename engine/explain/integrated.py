"""Integrated gradients: gradients along the way from a baseline to the sample.

Source: Sundararajan, Taly, Yan, "Axiomatic Attribution for Deep Networks", 2017.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from engine.core.errors import ArgumentError, CancelledError
from engine.explain.answers import Array, Progress
from engine.explain.sample import Sample, require_finite

MOST_STEPS = 10_000


def integrate(
    sample: Sample,
    baseline: float | Array,
    steps: int,
    progress: Progress,
    cancelled: Callable[[], bool],
) -> tuple[Array, float]:
    """The share of each value in the difference between the score and that of ``baseline``, as float64; and
    that difference.

    The integral is a sum over ``steps`` places of Gauss and Legendre. Raises CancelledError.
    """
    if not 1 <= steps <= MOST_STEPS:
        raise ArgumentError(f"explain: steps must be from 1 to {MOST_STEPS}: got {steps}; give e.g. 32")
    value = sample.value
    begin = filled(baseline, sample, "baseline")
    require_finite(begin, "the baseline")
    way = value.astype(np.float64) - begin
    places, weights = _places(steps)
    # The ends are the last two: their gradients don't count.
    shares, counts = np.append(places, (0.0, 1.0)), np.append(weights, (0.0, 0.0))
    total, scores = np.zeros(value.shape), np.zeros(len(shares))
    done, most = 0, sample.together
    while done < len(shares):
        if cancelled():
            raise CancelledError("explain: integrated gradients were cancelled")
        part = slice(done, min(done + most, len(shares)))
        form = (-1, *[1] * value.ndim)
        variants = (begin + shares[part].reshape(form) * way).astype(value.dtype)
        if part.stop == len(shares):
            variants[-1] = value
        found, gradients = sample.gradients(variants)
        require_finite(gradients, "the gradient")
        scores[part] = found
        total += np.tensordot(counts[part], gradients.astype(np.float64), axes=1)
        done = part.stop
        progress(done / len(shares), None)
    return total * way, float(scores[-1] - scores[-2])


def filled(given: float | Array, sample: Sample, what: str) -> Array:
    """A number or an array as float64 of the shape of the sample's input. Raises ArgumentError."""
    array = np.asarray(given, np.float64)
    shape = sample.value.shape
    if sample.batch and array.ndim == len(shape) + 1:
        array = array[0]
    try:
        return np.broadcast_to(array, shape)
    except ValueError:
        raise ArgumentError(
            f"explain: the {what} has shape {list(np.shape(given))}: the input has {list(shape)}; give a "
            "number or an array of that shape"
        ) from None


@lru_cache(64)
def _places(steps: int) -> tuple[Array, Array]:
    """The places in 0 to 1 and the weights of each."""
    if steps > 500:  # finding them takes as long as the gradients do
        return (np.arange(steps) + 0.5) / steps, np.full(steps, 1.0 / steps)
    places, weights = np.polynomial.legendre.leggauss(steps)
    return (places + 1.0) / 2.0, weights / 2.0
