"""Bias correction: quantized weights get the mean and the standard deviation of the weights back.

After R. Banner, Y. Nahshan, D. Soudry, "Post training 4-bit quantization of convolutional networks for
rapid-deployment" (2019, arXiv:1810.05723), channel by channel. Paddle shifts and stretches the integers and
cuts off what comes after the point, which undoes most of it. Here the deviation is corrected by the
threshold, the mean by rounding some values the other way, those nearest to it first.
"""

from __future__ import annotations

import numpy as np

from engine.quantization.calibration.calibrator import Values, levels
from engine.quantization.calibration.weights import by_channel

ROUNDS = 8  # a changed mean changes the deviation a little, and the other way round


def bias_correction(
    weight: Values, integers: Values, thresholds: Values, axis: int | None, bits: int = 8
) -> tuple[Values, Values]:
    """The corrected integers and thresholds of a quantized weight, of the shapes and dtypes that they had.

    `weight` is what `integers`, of the same shape, were rounded from with `thresholds`, of shape (channels,)
    along `axis`, or (1,) for the axis None: ``weight`` is about ``integers * threshold / levels(bits)``.
    """
    highest = levels(bits)
    rows = by_channel(np.asarray(weight, np.float64), axis)
    rounded = by_channel(np.asarray(integers), axis).astype(np.int64)
    steps = np.asarray(thresholds, np.float64).reshape(-1, 1) / highest

    corrected = rounded
    for _ in range(ROUNDS):
        spread = (corrected * steps).std(axis=1, keepdims=True)
        ratio = np.divide(rows.std(axis=1, keepdims=True), spread, out=np.ones_like(spread), where=spread > 0)
        steps = steps * ratio
        exact = np.divide(rows, steps, out=np.zeros_like(rows), where=steps > 0)
        corrected = _with_sums_of(exact, rounded, highest)
    whole = _from_rows(corrected, np.shape(integers), axis).astype(np.asarray(integers).dtype)
    return whole, (steps * highest).reshape(np.shape(thresholds)).astype(np.asarray(thresholds).dtype)


def _with_sums_of(exact: Values, rounded: Values, highest: int) -> Values:
    """Integers like `rounded` whose rows add up to what those of `exact` do, where that can be reached."""
    corrected = rounded.copy()
    missing = np.rint(exact.sum(axis=1)).astype(np.int64) - rounded.sum(axis=1)
    for row, wanted, count in zip(corrected, exact, missing, strict=True):
        direction = int(np.sign(count))
        lost = (wanted - row) * direction  # what rounding the other way would win back
        at_the_end = row == (highest if direction > 0 else -highest - 1)
        order = np.argsort(-lost, kind="stable")
        order = order[(lost[order] > 0) & ~at_the_end[order]][: abs(count)]
        row[order] += direction
    return corrected


def _from_rows(rows: Values, shape: tuple[int, ...], axis: int | None) -> Values:
    if axis is None:
        return rows.reshape(shape)
    others = [length for i, length in enumerate(shape) if i != axis % len(shape)]
    return np.moveaxis(rows.reshape(shape[axis], *others), 0, axis)
