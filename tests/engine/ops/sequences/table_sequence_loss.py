"""Rows of the operators in ``engine/ops/sequences/sequence_loss.py``."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from tests.engine.ops.case import Case, row, s, v


def _log_softmax(x: Any) -> Any:
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def _collapsed(path: Any, blank: int) -> list[int]:
    return [c for c, _ in itertools.groupby(path) if c != blank]


def _ctc(
    logits: Any, label: Any, times: Any, lengths: Any, blank: int = 0, norm_by_times: bool = False
) -> Any:
    scores, losses = _log_softmax(logits), []
    for n in range(logits.shape[1]):
        wanted, total = label[n, : lengths[n]].tolist(), 0.0
        for path in itertools.product(range(logits.shape[2]), repeat=int(times[n])):
            if _collapsed(path, blank) == wanted:
                total += np.exp(sum(scores[t, n, c] for t, c in enumerate(path)))
        losses.append([-np.log(total) if total else 0.0])
    return np.array(losses).reshape(-1, 1)


def _ctc_grad(g: Any, logits: Any, *rest: Any, norm_by_times: bool = False, **attrs: Any) -> Any:
    """By differences of the sum over paths."""
    result = np.zeros(logits.shape)
    for place in np.ndindex(logits.shape):
        step = np.zeros(logits.shape)
        step[place] = 1e-5
        slope = (_ctc(logits + step, *rest, **attrs) - _ctc(logits - step, *rest, **attrs)) / 2e-5
        result[place] = slope[place[1], 0] * g[place[1], 0] / (rest[1][place[1]] if norm_by_times else 1)
    return result


def _paths(time: int, count: int) -> Any:
    """Every way through a transducer: the cells with the arc taken there, blank (True) or label."""
    for places in itertools.combinations(range(time - 1 + count), count):
        t = u = 0
        path = []
        for n in range(time - 1 + count):
            path.append((t, u, n not in places))
            t, u = (t, u + 1) if n in places else (t + 1, u)
        yield [*path, (t, u, True)]


def _rnnt(
    scores: Any, label: Any, times: Any, lengths: Any, blank: int = 0, fastemit_lambda: float = 0.0
) -> Any:
    losses = []
    for n in range(len(scores)):
        total = 0.0
        for path in _paths(int(times[n]), int(lengths[n])):
            total += np.exp(sum(scores[n, t, u, blank if b else label[n, u]] for t, u, b in path))
        losses.append(-np.log(total))
    return np.array(losses)


def _rnnt_grad(
    g: Any, scores: Any, label: Any, times: Any, lengths: Any, blank: int = 0, fastemit_lambda: float = 0.0
) -> Any:
    result = np.zeros(scores.shape)
    losses = _rnnt(scores, label, times, lengths, blank)
    for n in range(len(scores)):
        for path in _paths(int(times[n]), int(lengths[n])):
            arcs = [(n, t, u, blank if b else label[n, u]) for t, u, b in path]
            share = np.exp(sum(scores[a] for a in arcs) + losses[n])
            for a, (_, _, b) in zip(arcs, path, strict=True):
                result[a] -= share * g[n] * (1 if b else 1 + fastemit_lambda)
    return result


def _check_grad(want: Any) -> Any:
    def check(results: Any, *inputs: Any, **attrs: Any) -> None:
        np.testing.assert_allclose(results[0], want(*inputs, **attrs), rtol=1e-6, atol=1e-8)

    return check


CTC = (v(4, 2, 3), np.array([[1, 2], [2, 2]]), np.array([4, 3]), np.array([2, 1]))


TWICE = (v(4, 2, 3, seed=3), np.array([[1, 1], [2, 0]]), np.array([4, 4]), np.array([2, 0]))


OTHER = (v(3, 1, 4, seed=2), np.array([[0, 1, 0]]), np.array([3]), np.array([3]))


SHORT = (v(2, 2, 3), np.array([[1, 1], [1, 2]]), np.array([2, 2]), np.array([2, 2]))  # 1 1 needs 3 steps


RNNT = (_log_softmax(v(2, 3, 3, 4)), np.array([[1, 2], [3, 3]]), np.array([3, 2]), np.array([2, 1]))


LAST = (_log_softmax(v(1, 2, 2, 3, seed=4)), np.array([[0]]), np.array([2]), np.array([1]))


CASES: list[Case] = [
    *row("warpctc", _ctc, s(*CTC), s(*TWICE), s(*OTHER, blank=3), grads="logits"),
    *row("warpctc", _ctc, s(*SHORT),
    s(v(3, 0, 2), np.zeros((0, 2), int), np.zeros(0, int), np.zeros(0, int))),
    *row("warpctc_grad", None, s(v(2, 1), *CTC), s(v(2, 1), *TWICE), s(v(2, 1), *CTC, norm_by_times=True),
         check=_check_grad(_ctc_grad)),
    *row("warprnnt", _rnnt, s(*RNNT), s(*LAST, blank=2), grads="input"),
    *row("warprnnt_grad", None, s(v(2), *RNNT), s(v(2), *RNNT, fastemit_lambda=0.3), s(v(1), *LAST, blank=2),
         check=_check_grad(_rnnt_grad))
]
