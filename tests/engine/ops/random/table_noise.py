"""Rows of the operators in ``engine/ops/random/noise.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, pos, row, s, v

CLASSES = 6


def _share(labels: Any, sampler: int, classes: int, probabilities: Any) -> Any:
    if sampler == 2:
        return probabilities[labels]
    if sampler:
        return np.log((labels + 2) / (labels + 1)) / np.log(classes)
    return np.full(labels.shape, 1 / classes)


def _costs(inputs: Any, labels: Any, true: int, expected: Any) -> Any:
    input, weight, bias, factor = inputs
    scores = np.einsum("nd,ntd->nt", input, weight[labels])
    scores = scores if bias is None else scores + bias.reshape(-1)[labels]
    o = 1 / (1 + np.exp(-scores))
    costs = -np.log(np.where(np.arange(labels.shape[1]) < true, o, expected) / (o + expected))
    return (costs.sum(1, keepdims=True) * (1 if factor is None else factor)), o


def _check_nce(
    results: Any, input: Any, label: Any, weight: Any, bias: Any = None, factor: Any = None,
    probabilities: Any = None,
    *tables: Any, num_total_classes: int, num_neg_samples: int = 10, sampler: int = 0, seed: int = 0,
    custom_neg_classes: Any = (), **_: Any,
) -> None:  # fmt: skip
    cost, logits, labels = results
    np.testing.assert_array_equal(labels[:, : label.shape[1]], label)
    drawn = labels[:, label.shape[1] :]
    assert drawn.shape == (len(label), len(custom_neg_classes) or num_neg_samples)
    assert ((drawn >= 0) & (drawn < num_total_classes)).all()
    if len(custom_neg_classes):
        np.testing.assert_array_equal(drawn, np.tile(custom_neg_classes, (len(label), 1)))
    expected = _share(labels, sampler, num_total_classes, probabilities) * num_neg_samples
    wanted, o = _costs((input, weight, bias, factor), labels, label.shape[1], expected)
    np.testing.assert_allclose(logits, o, rtol=1e-6)
    np.testing.assert_allclose(cost, wanted, rtol=1e-6)
    if num_neg_samples > 1000:
        frequent = np.bincount(drawn.reshape(-1), minlength=num_total_classes) / drawn.size
        every = _share(np.arange(num_total_classes), sampler, num_total_classes, probabilities)
        # Paddle's log-uniform sampler never draws the last class.
        drawable = num_total_classes - (sampler == 1)
        np.testing.assert_allclose(frequent[:drawable], every[:drawable], atol=0.03)


def _check_nce_grad(
    results: Any, g: Any, input: Any, label: Any, weight: Any, logits: Any, labels: Any, bias: Any = None,
    factor: Any = None, probabilities: Any = None, *, num_total_classes: int, num_neg_samples: int = 10,
    sampler: int = 0,
) -> None:  # fmt: skip
    """By differences of the costs of the same classes."""
    expected = _share(labels, sampler, num_total_classes, probabilities) * num_neg_samples
    given = [input, weight, bias]
    for which, found in enumerate(results):
        for place in np.ndindex(found.shape):
            sides = []
            for sign in (1, -1):
                moved = list(given)
                moved[which] = moved[which].copy()
                moved[which][place] += sign * 1e-5
                sides.append((_costs((*moved, factor), labels, label.shape[1], expected)[0] * g).sum())
            np.testing.assert_allclose(found[place], (sides[0] - sides[1]) / 2e-5, rtol=1e-5, atol=1e-8)


def _tables() -> Any:
    """Probabilities of six classes, and Walker's tables of them, made by hand."""
    probabilities = np.array([1, 1, 1, 1, 1, 7]) / 12
    aliases = np.array([5, 5, 5, 5, 5, -1])
    return probabilities, aliases, np.array([0.5] * 5 + [1.0])


def _check_sample(
    results: Any, logits: Any, labels: Any, samples: Any = None, shares: Any = None, *, num_samples: int,
    use_customized_samples: bool = False, remove_accidental_hits: bool = True, **_: Any,
) -> None:  # fmt: skip
    drawn, expected, scores, places = results
    true = labels.shape[1]
    np.testing.assert_array_equal(drawn[:, :true], labels)
    np.testing.assert_array_equal(places, np.tile(np.arange(true), (len(labels), 1)))
    assert drawn.shape == (len(logits), true + num_samples)
    if use_customized_samples:
        np.testing.assert_array_equal(drawn, samples)
        np.testing.assert_allclose(expected, shares)
    elif len(logits):
        others = drawn[:, true:]
        assert (others == others[0]).all()
        assert len(set(others[0].tolist())) == num_samples
    wanted = np.take_along_axis(logits, drawn, 1) - np.log(expected)
    hits = (drawn[:, :, None] == labels[:, None, :]).any(-1) & (np.arange(drawn.shape[1]) >= true)
    np.testing.assert_allclose(scores, wanted - 1e20 * (hits & remove_accidental_hits), rtol=1e-6)


def _of_given_classes(
    input: Any, label: Any, weight: Any, bias: Any, factor: Any, *tables: Any, num_total_classes: int,
    num_neg_samples: int = 10, custom_neg_classes: Any = (),
) -> Any:  # fmt: skip
    labels = np.concatenate([label, np.tile(custom_neg_classes, (len(label), 1))], 1)
    expected = np.full(labels.shape, np.float32(1 / num_total_classes) * np.float32(num_neg_samples), float)
    return *_costs((input, weight, bias, factor), labels, label.shape[1], expected), labels


def _of_given_samples(logits: Any, labels: Any, samples: Any, shares: Any, **_: Any) -> Any:
    scores = np.take_along_axis(logits, samples, 1) - np.log(shares)
    return samples, shares, scores, np.tile(np.arange(labels.shape[1]), (len(labels), 1))


INPUTS = (v(3, 4), np.array([[0], [5], [2]]), v(CLASSES, 4, seed=1))
BIAS, FACTOR = v(CLASSES, 1, seed=2), pos(3, 1)
TWO = np.array([[0, 1], [5, 2], [2, 2]])
DRAWN = np.array([[0, 1, 1, 4], [5, 5, 0, 3], [2, 0, 0, 1]])
SAMPLES = np.array([[4, 1, 4, 0], [2, 3, 1, 0]])


NO_TABLES = (None, None, None)
NO_MORE = (None, None, *NO_TABLES)
LOGITS = _costs((INPUTS[0], INPUTS[2], BIAS, None), DRAWN, 1, 1.0)[1]
ONE = np.array([[0], [4], [8]])
GIVEN = (v(2, 5), SAMPLES[:, :1], SAMPLES, pos(2, 4))


CASES: list[Case] = [
    *row("nce", None, s(*INPUTS, *NO_MORE, num_total_classes=CLASSES),
         s(*INPUTS, BIAS, FACTOR, *NO_TABLES, num_total_classes=CLASSES, num_neg_samples=2000),
         s(*INPUTS, BIAS, None, *NO_TABLES, num_total_classes=CLASSES, num_neg_samples=2000, sampler=1,
           seed=3),
         s(*INPUTS, None, None, *_tables(), num_total_classes=CLASSES, num_neg_samples=2000, sampler=2),
         s(INPUTS[0], TWO, INPUTS[2], BIAS[:, 0], None, *NO_TABLES, num_total_classes=CLASSES,
           num_neg_samples=2, custom_neg_classes=(3, 4)),
         s(v(0, 4), np.zeros((0, 1), int), INPUTS[2], *NO_MORE, num_total_classes=CLASSES), check=_check_nce),
    *row("nce", _of_given_classes, s(*INPUTS, BIAS, FACTOR, *NO_TABLES, num_total_classes=CLASSES,
         num_neg_samples=3, custom_neg_classes=(3, 4, 3)), grads="input weight bias", through=(0,)),
    *row("sample_logits", _of_given_samples, s(*GIVEN, num_samples=3, use_customized_samples=True,
         remove_accidental_hits=False), grads="logits", through=(2,)),
    *row("nce_grad", None,
         s(v(3, 1), *INPUTS, LOGITS, DRAWN, BIAS, None, None, num_total_classes=CLASSES),
         s(v(3, 1), INPUTS[0], TWO, INPUTS[2], LOGITS, DRAWN, BIAS, FACTOR, None, num_total_classes=CLASSES,
           sampler=1), check=_check_nce_grad),
    *row("sample_logits", None, s(v(3, 9), ONE, None, None, num_samples=4, seed=5),
         s(v(3, 9), ONE, None, None, num_samples=9),
         s(v(2, 5), np.array([[0, 3], [4, 1]]), None, None, num_samples=2),
         s(*GIVEN, num_samples=3, use_customized_samples=True),
         s(*GIVEN, num_samples=3, use_customized_samples=True, remove_accidental_hits=False),
         check=_check_sample)
]
