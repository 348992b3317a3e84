"""Rows of the operators in ``engine/ops/images/interpolate.py``."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from tests.engine.ops.case import Case, Sample, row, s, v
from tests.engine.ops.windows import slopes


def _taps(
    method: str, size: int, out: int, scale: float, corners: bool, mode: int, k: int
) -> dict[int, float]:
    """The elements of a line that the k-th of the result is computed from."""
    ratio = 0.0
    if out > 1:
        ratio = (size - 1) / (out - 1) if corners else (1 / scale if scale else size / out)
    if method == "nearest":
        return {min(math.floor(ratio * k + 1e-6), size - 1): 1.0}
    middle = not corners and (mode == 0 or method == "bicubic")
    place = ratio * (k + 0.5) - 0.5 if middle else ratio * k
    found: dict[int, float] = {}
    if method == "bicubic":
        for n in range(math.floor(place) - 1, math.floor(place) + 3):
            d = abs(place - n)
            w = 1.25 * d**3 - 2.25 * d**2 + 1 if d <= 1 else -0.75 * d**3 + 3.75 * d**2 - 6 * d + 3
            at = min(max(n, 0), size - 1)
            found[at] = found.get(at, 0.0) + w
        return found
    place = max(place, 0.0)
    low = min(math.floor(place + 1e-6), size - 1)
    for at, w in ((low, 1 - (place - low)), (min(low + 1, size - 1), place - low)):
        found[at] = found.get(at, 0.0) + w
    return found


def _interpolate(
    x: Any, out_size: Any = None, scale_tensor: Any = None, method: str = "", data_layout: str = "NCHW",
    out_d: int = -1, out_h: int = -1, out_w: int = -1, scale: Any = (), align_corners: bool = False,
    align_mode: int = 1
) -> Any:
    if data_layout == "NHWC":
        x = np.moveaxis(x, -1, 1)
    size = x.shape[2:]
    if scale_tensor is not None:
        scale = scale_tensor.tolist()
    if out_size is not None:
        out, scale = out_size.tolist(), []
    elif len(scale):
        scale = list(scale) * (len(size) // len(scale))
        scale = [float(np.float32(f)) for f in scale]  # as Paddle has it
        out = [int(np.float32(n * f)) for n, f in zip(size, scale, strict=True)]
    else:
        out = [out_d, out_h, out_w][3 - len(size) :]
    scale = list(scale) or [0.0] * len(size)
    result = np.zeros((*x.shape[:2], *out))
    for place in np.ndindex(*out):
        taps = [_taps(method, n, o, f, align_corners, align_mode, k)
                for n, o, f, k in zip(size, out, scale, place, strict=True)]
        for at in itertools.product(*taps):
            weight = math.prod(t[a] for t, a in zip(taps, at, strict=True))
            result[(..., *place)] += weight * x[(..., *at)]
    return np.moveaxis(result, 1, -1) if data_layout == "NHWC" else result


SAMPLES: dict[str, list[Sample]] = {
    "linear": [
        s(v(2, 2, 5), None, None, out_w=8, align_mode=0),
        s(v(1, 3, 4), None, None, scale=[1.5], data_layout="NHWC"),
        s(v(1, 2, 6), None, None, out_w=3, align_corners=True),
        s(v(1, 1, 5), None, None, out_w=1),
    ],
    "bilinear": [
        s(v(2, 1, 3, 4), None, None, out_h=5, out_w=3, align_mode=0),
        s(v(1, 2, 3, 2), None, None, scale=[2.0, 1.5]),
        s(v(1, 2, 3, 3), None, None, out_h=4, out_w=7, align_corners=True),
        s(v(1, 3, 2, 2), None, None, scale=[2.0], data_layout="NHWC", align_mode=0),
        s(v(1, 1, 2, 3), np.array([3, 2], np.int32), None, align_mode=0),
        s(v(1, 1, 2, 3), None, np.array([2.0, 0.7]), align_mode=0),
    ],
    "trilinear": [
        s(v(1, 1, 2, 3, 2), None, None, out_d=3, out_h=2, out_w=4, align_mode=0),
        s(v(1, 1, 2, 2, 2), None, None, scale=[1.5, 2.0, 1.0], align_corners=True),
    ],
    "bicubic": [
        s(v(1, 2, 4, 3), None, None, out_h=6, out_w=5),
        s(v(1, 1, 3, 5), None, None, scale=[1.5, 0.5]),
        s(v(1, 3, 3, 1), None, None, out_h=4, out_w=2, align_corners=True, data_layout="NHWC"),
    ],
    "nearest": [
        s(v(2, 1, 3, 4), None, None, out_h=5, out_w=3),
        s(v(1, 2, 3, 2), None, None, scale=[2.0]),
        s(v(1, 1, 2, 3, 2), None, None, out_d=3, out_h=2, out_w=4),
        s(v(1, 3, 3, 2), None, None, scale=[0.6, 1.3], data_layout="NHWC"),
        s(v(0, 2, 3, 2), None, None, scale=[2.0]),
    ],
}


def _rows(method: str, samples: list[Sample]) -> list[Case]:
    def forward(x: Any, *tensors: Any, **attrs: Any) -> Any:
        return _interpolate(x, *tensors, method=method, **attrs)

    def back(x: Any, g: Any, *tensors: Any, **attrs: Any) -> Any:
        return slopes(x, lambda unit: forward(unit, *tensors, **attrs), g)

    made: list[Case] = []
    for c in samples:
        x, *tensors = c.inputs
        made += row(f"{method}_interp_v2", forward, c, grads="x", data=any(t is not None for t in tensors))
        g = v(*forward(*c.inputs, **c.attrs).shape, seed=9)
        made += row(f"{method}_interp_v2_grad", back, s(x, g, *tensors, **c.attrs), grads="g_in")
    return made


CASES: list[Case] = [
    *[case for method, samples in SAMPLES.items() for case in _rows(method, samples)],
]
