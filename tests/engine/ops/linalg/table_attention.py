"""Rows of the operators in ``engine/ops/linalg/attention.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, row, s, v


def _scores(x: Any, y: Any, turned: bool, times: Any) -> Any:
    return x @ (y if turned else np.swapaxes(y, -1, -2)) * (1 if times is None else times)


def _attention(x, y, v, masks, factor=None, times=None, turned=False, lies=False):
    scores = _scores(x * (1 if factor is None else factor), y, turned, times)
    e = np.exp(sum(masks, scores))
    weights = e / e.sum(-1, keepdims=True)
    return weights @ v, weights


def _weights(x, y, masks, **attrs):
    return _attention(x, y, np.zeros((len(x), 3, 5, 1)), masks, **attrs)[1]


def _gradients(
    flow, weights, x, y, v, dropped=None, kept=None, factor=None, times=None, after=None, turned=False,
    lies=(), wanted=(True,) * 3
):
    g = flow @ np.swapaxes(v, -1, -2) * (1 if kept is None else kept)
    g = weights * (g - (g * weights).sum(-1, keepdims=True)) * (1 if times is None else times)
    of_x = _scores(g, y, not turned, after)
    of_y = np.swapaxes(g, -1, -2) @ x * (1 if factor is None else factor)
    met = weights if dropped is None else dropped
    made = of_x, np.swapaxes(of_y, -1, -2) if turned else of_y, np.swapaxes(met, -1, -2) @ flow
    return tuple(m if want else None for m, want in zip(made, wanted, strict=True))


X, Y, V, G = v(2, 3, 4, 2), v(2, 3, 5, 2, seed=1), v(2, 3, 5, 3, seed=2), v(2, 3, 4, 3, seed=3)
W, TURNED = abs(v(2, 3, 4, 5, seed=4)), np.swapaxes(Y, -1, -2).copy()
NONE = v(0, 3, 4, 2), v(0, 3, 5, 2), v(0, 3, 5, 3)

CASES: list[Case] = [
    *row("fused_attention", _attention, s(X, Y, V, []), s(X, Y, V, [v(4, 5)], factor=0.5),
         s(X, TURNED, V, [v(5), v(2, 1, 1, 1)], times=2.0, turned=True), s(X, Y, V, [], lies=True),
         s(*NONE, [])),
    *row("fused_scores", _weights,
         s(X, Y, [v(5)], factor=0.5), s(X, TURNED, [], times=2.0, turned=True), s(*NONE[:2], [])),
    *row("fused_attention_grad", _gradients, s(G, W, X, Y, V, None, None),
         s(G, W, X, Y, V, None, None, factor=0.5, after=0.25, times=2.0, lies=(True, False, True)),
         s(G, W, X, Y, V, v(2, 3, 4, 5, seed=5), v(2, 3, 4, 5, seed=6)),
         s(G, W, X, TURNED, V, None, None, turned=True),
         s(v(0, 3, 4, 3), v(0, 3, 4, 5), *NONE, None, None))
]
