"""Rows of the operators in ``engine/ops/activations/piecewise.py``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.engine.ops.activations.references import PAIRS, rough
from tests.engine.ops.case import Case, pos, row, s, v
from tests.engine.ops.references import U


def _line(g: Any, x: Any, low: Any = None, high: Any = None, slope: float = 1.0, beyond: bool = False) -> Any:
    low, high = -np.inf if low is None else low, np.inf if high is None else high
    inside = np.logical_and(low < x, x < high)
    return np.where(np.logical_not(inside) if beyond else inside, slope * g, 0.0)


def _elu(x: Any, up: float, down: float, rate: float) -> Any:
    return np.array([up * e if e > 0 else down * (math.exp(rate * e) - 1) for e in x.reshape(-1)]).reshape(
        x.shape
    )


def _exponential(g: Any, x: Any, up: float = 1.0, down: float = 1.0, rate: float = 1.0) -> Any:
    flat = [up if e > 0 else down * math.exp(rate * e) for e in x.reshape(-1)]
    return g * np.array(flat).reshape(x.shape)


def _hardswish(x: Any, threshold: float = 6.0, scale: float = 6.0, offset: float = 3.0) -> Any:
    return x * np.minimum(np.maximum(x + offset, 0), threshold) / scale


def _broad(alpha: Any, mode: str, data_format: str, ndim: int) -> Any:
    if mode == "all":
        return float(alpha.reshape(-1)[0])
    channel = 1 if data_format == "NCHW" else ndim - 1
    return alpha.reshape([-1 if n == channel else 1 for n in range(ndim)])


def _prelu(x: Any, alpha: Any, mode: str = "all", data_format: str = "NCHW") -> Any:
    return np.where(x > 0, x, _broad(alpha, mode, data_format, x.ndim) * x)


def _prelu_grad(g: Any, x: Any, alpha: Any, mode: str = "all", data_format: str = "NCHW") -> Any:
    return np.where(x > 0, g, _broad(alpha, mode, data_format, x.ndim) * g)


def _check_rrelu(
    results: Any, x: Any, lower: float = 0.125, upper: float = 1 / 3, is_test: bool = False
) -> None:
    out, noise = results
    np.testing.assert_allclose(out, x * noise)
    assert (noise[x >= 0] == 1).all()
    slopes = noise[x < 0]
    if is_test:
        np.testing.assert_allclose(slopes, (lower + upper) / 2)
        return
    assert ((slopes >= lower) & (slopes <= upper)).all()
    if slopes.size > 500:
        assert abs(slopes.mean() - (lower + upper) / 2) < 0.03
        assert slopes.std() > 0.2 * (upper - lower)


CASES: list[Case] = [
    *row("linear_piece_grad", _line, s(v(2, 3), v(2, 3, seed=2), low=-0.5, high=0.6),
         s(v(2, 3), v(2, 3, seed=2), low=-0.5, high=0.6, beyond=True),
         s(v(2, 3), v(2, 3, seed=2), low=0.2, slope=3.0), s(v(), v(seed=2), low=-1.0, high=1.0),
         grads="g_in"),
    *row("exponential_piece_grad", _exponential, *PAIRS,
         s(v(2, 3), v(2, 3, seed=2), up=0.5, down=2.0, rate=0.7), grads="g_in x"),
    *row("relu6", lambda x: np.minimum(np.maximum(x, 0), 6), *U, s(v(9) * 7), grads="x"),
    *row("relu6", lambda x: np.array([6.0, 0.0]), s(np.array([np.inf, -np.inf]))),
    *row("brelu", lambda x, t_min=-1.0, t_max=1.0: np.minimum(np.maximum(x, t_min), t_max), *U,
         s(v(9), t_min=-0.4, t_max=0.3), grads="x"),
    *row("hard_sigmoid", lambda x, slope=0.2, offset=0.5: np.minimum(np.maximum(slope * x + offset, 0), 1),
         *U, s(v(9) * 5, slope=1 / 6), s(v(9), slope=1.3, offset=0.2), grads="x"),
    *row("hard_shrink", lambda x, threshold=0.5: np.where(np.abs(x) > threshold, x, 0), *U,
         s(v(9), threshold=0.8), grads="x"),
    *row("softshrink", lambda x, threshold=0.5: np.sign(x) * np.maximum(np.abs(x) - threshold, 0), *U,
         s(v(9), threshold=0.8), grads="x"),
    *row("thresholded_relu", lambda x, threshold=1.0: np.where(x > threshold, x, 0), *U,
         s(v(9), threshold=0.2), grads="x"),
    *row("hard_swish", _hardswish, *U, s(v(9) * 4), grads="x"),
    *row("hard_swish_grad", None, s(v(9), v(9, seed=2) * 4), *PAIRS, check=rough(_hardswish),
         grads="g_in x"),
    *row("elu", lambda x, alpha=1.0: _elu(x, 1.0, alpha, 1.0), *U, s(v(9), alpha=0.3), s(v(9), alpha=-0.3),
         grads="x"),
    *row("elu", lambda x: np.array([-1.0, 800.0]), s(np.array([-800.0, 800.0]))),
    *row("celu", lambda x, alpha=1.0: _elu(x, 1.0, alpha, 1 / alpha), *U, s(v(9), alpha=0.3), grads="x"),
    *row("selu", lambda x, scale=1.0507009873554805, alpha=1.6732632423543772:
         _elu(x, scale, scale * alpha, 1.0), *U, s(v(9), scale=1.2, alpha=0.5), grads="x"),
    *row("prelu", _prelu, s(v(2, 3), pos(1)), s(v(), pos()), s(v(0, 3), pos(1)),
         s(v(2, 3), pos(3), mode="channel"), s(v(2, 3, 2), pos(3), mode="channel"),
         s(v(2, 2, 3), pos(3), mode="channel", data_format="NHWC"), grads="x alpha"),
    *row("prelu_grad", _prelu_grad, s(v(2, 3), v(2, 3, seed=2), pos(1)),
         s(v(2, 3, 2), v(2, 3, 2, seed=2), pos(3), mode="channel"),
         s(v(2, 2, 3), v(2, 2, 3, seed=2), pos(3), mode="channel", data_format="NHWC"), grads="g_in alpha"),
    *row("rrelu", None, s(v(2, 3), is_test=True), s(v(2000)), s(v(0, 2)), s(v(3), lower=0.0, upper=1.0),
         check=_check_rrelu, grads="x", through=(0,)),
    # -- activations
    *row("relu", lambda x: np.where(x > 0, x, 0.0), *U, grads="x"),
    *row("relu", lambda x: x, s(np.array([np.nan]))),
    *row("relu_grad", lambda g, y: np.where(y > 0, g, 0.0), s(v(2, 3), v(2, 3, seed=2)), s(v(), v(seed=2)),
         grads="g_in"),
    *row("leaky_relu", lambda x, alpha=0.01: np.where(x > 0, x, alpha * x), *U, s(v(2, 3), alpha=0.3),
         grads="x"),
    *row("relu_grad", lambda g, y: np.array([0.0, np.inf]), s(np.full(2, np.inf), np.array([0.0, 1.0]))),
    *row("leaky_relu_grad", lambda g, x, alpha: np.where(x > 0, g, alpha * g),
         s(v(2, 3), v(2, 3, seed=2), alpha=0.3), grads="g_in")
]
