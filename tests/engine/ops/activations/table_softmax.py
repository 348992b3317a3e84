"""Rows of the operators in ``engine/ops/activations/softmax.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, row, s, v


def _check_gumbel(results: Any, x: Any, temperature: float = 1.0, hard: bool = False, axis: int = -1) -> None:
    out, soft = results
    np.testing.assert_allclose(soft.sum(axis), 1.0, rtol=1e-6)
    best = np.moveaxis(soft, axis, -1).argmax(-1)
    if hard:
        np.testing.assert_array_equal(np.moveaxis(out, axis, -1), np.eye(x.shape[axis])[best])
    else:
        np.testing.assert_array_equal(out, soft)
    if x.size > 1000:  # the largest is each class with the probability of its softmax
        shares = np.bincount(best.reshape(-1), minlength=x.shape[axis]) / best.size
        want = np.exp(x[0]) / np.exp(x[0]).sum()
        np.testing.assert_allclose(shares, want, atol=0.05)


def _log_softmax(x: Any, axis: int = -1) -> Any:
    return np.log(np.exp(x) / np.exp(x).sum(axis, keepdims=True)) if x.ndim else np.zeros(())


def _softmax_grad(flow: Any, soft: Any, axis: int = -1) -> Any:
    return soft * (flow - (flow * soft).sum(axis, keepdims=True)) if soft.ndim else soft * flow * (1 - soft)


CASES: list[Case] = [
    *row("gumbel_softmax", None, s(v(2, 3)), s(v(2, 3, 2), axis=1, temperature=0.5), s(v(0, 3)),
         s(np.tile(v(3), (2000, 1))), check=_check_gumbel, grads="x", through=(0,)),
    *row("gumbel_softmax", None, s(v(2, 3), hard=True),
         s(np.tile(v(3), (2000, 1)), hard=True, temperature=2.0), s(v(2, 3, 2), axis=1, hard=True),
         check=_check_gumbel),
    *row("softmax", lambda x, axis=-1: np.exp(_log_softmax(x, axis)), s(v()), s(v(4)), s(v(2, 3)),
         s(v(2, 3, 2), axis=1), s(v(0, 3)), grads="x"),
    *row("softmax", lambda x: np.array([0.5, 0.5, 0.0]), s(np.array([1e4, 1e4, -1e4]))),
    *row("softmax_grad", _softmax_grad, s(v(), v(seed=1)), s(v(4), v(4, seed=1)), s(v(2, 3), v(2, 3, seed=1)),
         s(v(2, 3, 2), v(2, 3, 2, seed=1), axis=1), s(v(0, 3), v(0, 3)), grads="flow soft"),
    *row("log_softmax", _log_softmax, s(v()), s(v(4)), s(v(2, 3)), s(v(2, 3, 2), axis=1), s(v(0, 3)),
         grads="x"),
    *row("log_softmax", lambda x: np.array([0.0, -2e4]), s(np.array([1e4, -1e4])))
]
