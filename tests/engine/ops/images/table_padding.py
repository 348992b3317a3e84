"""Rows of the operators in ``engine/ops/images/padding.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, Sample, row, s, v
from tests.engine.ops.windows import slopes

_NAMES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def _pad(
    x: Any, pads: Any = None, paddings: Any = (), mode: str = "constant", value: float = 0.0,
    data_format: str = "NCDHW"
) -> Any:
    numbers = [int(p) for p in (paddings if pads is None else pads)]
    spatial = [tuple(numbers[n : n + 2]) for n in (4, 2, 0)]
    pairs = [(0, 0), *spatial, (0, 0)] if data_format == "NDHWC" else [(0, 0), (0, 0), *spatial]
    cut = tuple(slice(max(-b, 0), d - max(-a, 0)) for d, (b, a) in zip(x.shape, pairs, strict=True))
    pairs = [(max(b, 0), max(a, 0)) for b, a in pairs]
    more = {"constant_values": value} if mode == "constant" else {}
    return np.pad(x[cut], pairs, mode=_NAMES[mode], **more)


def _back(x: Any, g: Any, pads: Any = None, **attrs: Any) -> Any:
    return slopes(x, lambda unit: _pad(unit, pads, **attrs), g)


SAMPLES = [
    s(v(1, 2, 2, 3, 2), None, paddings=[1, 0, 0, 2, 1, 1], value=2.5),
    s(v(1, 1, 3, 3, 3), None, paddings=[-1, 1, 0, -2, 0, 0]),
    s(v(2, 1, 3, 2, 4), None, paddings=[3, 1, 1, 0, 0, 2], mode="reflect"),
    s(v(1, 2, 2, 3, 2), None, paddings=[2, 1, 0, 4, 1, 0], mode="replicate"),
    s(v(1, 2, 2, 3, 2), None, paddings=[2, 1, 0, 4, 1, 3], mode="circular"),
    s(v(1, 2, 3, 2, 2), None, paddings=[1, 0, 1, 2, 0, 1], mode="reflect", data_format="NDHWC"),
    s(v(1, 2, 3, 2, 2), None, paddings=[0, 0, 0, 0, 0, 0], mode="replicate"),
    s(v(0, 2, 3, 2, 2), None, paddings=[1, 1, 0, 0, 0, 0], mode="circular"),
    s(v(1, 1, 2, 3, 2), np.array([1, 0, 2, 2, 0, 1]), mode="reflect"),
]


def _grads(sample: Sample) -> Sample:
    x, pads = sample.inputs
    attrs = {k: a for k, a in sample.attrs.items() if k != "value"}
    return s(x, v(*_pad(x, pads, **sample.attrs).shape, seed=9), pads, **attrs)


def _pad_shapes(x: Any, paddings: Any, pad_value: float = 0.0) -> Any:
    before, after = paddings[0::2], paddings[1::2]
    result = np.full([d + b + a for d, b, a in zip(x.shape, before, after, strict=True)], pad_value)
    for place in np.ndindex(result.shape):
        source = tuple(p - b for p, b in zip(place, before, strict=True))
        if all(0 <= p < d for p, d in zip(source, x.shape, strict=True)):
            result[place] = x[source]
    return result


CASES: list[Case] = [
    *row("pad3d", _pad, *SAMPLES[:-1], grads="x", unknown=True),
    *row("pad3d", _pad, SAMPLES[-1], grads="x", unknown=True, data=True),
  # its pads are values
    *row("pad3d_grad", _back, *[_grads(c) for c in SAMPLES], grads="g_in"),
    *row("pad", _pad_shapes, s(v(2, 3), paddings=[1, 0, 0, 2]), s(v(3), paddings=[1, 1], pad_value=2.5),
         s(v(4, 3), paddings=[-1, 1, 0, -1]), grads="x")
]
