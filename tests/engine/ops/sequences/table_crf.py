"""Rows of the operators in ``engine/ops/sequences/crf.py``, against sums over all sequences of tags."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from tests.engine.ops.case import Case, row, s, v


def _score(emission: Any, transition: Any, tags: Any) -> Any:
    """The score of one sequence of tags."""
    total = transition[0, tags[0]] + transition[1, tags[-1]]
    total += sum(emission[t, tag] for t, tag in enumerate(tags))
    return total + sum(transition[a + 2, b] for a, b in itertools.pairwise(tags))


def _all(emission: Any, length: int) -> Any:
    return list(itertools.product(range(emission.shape[-1]), repeat=length))


def _losses(emission: Any, transition: Any, label: Any, length: Any) -> Any:
    losses = np.zeros((len(emission), 1))
    for n, count in enumerate(length.reshape(-1).tolist()):
        if count:
            scores = [_score(emission[n], transition, tags) for tags in _all(emission, count)]
            own = _score(emission[n], transition, label[n].reshape(-1)[:count].tolist())
            losses[n] = np.log(np.exp(scores).sum()) - own
    return losses


def _shares(emission: Any, transition: Any, length: Any) -> Any:
    """The probability of each tag at each time, of all beginnings of sequences up to then."""
    shares = np.zeros(emission.shape)
    for n, count in enumerate(length.reshape(-1).tolist()):
        for t in range(count):
            for tags in _all(emission, t + 1):
                score = _score(emission[n], transition, tags) - transition[1, tags[-1]]
                shares[n, t, tags[-1]] += np.exp(score)
            shares[n, t] /= shares[n, t].sum()
    return shares


def _crf(emission: Any, transition: Any, label: Any, length: Any) -> Any:
    exps = np.exp(emission - emission.max(-1, keepdims=True))
    losses = _losses(emission, transition, label, length)
    return _shares(emission, transition, length), exps, np.exp(transition), losses


def _grads(g: Any, label: Any, length: Any, alpha: Any, exps: Any, steps: Any) -> Any:
    """By differences of the losses; ``exps`` has the scores less the largest of each step."""
    emission, transition = np.log(exps), np.log(steps)
    results = np.zeros(emission.shape), np.zeros(transition.shape)
    for which, result in enumerate(results):
        for place in np.ndindex(result.shape):
            step = np.zeros(result.shape)
            step[place] = 1e-5
            sides = []
            for sign in (1, -1):
                moved = [emission, transition]
                moved[which] = moved[which] + sign * step
                sides.append((_losses(*moved, label, length) * g).sum())
            result[place] = (sides[0] - sides[1]) / 2e-5
    return results


def _check_grads(results: Any, *inputs: Any) -> None:
    for found, wanted in zip(results, _grads(*inputs), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-8)


def _path(emission: Any, transition: Any, length: Any, label: Any = None) -> Any:
    path = np.zeros(emission.shape[:2], np.int64)
    for n, count in enumerate(length.reshape(-1).tolist()):
        if count:
            scores = [_score(emission[n], transition, tags) for tags in _all(emission, count)]
            path[n, :count] = _all(emission, count)[int(np.argmax(scores))]
    if label is None:
        return path
    inside = np.arange(path.shape[1]) < length.reshape(-1, 1)
    return ((label.reshape(path.shape) == path) & inside).astype(np.int64)


LABEL = np.array([[2, 0, 1], [1, 1, 0], [0, 2, 2]])
LENGTH = np.array([3, 1, 0])
INPUTS = (v(3, 3, 3), v(5, 3, seed=1) * 2)
NONE = (np.zeros((0, 2, 2)), v(4, 2), np.zeros((0, 2), int), np.zeros(0, int))


CASES: list[Case] = [
    *row("linear_chain_crf", _crf, s(*INPUTS, LABEL, LENGTH), s(*INPUTS, LABEL[:, :, None], LENGTH[:, None]),
         s(v(1, 4, 2), v(4, 2, seed=2), np.array([[1, 0, 0, 1]]), np.array([4])), grads="emission transition",
         through=(3,)),
    *row("linear_chain_crf", _crf, s(*NONE)),
    *row("linear_chain_crf_grad", None,
         s(v(3, 1), LABEL, LENGTH, *_crf(*INPUTS, LABEL, LENGTH)[:3]), check=_check_grads),
    *row("crf_decoding", _path, s(*INPUTS, LENGTH, None), s(*INPUTS, LENGTH[:, None], LABEL),
         s(*INPUTS, LENGTH, LABEL[:, :, None]), s(v(1, 4, 2), v(4, 2, seed=2), np.array([4]), None),
         s(*NONE[:2], NONE[3], None))
]
