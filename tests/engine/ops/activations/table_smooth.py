"""Rows of the operators in ``engine/ops/activations/smooth.py``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.engine.ops.activations.references import PAIRS, rough
from tests.engine.ops.case import Case, row, s, v
from tests.engine.ops.references import U

_erf = np.vectorize(math.erf, otypes=[float])


WIDE = s(np.array([-700.0, -30.0, -4.5, -0.3, 0.2, 3.9, 19.0, 21.0, 700.0]))


def _with(samples: list[Any], **attrs: Any) -> list[Any]:
    return [s(*sample.inputs, **attrs) for sample in samples]


def _logistic(x: Any) -> Any:
    return np.array([1 / (1 + math.exp(-e)) if e > -700 else 0.0 for e in np.ravel(x)]).reshape(np.shape(x))


def _gelu(x: Any, approximate: bool = False) -> Any:
    if approximate:
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + _erf(x / math.sqrt(2)))


def _softplus(x: Any, beta: float = 1.0, threshold: float = 20.0) -> Any:
    with np.errstate(over="ignore"):
        return np.where(beta * x > threshold, x, np.log1p(np.exp(beta * np.minimum(x, 700.0))) / beta)


def _swish(x: Any, beta: float = 1.0) -> Any:
    return x * _logistic(beta * x)


def _mish(x: Any, threshold: float = 20.0) -> Any:
    return x * np.tanh(_softplus(x, threshold=threshold))


CASES: list[Case] = [
    *row("gelu", _gelu, *U, WIDE, s(v(9) * 2), grads="x"),
    *row("gelu", _gelu, *_with([*U, WIDE, s(v(9) * 2)], approximate=True), grads="x"),
    *row("gelu_grad", None, *PAIRS, *_with(PAIRS, approximate=True), check=rough(_gelu), grads="g_in x"),
    *row("silu", _swish, *U, WIDE, grads="x"),
    *row("swish", _swish, *U, WIDE, s(v(9), beta=0.7), grads="x"),
    *row("swish_grad", None, *PAIRS, s(v(2, 3), v(2, 3, seed=2), beta=0.7), check=rough(_swish),
         grads="g_in x"),
    *row("softplus", _softplus, *U, WIDE, s(v(9), beta=2.0, threshold=1.0), grads="x"),
    *row("softplus_grad", None, *PAIRS, s(v(2, 3), v(2, 3, seed=2), beta=2.0, threshold=1.0),
         check=rough(_softplus), grads="g_in x"),
    *row("logsigmoid", lambda x: -_softplus(-x, threshold=1e4), *U, grads="x"),
    *row("logsigmoid", lambda x: np.array([-1e4, 0.0]), s(np.array([-1e4, 1e4]))),
    *row("mish", _mish, *U, WIDE, grads="x"),
    *row("mish_grad", None, *PAIRS, check=rough(_mish), grads="g_in x"),
    *row("softsign", lambda x: x / (1 + np.abs(x)), *U, WIDE, grads="x"),
    *row("tanh_shrink", lambda x: x - (np.exp(x) - np.exp(-x)) / (np.exp(x) + np.exp(-x)), *U, grads="x"),
    *row("sigmoid", lambda x: 1 / (1 + np.exp(-x)), *U, grads="x"),
    *row("sigmoid", lambda x: np.array([0.0, 1.0, 0.5]), s(np.array([-1e4, 1e4, 0.0]))),
    *row("tanh", lambda x: (np.exp(x) - np.exp(-x)) / (np.exp(x) + np.exp(-x)), *U, grads="x")
]
