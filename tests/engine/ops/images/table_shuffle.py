"""Rows of the operators in ``engine/ops/images/shuffle.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, row, s, v


def _last(function: Any) -> Any:
    def run(x: Any, data_format: str = "NCHW", **attrs: Any) -> Any:
        if data_format == "NHWC":
            return np.moveaxis(function(np.moveaxis(x, 3, 1), **attrs), 1, 3)
        return function(x, **attrs)

    return run


@_last
def _pixel_shuffle(x: Any, upscale_factor: int) -> Any:
    r = upscale_factor
    n, c, h, w = x.shape
    made = np.zeros((n, c // r**2, h * r, w * r))
    for k, i, j in np.ndindex(*made.shape[1:]):
        made[:, k, i, j] = x[:, k * r * r + i % r * r + j % r, i // r, j // r]
    return made


@_last
def _pixel_unshuffle(x: Any, downscale_factor: int) -> Any:
    r = downscale_factor
    n, c, h, w = x.shape
    made = np.zeros((n, c * r * r, h // r, w // r))
    for k, i, j in np.ndindex(c, h, w):
        made[:, k * r * r + i % r * r + j % r, i // r, j // r] = x[:, k, i, j]
    return made


@_last
def _channel_shuffle(x: Any, groups: int) -> Any:
    each = x.shape[1] // groups
    return np.stack([x[:, k % groups * each + k // groups] for k in range(x.shape[1])], axis=1)


@_last
def _channel_back(x: Any, groups: int) -> Any:
    made = np.zeros_like(x)
    for k in range(x.shape[1]):
        made[:, k % groups * (x.shape[1] // groups) + k // groups] = x[:, k]
    return made


def _shift(step: int) -> Any:
    @_last
    def run(x: Any, seg_num: int, shift_ratio: float = 0.25) -> Any:
        made = np.zeros_like(x)
        one, two = int(x.shape[1] * shift_ratio), int(2 * x.shape[1] * shift_ratio)
        for n, c in np.ndindex(x.shape[0], x.shape[1]):
            frame, move = n % seg_num, -step if c < one else step if c < two else 0
            if 0 <= frame + move < seg_num:
                made[n, c] = x[n + move, c]
        return made

    return run


SHIFTS = [
    s(v(4, 4, 2, 1), seg_num=2),
    s(v(3, 5, 1, 2), seg_num=3, shift_ratio=0.4),
    s(v(2, 1, 2, 4), seg_num=2, data_format="NHWC"),
]


CASES: list[Case] = [
    *row("pixel_shuffle", _pixel_shuffle, s(v(2, 8, 1, 2), upscale_factor=2),
         s(v(1, 9, 2, 1), upscale_factor=3), s(v(1, 2, 1, 8), upscale_factor=2, data_format="NHWC"),
         s(v(0, 4, 2, 2), upscale_factor=2), grads="x"),
    *row("pixel_unshuffle", _pixel_unshuffle, s(v(2, 2, 2, 4), downscale_factor=2),
         s(v(1, 1, 3, 6), downscale_factor=3),
         s(v(1, 4, 2, 3), downscale_factor=2, data_format="NHWC"), grads="x"),
    *row("channel_shuffle", _channel_shuffle, s(v(2, 6, 1, 2), groups=2),
         s(v(1, 2, 1, 6), groups=3, data_format="NHWC"), grads="x"),
    *row("channel_shuffle_grad", _channel_back, s(v(2, 6, 1, 2), groups=2),
         s(v(1, 2, 1, 6), groups=3, data_format="NHWC"), grads="g_in"),
    *row("temporal_shift", _shift(1), *SHIFTS, grads="x"),
    *row("temporal_shift_grad", _shift(-1), *SHIFTS, grads="g_in")
]
