"""Random operators whose numbers follow distributions that an input gives: categories, counts, shares."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, OutOfRangeError, ShapeError
from engine.core.operators.bounds import Number, Reserved, Size
from engine.core.operators.infer import floating_as_x, require_floating, require_integers
from engine.core.operators.opdef import op
from engine.core.random.generator import draws_of, host_draws_of
from engine.core.values.dtype import int64
from engine.core.values.spec import Spec
from engine.ops.arrays.sort import sorting_order
from engine.ops.elementwise import arithmetic
from engine.ops.random.gamma import gamma_numbers
from engine.ops.random.poisson import LARGEST, poisson_numbers


def _require_floating(x: Any) -> None:
    if x.dtype.kind != "f":
        raise TypeError("not floating")  # inference explains the error


@op("poisson", infer=floating_as_x("poisson"))
def poisson(xp, x, *, key):
    """Poisson distributed with the mean that x gives each element."""
    _require_floating(x)
    if x.size and not bool((x >= 0).all()):
        raise OutOfRangeError(f"poisson: x holds means, 0 or more: the smallest is {float(x.min())}")
    if x.size and not bool((x < LARGEST).all()):
        raise OutOfRangeError(f"poisson: x holds means below {LARGEST}: the largest is {float(x.max())}")
    means = x if isinstance(x, np.ndarray) else x.get()
    with host_draws_of(key) as draws:
        drawn = poisson_numbers(draws, means.reshape(-1).tolist())
    return xp.asarray(drawn, dtype=x.dtype).reshape(x.shape)


poisson.grad(x=lambda g: arithmetic.scale(g, scale=0.0))


def _infer_dirichlet(alpha: Spec) -> Spec:
    require_floating("dirichlet", alpha=alpha)
    if alpha.ndim < 1:
        raise ShapeError("dirichlet: alpha has no dimension; give one number for each share")
    return alpha


@op("dirichlet", infer=_infer_dirichlet, slots={"alpha": "Alpha"})
def dirichlet(xp, alpha, *, key):
    """Shares along the last axis that sum to 1, with the concentrations ``alpha``, above 0."""
    _infer_dirichlet(Spec.of(alpha))
    if alpha.size and not bool((alpha > 0).all()):
        raise OutOfRangeError(f"dirichlet: alpha is above 0: the smallest is {float(alpha.min())}")
    wanted = alpha if isinstance(alpha, np.ndarray) else alpha.get()
    kind = np.float64 if alpha.dtype == np.float64 else np.float32
    with host_draws_of(key) as draws:
        numbers, logs = gamma_numbers(draws, wanted.reshape(-1).tolist(), kind)
    gammas = np.array(numbers, kind).reshape(wanted.shape)
    sums = gammas.sum(axis=-1, keepdims=True)
    if not (sums > 0).all():  # all gammas of a row are too small for the dtype: Paddle divides 0 by 0
        small = np.array(logs).reshape(wanted.shape)
        small = np.exp(small - small.max(axis=-1, keepdims=True))
        gammas = np.where(sums > 0, gammas, small).astype(kind)
        sums = gammas.sum(axis=-1, keepdims=True)
    return xp.asarray(gammas / sums, dtype=alpha.dtype)


def _infer_multinomial(x: Spec, *, num_samples: int = 1, replacement: bool = False) -> Spec:
    require_floating("multinomial", x=x)
    if x.ndim not in (1, 2):
        raise ShapeError(f"multinomial: x is one row of weights or several: got {x}; reshape it")
    if num_samples < 1 or (not replacement and 0 <= x.shape[-1] < num_samples):
        raise ArgumentError(
            f"multinomial: {num_samples} samples of {x.shape[-1]} categories without replacement; "
            "draw from 1 to that many, or pass replacement=True"
        )
    return Spec((*x.shape[:-1], num_samples), int64)


@op("multinomial", infer=_infer_multinomial)
def multinomial(xp, x, *, num_samples: Size = 1, replacement=False, key):
    """Category numbers drawn by the weights in each row of x, with or without replacement."""
    _infer_multinomial(Spec.of(x), num_samples=num_samples, replacement=replacement)
    weights = np.asarray(x if isinstance(x, np.ndarray) else x.get(), np.float64).reshape(-1, x.shape[-1])
    if not ((weights >= 0) & np.isfinite(weights)).all() or not weights.any(axis=1).all():
        raise ArgumentError(
            "multinomial: weights must be finite, not negative, and one of each row above 0: "
            f"got {weights.min()} to {weights.max()}"
        )
    most = int((weights > 0).sum(axis=1).min())
    if not replacement and num_samples > most:
        raise ArgumentError(
            f"multinomial: {num_samples} samples of a row with {most} weights above 0; draw fewer, or "
            "pass replacement=True"
        )
    kind = np.float64 if x.dtype == np.float64 else np.float32
    with host_draws_of(key) as draws:
        at = draws.uniform((len(weights), num_samples), kind)
    bounds: np.ndarray[Any, Any] = np.cumsum(weights, axis=1, dtype=kind)
    bounds /= bounds[:, -1:].copy()
    if replacement:
        bounds[:, -1] = 1
        drawn = np.stack([np.searchsorted(b, a) for b, a in zip(bounds, at, strict=True)])
    else:
        drawn = np.stack([_without(bounds, at[:, n]) for n in range(num_samples)], axis=1)
    return xp.asarray(drawn.reshape((*x.shape[:-1], num_samples)), dtype=np.int64)


def _without(bounds: Any, at: Any) -> Any:
    """The category of each row whose interval holds ``at``; its share is taken out of ``bounds``."""
    rows = np.arange(len(bounds))
    bounds[:, -1] = 1
    # A binary search, as bounds may fall by a rounding error.
    left, right = np.zeros_like(rows), np.full_like(rows, bounds.shape[1])
    while (open_ := right > left).any():
        middle = (left + right) // 2
        below = open_ & (bounds[rows, np.minimum(middle, bounds.shape[1] - 1)] < at)
        left, right = np.where(below, middle + 1, left), np.where(open_ & ~below, middle, right)
    share = bounds[rows, left] - np.where(left > 0, bounds[rows, left - 1], 0)
    later = np.arange(bounds.shape[1]) >= left[:, None]
    np.subtract(bounds, share[:, None].astype(bounds.dtype), out=bounds, where=later)
    bounds /= (1.0 - share.astype(np.float64)).astype(bounds.dtype)[:, None]
    return left


def _infer_top_p(x: Spec, ps: Spec, threshold: Spec | None = None, **_: Any) -> tuple[Spec, Spec]:
    require_floating("top_p_sampling", x=x, ps=ps)
    if x.ndim != 2 or (ps.size != x.shape[0] and -1 not in (ps.size, x.shape[0])):
        raise ShapeError(
            f"top_p_sampling: x is a matrix of probabilities, ps one number for each of its rows: got {x}, "
            f"{ps}"
        )
    return x.with_shape((x.shape[0], 1)), Spec((x.shape[0], 1), int64)


@op("top_p_sampling", infer=_infer_top_p, outputs=("out", "ids"))
def top_p_sampling(xp, x, ps, threshold=None, *, seed: Number = -1, key):
    """A draw from each row of probabilities among the largest whose sum reaches ``ps``, and its position.

    ``threshold`` excludes less probable elements, but never the most probable one.
    """
    _infer_top_p(Spec.of(x), Spec.of(ps))
    order = sorting_order(xp, x, 1, descending=True)
    ordered = xp.take_along_axis(x, order, axis=1)
    before = xp.cumsum(ordered, axis=1) - ordered
    valid = before < ps.reshape((-1, 1))
    if threshold is not None:
        valid &= ordered >= threshold.reshape((-1, 1))
    valid[:, 0] = True
    bounds = xp.cumsum(ordered * valid, axis=1)
    with draws_of(key, max(seed, 0)) as draws:
        drawn = xp.asarray(draws.uniform((len(x), 1), x.dtype)) * bounds[:, -1:]
    place = xp.minimum((bounds <= drawn).sum(axis=1, keepdims=True), valid.sum(axis=1, keepdims=True) - 1)
    ids = xp.take_along_axis(order, place, axis=1)
    return xp.take_along_axis(x, ids, axis=1), ids.astype(np.int64)


def _infer_sample(label: Spec, *, num_classes: int, num_samples: int) -> tuple[Spec, Spec]:
    require_integers("class_center_sample", label=label)
    if label.ndim != 1:
        raise ShapeError(f"class_center_sample: label must be [N]: got {label}; reshape it")
    return label, Spec((-1,), label.dtype)


@op(
    "class_center_sample",
    infer=_infer_sample,
    outputs=("remapped_label", "sampled"),
    slots={"label": "Label", "sampled": "SampledLocalClassCenter"},
)
def class_center_sample(xp, label, *, num_classes: Reserved, num_samples: Size, key):
    """The classes of the labels with others drawn up to num_samples, and the labels' positions in them."""
    if label.size and (int(label.min()) < 0 or int(label.max()) >= num_classes):
        wrong = label[(label < 0) | (label >= num_classes)][0]
        raise OutOfRangeError(
            f"class_center_sample: label {int(wrong)} is not a class of {num_classes}; use 0 to "
            f"{num_classes - 1}"
        )
    present, places = xp.unique(label, return_inverse=True)
    count = max(num_samples - len(present), 0)
    absent = xp.ones(num_classes, bool)
    absent[present] = False
    others = xp.flatnonzero(absent)
    with draws_of(key) as draws:
        drawn = others[xp.asarray(draws.permutation(len(others))[:count])]
    sampled = xp.concatenate([present, drawn.astype(label.dtype)])
    return places.reshape(label.shape).astype(label.dtype), sampled
