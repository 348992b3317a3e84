"""Random operators: each draw is a function of the key (seed, offset) that the mode hands to the kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.dtype import as_dtype, int64
from engine.core.errors import ArgumentError, OutOfRangeError, ShapeError
from engine.core.infer import require_floating, require_integers
from engine.core.opdef import op
from engine.core.random import numpy_generator
from engine.core.spec import Spec
from engine.ops.arrays.creation import sizes
from engine.ops.arrays.sort import sorting_order
from engine.ops.elementwise import arithmetic


def _generator(key: Any, seed: int) -> Any:
    """The generator of a draw; the operator's own seed, where it has one, fixes its numbers."""
    return numpy_generator((seed, 0) if seed else key)


def _of_shape(dims: Any = None, *, shape: Any, dtype: str, **_: Any) -> Spec:
    return Spec(shape, dtype)


_SLOTS = {"dims": "ShapeTensorList"}  # the sizes that are -1 in ``shape``, as tensors


@op("uniform_random", infer=_of_shape, slots=_SLOTS)
def uniform(xp, dims: list | None = None, *, shape, dtype="float32", min=-1.0, max=1.0, seed=0, key):
    """Evenly distributed over [min, max)."""
    drawn = _generator(key, seed).random(sizes(shape, dims)) * (max - min) + min
    return xp.asarray(drawn, dtype=as_dtype(dtype).np)


@op("gaussian_random", infer=_of_shape, slots=_SLOTS)
def gaussian(xp, dims: list | None = None, *, shape, dtype="float32", mean=0.0, std=1.0, seed=0, key):
    """Normally distributed."""
    drawn = _generator(key, seed).standard_normal(sizes(shape, dims)) * std + mean
    return xp.asarray(drawn, dtype=as_dtype(dtype).np)


@op("randint", infer=_of_shape, slots=_SLOTS)
def randint(xp, dims: list | None = None, *, low, high, shape, dtype="int64", seed=0, key):
    """Whole numbers from low, below high."""
    drawn = _generator(key, seed).integers(low, high, sizes(shape, dims))
    return xp.asarray(drawn, dtype=as_dtype(dtype).np)


def _infer_permutation(*, n: int, dtype: str, **_: Any) -> Spec:
    if n < 0:
        raise ArgumentError(f"randperm: n must not be negative: got {n}")
    return Spec((n,), dtype)


@op("randperm", infer=_infer_permutation)
def randperm(xp, *, n, dtype="int64", seed=0, key):
    """The numbers 0 to n-1 in random order."""
    _infer_permutation(n=n, dtype=dtype)
    return xp.asarray(_generator(key, seed).permutation(n), dtype=as_dtype(dtype).np)


def _of_x(where: str) -> Any:
    def infer(x: Spec, **_: Any) -> Spec:
        require_floating(where, x=x)
        return x

    return infer


def _require_floating(x: Any) -> None:
    if x.dtype.kind != "f":
        raise TypeError("not floating")  # inference explains what is wrong


@op("uniform_random_inplace", infer=_of_x("uniform_"))
def uniform_like(xp, x, *, min=-1.0, max=1.0, seed=0, key):
    """Evenly distributed over [min, max), in the shape and dtype of x."""
    _require_floating(x)
    return xp.asarray(_generator(key, seed).random(x.shape) * (max - min) + min, dtype=x.dtype)


@op("gaussian_inplace", infer=_of_x("normal_"))
def gaussian_like(xp, x, *, mean=0.0, std=1.0, seed=0, key):
    """Normally distributed, in the shape and dtype of x."""
    _require_floating(x)
    return xp.asarray(_generator(key, seed).standard_normal(x.shape) * std + mean, dtype=x.dtype)


def _infer_exponential(x: Spec, *, lam: float = 1.0) -> Spec:
    require_floating("exponential_", x=x)
    if lam <= 0:
        raise ArgumentError(f"exponential_: lam is the rate, above 0: got {lam}")
    return x


@op("exponential", infer=_infer_exponential)
def exponential_like(xp, x, *, lam=1.0, key):
    """Exponentially distributed with rate ``lam``, in the shape and dtype of x; never 0."""
    _require_floating(x)
    if lam <= 0:
        raise ValueError("not above 0")  # inference explains what is wrong
    drawn = -np.log1p(-numpy_generator(key).random(x.shape)) / lam
    return xp.asarray(np.maximum(drawn, np.finfo(x.dtype).tiny), dtype=x.dtype)


@op("bernoulli", infer=_of_x("bernoulli"))
def bernoulli(xp, x, *, key):
    """1 with the probability that x gives each element, else 0."""
    _require_floating(x)
    if x.size and not bool(((x >= 0) & (x <= 1)).all()):
        raise OutOfRangeError(
            f"bernoulli: x holds probabilities, 0 to 1: got {float(x.min())} to {float(x.max())}"
        )
    return (xp.asarray(numpy_generator(key).random(x.shape)) < x).astype(x.dtype)


@op("poisson", infer=_of_x("poisson"))
def poisson(xp, x, *, key):
    """Poisson distributed with the mean that x gives each element."""
    _require_floating(x)
    if x.size and not bool((x >= 0).all()):
        raise OutOfRangeError(f"poisson: x holds means, 0 or more: the smallest is {float(x.min())}")
    means = x if isinstance(x, np.ndarray) else x.get()
    return xp.asarray(numpy_generator(key).poisson(means.astype(np.float64)), dtype=x.dtype)


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
    wanted = np.asarray(alpha if isinstance(alpha, np.ndarray) else alpha.get(), np.float64)
    generator = numpy_generator(key)
    # Gamma(a) is Gamma(a + 1) u ** (1 / a). In logarithms, as for a small a all of a row would round to 0.
    logs = np.log(generator.standard_gamma(wanted + 1.0)) + np.log1p(-generator.random(wanted.shape)) / wanted
    shares = np.exp(logs - logs.max(axis=-1, keepdims=True, initial=-np.inf))
    return xp.asarray(shares / shares.sum(axis=-1, keepdims=True), dtype=alpha.dtype)


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
def multinomial(xp, x, *, num_samples=1, replacement=False, key):
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
    generator = numpy_generator(key)
    if replacement:
        bounds = np.cumsum(weights, axis=1)
        at = generator.random((len(weights), num_samples)) * bounds[:, -1:]
        drawn = np.stack([np.searchsorted(b, a, side="right") for b, a in zip(bounds, at, strict=True)])
    else:  # the largest of log(weight) + Gumbel noise are such a draw (Efraimidis, Spirakis 2006)
        noise = -np.log(-np.log1p(-generator.random(weights.shape)))
        drawn = np.argsort(-(np.log(weights) + noise), axis=1, kind="stable")[:, :num_samples]
    return xp.asarray(drawn.reshape((*x.shape[:-1], num_samples)), dtype=np.int64)


def _infer_top_p(x: Spec, ps: Spec, threshold: Spec | None = None, **_: Any) -> tuple[Spec, Spec]:
    require_floating("top_p_sampling", x=x, ps=ps)
    if x.ndim != 2 or (ps.size != x.shape[0] and -1 not in (ps.size, x.shape[0])):
        raise ShapeError(
            f"top_p_sampling: x is a matrix of probabilities, ps one number for each of its rows: got {x}, "
            f"{ps}"
        )
    return x.with_shape((x.shape[0], 1)), Spec((x.shape[0], 1), int64)


@op("top_p_sampling", infer=_infer_top_p, outputs=("out", "ids"))
def top_p_sampling(xp, x, ps, threshold=None, *, seed=-1, key):
    """A draw from each row of probabilities among the largest whose sum reaches ``ps``, and its position.

    ``threshold`` excludes less probable elements, but never the most probable one.
    """
    _infer_top_p(Spec.of(x), Spec.of(ps))
    order = sorting_order(xp, x, 1, descending=True)
    ordered = xp.take_along_axis(x, order, axis=1)
    before = xp.cumsum(ordered, axis=1) - ordered
    kept = before < ps.reshape((-1, 1))
    if threshold is not None:
        kept &= ordered >= threshold.reshape((-1, 1))
    kept[:, 0] = True
    bounds = xp.cumsum(ordered * kept, axis=1)
    drawn = xp.asarray(_generator(key, max(seed, 0)).random((len(x), 1))).astype(x.dtype) * bounds[:, -1:]
    place = xp.minimum((bounds <= drawn).sum(axis=1, keepdims=True), kept.sum(axis=1, keepdims=True) - 1)
    ids = xp.take_along_axis(order, place, axis=1)
    return xp.take_along_axis(x, ids, axis=1), ids.astype(np.int64)


def _infer_dropout(
    x: Spec, *, dropout_prob: float, dropout_implementation: str, **_: Any
) -> tuple[Spec, Spec]:
    require_floating("dropout", x=x)
    if not 0 <= dropout_prob <= 1:
        raise ArgumentError(f"dropout: p is the share of elements dropped, 0 to 1: got {dropout_prob}")
    if dropout_implementation not in ("upscale_in_train", "downgrade_in_infer"):
        raise ArgumentError(
            f"dropout: mode {dropout_implementation!r} is not one of upscale_in_train, downgrade_in_infer"
        )
    return x, x


@op("dropout", infer=_infer_dropout, outputs=("out", "mask"))
def dropout(
    xp,
    x,
    *,
    dropout_prob=0.5,
    is_test=False,
    dropout_implementation="upscale_in_train",
    axis=None,
    seed=0,
    key,
):
    """Elements set to zero at random; ``mask`` holds the factor of each element.

    ``axis`` names the dimensions along which elements are dropped independently (all by default). In training
    ``upscale_in_train`` divides kept elements by 1 - p; ``downgrade_in_infer`` multiplies by 1 - p at test
    time instead.
    """
    if not 0 <= dropout_prob <= 1 or dropout_implementation not in ("upscale_in_train", "downgrade_in_infer"):
        raise ValueError("wrong attributes")  # inference explains what is wrong
    upscale = dropout_implementation == "upscale_in_train"
    keep = 1.0 - dropout_prob
    one = x.dtype.type
    if is_test:
        mask = xp.full(x.shape, one(1 if upscale else keep))
    else:
        shape = x.shape if axis is None else tuple(d if n in axis else 1 for n, d in enumerate(x.shape))
        kept = xp.asarray(_generator(key, seed).random(shape) < keep)
        mask = kept.astype(x.dtype) * one((1.0 / keep if keep else 0.0) if upscale else 1.0)
        if axis is not None:  # an array of its own: a plan may write into it
            mask = xp.broadcast_to(mask, x.shape).copy()
    return x * mask, mask


dropout.grad(x=lambda g, mask: arithmetic.multiply(g, mask))


def _infer_sample(label: Spec, *, num_classes: int, num_samples: int) -> tuple[Spec, Spec]:
    require_integers("class_center_sample", label=label)
    if label.ndim != 1:
        raise ShapeError(f"class_center_sample: label must be [N]: got {label}; reshape it")
    return label, Spec((-1,), label.dtype)


@op("class_center_sample", infer=_infer_sample, outputs=("remapped_label", "sampled"),
    slots={"label": "Label", "sampled": "SampledLocalClassCenter"})  # fmt: skip
def class_center_sample(xp, label, *, num_classes, num_samples, key):
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
    drawn = others[xp.asarray(numpy_generator(key).permutation(len(others))[:count])]
    sampled = xp.concatenate([present, drawn.astype(label.dtype)])
    return places.reshape(label.shape).astype(label.dtype), sampled
