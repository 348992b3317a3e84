"""Measures of a classification: accuracy, and the area under the curve."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, ShapeError
from engine.core.operators.bounds import Reserved
from engine.core.operators.opdef import op
from engine.core.values.dtype import float32, float64, int32
from engine.core.values.spec import Spec


def _infer(
    predict: Spec,
    label: Spec,
    stat_pos: Spec,
    stat_neg: Spec,
    *,
    curve: str,
    num_thresholds: int,
    slide_steps: int,
) -> tuple[Spec, Spec, Spec]:
    if predict.ndim != 2 or predict.shape[1] not in (1, 2, -1):
        raise ShapeError(f"auc: input must be [N, 2], the probabilities of both classes: got {predict}")
    if label.ndim not in (1, 2) or (label.ndim == 2 and label.shape[1] not in (1, -1)):
        raise ShapeError(f"auc: label must be [N, 1] or [N]: got {label}; unsqueeze it")
    if curve not in ("ROC", "PR"):
        raise ArgumentError(f"auc: curve {curve!r} is not one of 'ROC', 'PR'")
    return Spec((), float64), stat_pos, stat_neg


@op(
    "auc",
    infer=_infer,
    outputs=("auc", "stat_pos_out", "stat_neg_out"),
    writes={"stat_pos_out": "stat_pos", "stat_neg_out": "stat_neg"},
    slots={"auc": "AUC"},
)
def auc(
    xp, predict, label, stat_pos, stat_neg, *, curve="ROC", num_thresholds: Reserved = 4095, slide_steps=1
):
    """The area under the curve, from histograms of the probabilities of both classes.

    With ``slide_steps=0`` the histograms count all runs; else the last ``slide_steps`` runs, as that many
    histograms, their sum, and the number of runs.
    """
    bins = num_thresholds + 1
    places = (predict[:, -1].astype("float64") * num_thresholds).astype("int64").clip(0, num_thresholds)
    positive = label.reshape(-1) != 0
    for stat, chosen in ((stat_pos, positive), (stat_neg, ~positive)):
        counted = xp.bincount(places[chosen], minlength=bins).astype(stat.dtype)
        flat = stat.reshape(-1)
        if slide_steps == 0:
            flat[:bins] += counted
        else:
            step = int(flat[-1]) % slide_steps
            oldest = flat[step * bins : (step + 1) * bins]
            total = flat[slide_steps * bins : (slide_steps + 1) * bins]
            total += counted - oldest
            oldest[:] = counted
            flat[-1] += 1
    first = slide_steps * bins
    pos, neg = (s.reshape(-1)[first : first + bins][::-1] for s in (stat_pos, stat_neg))
    return xp.asarray(_area(xp, pos, neg, curve)), stat_pos, stat_neg


def _area(xp: Any, pos: Any, neg: Any, curve: str) -> float:
    """The area by trapezoids, over thresholds from the highest on."""
    true, false = xp.cumsum(pos).astype("float64"), xp.cumsum(neg).astype("float64")
    before_true, before_false = true - pos, false - neg
    if not true[-1] or not false[-1]:
        return 0.0
    if curve == "ROC":
        area = ((false - before_false) * (true + before_true)).sum() / 2
        return float(area / (true[-1] * false[-1]))
    some = (true + false) > 0
    precision = xp.where(some, true / xp.maximum(true + false, 1), 1.0)
    before = xp.where(
        before_true + before_false > 0, before_true / xp.maximum(before_true + before_false, 1), 1.0
    )
    return float(((true - before_true) / true[-1] * (precision + before) / 2).sum())


def _infer_accuracy(values: Spec, indices: Spec, label: Spec) -> tuple[Spec, Spec, Spec]:
    if (
        label.ndim != 2
        or label.shape[1] not in (1, -1)
        or (-1 not in (label.shape[0], indices.shape[0]) and label.shape[0] != indices.shape[0])
    ):
        raise ShapeError(
            f"accuracy: label must have shape [{indices.shape[0]}, 1], one class number a sample: got {label}"
        )
    return Spec((), float32), Spec((), int32), Spec((), int32)


@op(
    "accuracy",
    infer=_infer_accuracy,
    outputs=("accuracy", "correct", "total"),
    slots={"values": "Out", "indices": "Indices", "label": "Label"},
)
def accuracy(xp, values, indices, label):
    """The share of samples whose label is among the indices, with both counts."""
    _infer_accuracy(Spec.of(values), Spec.of(indices), Spec.of(label))
    correct = (indices == label).any(axis=1).sum(dtype=np.int32)
    total = indices.shape[0]
    share = (correct / max(total, 1)).astype(np.float32)
    return xp.asarray(share), xp.asarray(correct), xp.full((), total, np.int32)
