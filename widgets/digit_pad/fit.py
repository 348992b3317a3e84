"""From a drawing to what a digit model is fed: cropped, scaled and centred as MNIST's digits. NumPy only."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Under this share of the strongest ink a pixel is paper: the faint rim of a photograph isn't part of a digit.
PAPER = 0.08
# MNIST's digits fill a box of 20 of their 28 pixels (LeCun, Cortes, Burges: the MNIST database).
BOX = 20 / 28


def fit_digit(picture: ArrayLike, size: int = 28) -> NDArray[np.float32]:
    """Fit a digit into `size` x `size` pixels, float32 between 0 and 1.

    picture: 2-d, ink 1 on paper 0, any size. The box of the ink is scaled (area averaging, proportions kept)
    until its longer side is 20/28 of `size`; then the centre of mass comes to the middle, as far as the whole
    digit stays inside. No ink gives zeros. Raises ValueError for a picture that isn't 2-d or holds values
    that aren't finite.
    """
    ink = np.asarray(picture, dtype=np.float64)
    if ink.ndim != 2:
        raise ValueError(f"fit_digit: the picture must be 2-d: shape {ink.shape}; give one grey channel")
    if not np.isfinite(ink).all():
        raise ValueError("fit_digit: the picture holds NaN or infinite values; give values between 0 and 1")
    ink = np.clip(ink, 0, 1)
    result = np.zeros((size, size), np.float32)
    strongest = ink.max(initial=0.0)
    if strongest <= 0:
        return result
    mask = ink > PAPER * strongest
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    ink = ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    box = max(1, round(size * BOX))
    scale = box / max(ink.shape)
    height, width = (max(1, round(side * scale)) for side in ink.shape)
    small = area_resize(ink, height, width)
    top = _place(small.sum(axis=1), size)
    left = _place(small.sum(axis=0), size)
    result[top : top + height, left : left + width] = small
    return result


def area_resize(picture: NDArray[np.float64], height: int, width: int) -> NDArray[np.float64]:
    """Resample so that each new pixel is the mean of the area that it covers."""
    return _weights(picture.shape[0], height) @ picture @ _weights(picture.shape[1], width).T


def _weights(old: int, new: int) -> NDArray[np.float64]:
    """Share of each old pixel in each new one, (new, old); the rows sum to 1."""
    edges = np.arange(new + 1) * (old / new)
    pixels = np.arange(old)
    overlap = np.minimum(edges[1:, None], pixels + 1) - np.maximum(edges[:-1, None], pixels)
    return np.asarray(np.clip(overlap, 0, None) / (old / new), np.float64)


def _place(mass: NDArray[np.float64], size: int) -> int:
    """Where a profile begins so that its centre of mass is on pixel number size // 2, wholly inside.

    In MNIST's files that is pixel 14 of 0..27 (measured: 13.99 down and 14.01 across), not the border before
    it.
    """
    centre = float(np.average(np.arange(len(mass)), weights=mass))
    return min(max(round(size // 2 - centre), 0), size - len(mass))
