"""Rows of the operators in ``engine/ops/training/losses.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, bools, ints, pos, row, s, v
from tests.engine.ops.references import logistic


def _huber(x: Any, delta: float = 1.0) -> Any:
    return np.where(np.abs(x) <= delta, 0.5 * x**2, delta * (np.abs(x) - 0.5 * delta))


def _softmax(x: Any, axis: int) -> Any:
    return np.exp(x) / np.exp(x).sum(axis, keepdims=True)


def _picked(x: Any, label: Any, axis: int, ignore: int) -> Any:
    result = np.zeros(label.shape)
    for place in np.ndindex(label.shape):
        if label[place] != ignore:
            source = list(place)
            source[axis] = int(label[place])
            result[place] = x[tuple(source)]
    return result


def _cross_entropy(
    logits: Any, label: Any, soft_label: bool = False, ignore_index: int = -100, axis: int = -1
) -> Any:
    softmax = _softmax(logits, axis)
    if soft_label:
        return softmax, -(label * np.log(softmax)).sum(axis, keepdims=True)
    return softmax, -_picked(np.log(softmax), label, axis, ignore_index)


def _cross_entropy_grad(
    g: Any, softmax: Any, label: Any, soft_label: bool = False, ignore_index: int = -100, axis: int = -1
) -> Any:
    if soft_label:
        return (softmax * label.sum(axis, keepdims=True) - label) * g
    classes = np.expand_dims(np.eye(softmax.shape[axis])[np.where(label == ignore_index, 0, label)], 0)
    one_hot = np.moveaxis(classes[0], -1, axis % softmax.ndim).reshape(softmax.shape)
    return (softmax - one_hot) * g * (label != ignore_index)


def _soft(*shape: int) -> Any:
    return pos(*shape, seed=6) / pos(*shape, seed=6).sum(-1, keepdims=True)


IGNORED = np.array([[1], [-100], [2]])


def _valid(label: Any, ignore_index: int) -> int:
    return max(int((label != ignore_index).sum()), 1)


def _put_class(g: Any, label: Any, x: Any, axis: int = -1, ignore_index: int = -100) -> Any:
    result = np.zeros(x.shape)
    for place in np.ndindex(label.shape):
        if label[place] != ignore_index:
            target = list(place)
            target[axis] = int(label[place])
            result[tuple(target)] += g[place]
    return result


def _mean_cross_entropy(logits: Any, label: Any, ignore_index: int = -100) -> Any:
    softmax = _softmax(logits, 1)
    kept = [-np.log(softmax[n, c]) for n, (c,) in enumerate(label) if c != ignore_index]
    return np.array(sum(kept) / max(1, len(kept))), softmax


def _mean_cross_entropy_grad(softmax: Any, label: Any, g: Any, ignore_index: int = -100) -> Any:
    made, kept = np.zeros(softmax.shape), [n for n, (c,) in enumerate(label) if c != ignore_index]
    for n in kept:
        made[n] = softmax[n] - np.eye(softmax.shape[1])[label[n, 0]]
    return made * g / max(1, len(kept))


CASES: list[Case] = [
    *row("mean_cross_entropy", _mean_cross_entropy, s(v(3, 4), ints(3, 1)), s(v(3, 4), IGNORED),
         s(v(3, 4), np.array([[1], [3], [2]]), ignore_index=3), grads="logits"),
    *row("mean_cross_entropy_grad", _mean_cross_entropy_grad, s(_soft(3, 4), ints(3, 1), v()),
         s(_soft(3, 4), IGNORED, v()), grads="softmax g_in"),
    *row("huber", _huber, s(v(2, 3)), s(v()), s(v(0, 2)), s(v(9), delta=0.4), grads="x"),
    *row("tolerable_log", lambda x: np.log(x), s(pos(2, 3)), s(pos()), grads="x"),
    *row("tolerable_log", lambda x: np.array([-1e20, 0.0, 1e20]), s(np.array([0.0, 1.0, np.inf]))),
    *row("kldiv_loss", lambda x, y: y * (np.log(y) - x), s(v(2, 3), pos(2, 3)), s(v(), pos()),
    grads="x target"),
    *row("kldiv_loss", lambda x, y: np.array([0.0, -1.0, 0.0]),
         s(np.array([5.0, 1.0, np.inf]), np.array([0.0, 1.0, -2.0]))),
    # -- losses
    *row("softmax_with_cross_entropy", _cross_entropy, s(v(3, 4), ints(3, 1)), s(v(3, 4), IGNORED),
         s(v(2, 3, 2), ints(2, 1, 2, high=3), axis=1),
         s(v(3, 4), np.array([[1], [3], [2]]), ignore_index=3), s(v(3, 4), _soft(3, 4), soft_label=True),
         grads="logits"),
    *row("softmax_with_cross_entropy_grad", _cross_entropy_grad, s(v(3, 1), _soft(3, 4), ints(3, 1)),
         s(v(3, 1), _soft(3, 4), IGNORED),
         s(v(2, 1, 2), pos(2, 3, 2), ints(2, 1, 2, high=3), axis=1),
         s(v(3, 1), _soft(3, 4), _soft(3, 4), soft_label=True), grads="g_in softmax"),
    *row("pick_class", lambda x, label, axis=-1, ignore_index=-100: _picked(x, label, axis, ignore_index),
         s(v(3, 4), ints(3, 1)), s(v(3, 4), IGNORED),
         s(v(2, 3, 2), ints(2, 1, 2, high=3), axis=1), grads="x"),
    *row("pick_class_grad", _put_class, s(v(3, 1), ints(3, 1), v(3, 4)), s(v(3, 1), IGNORED, v(3, 4)),
         s(v(2, 1, 2), ints(2, 1, 2, high=3), v(2, 3, 2), axis=1),
         grads="g_in"),
    *row("kept_mean", lambda x, label, ignore_index=-100: x.sum() / _valid(label, ignore_index),
         s(v(3, 1), IGNORED), s(v(3), ints(3)),
         s(v(2), np.array([7, 7]), ignore_index=7), grads="x"),
    *row("kept_mean_grad", lambda g, x, label, ignore_index=-100: np.full(x.shape,
         g / _valid(label, ignore_index)), s(v(), v(3, 1), IGNORED), s(v(), v(3), ints(3)),
         grads="g_in"),
    *row("bce_loss", lambda x, y: -np.log(np.where(y == 1, x, 1 - x)),
         s(_soft(2, 3), bools(2, 3).astype(float)), grads="x"),
    *row("bce_loss", lambda x, y: np.array([100.0, 0.0]), s(np.array([0.0, 0.0]), np.array([1.0, 0.0]))),
    *row("sigmoid_cross_entropy_with_logits", lambda x,
         y: -np.log(np.where(y == 1, logistic(x), logistic(-x))),
         s(v(2, 3), bools(2, 3).astype(float)), grads="x"),
    *row("sigmoid_cross_entropy_with_logits", lambda x, y: np.array([0.0, 1e4]),
         s(np.array([1e4, -1e4]), np.array([1.0, 1.0])))
]
