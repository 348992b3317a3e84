"""Rows of the operators in ``engine/ops/images/conv_bias.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, Sample, row, s, v
from tests.engine.ops.images.table_conv import CONVS, DEEP, EACH
from tests.engine.ops.windows import conv

EMPTY = s(v(0, 2, 4, 4), v(2, 1, 3, 3), groups=2)


def _want(x: Any, weight: Any, bias: Any, activation: str = "", **attrs: Any) -> Any:
    last = attrs.get("data_format", "N")[-1] == "C"
    out = conv(x, weight, **attrs) + (bias if last else bias.reshape(-1, *[1] * (x.ndim - 2)))
    return np.maximum(out, 0) if activation else out


def _with_bias(samples: list[Sample]) -> list[Sample]:
    """Each sample with a bias; every second one with a relu."""
    made = []
    for n, sample in enumerate(samples):
        x, weight = sample.inputs
        bias = v(weight.shape[0], seed=n) * 0.1 + 0.01
        attrs = {**sample.attrs, "activation": "relu" if n % 2 else ""}
        made.append(s(x, weight, bias, **attrs))
    return made


CASES: list[Case] = [
    *row("conv2d_fusion", _want, *_with_bias(CONVS[:10]), grads="x weight bias"),
    *row("conv3d_fusion", _want, *_with_bias([*DEEP[:3], DEEP[-1]]), grads="x weight bias"),
    *row("depthwise_conv2d_fusion", _want, *_with_bias([*EACH[:3], EMPTY]), grads="x weight bias"),
]
