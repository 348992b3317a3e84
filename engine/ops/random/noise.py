"""Losses over a few drawn classes instead of all: noise-contrastive estimation, and the sampled softmax.

The classes drawn with a seed are those of Paddle 2.6.2 on the CPU.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, OutOfRangeError, ShapeError
from engine.core.operators import traits
from engine.core.operators.bounds import Number, Size
from engine.core.operators.infer import require_floating, require_integers
from engine.core.operators.opdef import op
from engine.core.random.draws import Draws
from engine.core.random.generator import Key, host_draws_of
from engine.core.values.dtype import int64
from engine.core.values.spec import Spec
from engine.kernels.cpu.products import product
from engine.ops.arrays.along_axis import put_along_zeros

Array = Any

UNIFORM, LOG_UNIFORM, CUSTOM = range(3)
"""The values of the attribute ``sampler``."""

_LARGE = 1e20  # taken from the scores of drawn classes that are labels, and the limit of infinite logarithms


def _on_host(x: Array) -> Array:
    return x if isinstance(x, np.ndarray) else x.get()


def _log_uniform(draws: Draws, classes: int, count: int, log_range: float) -> Array:
    """Classes whose probability falls with their number, as words by their frequency (Zipf)."""
    drawn = np.exp(draws.uniform((count,), np.float64) * log_range).astype(np.int64) - 1
    return drawn % classes


def _log_uniform_probability(labels: Array, log_range: np.float32) -> Array:
    return (np.log((labels + 2.0) / (labels + 1.0)) / log_range).astype(np.float32)


def _check_label(where: str, label: Array, classes: int) -> None:
    wrong = label[(label < 0) | (label >= classes)]
    if wrong.size:
        raise OutOfRangeError(
            f"{where}: label {int(wrong.reshape(-1)[0])} is not one of {classes} classes; use 0 to "
            f"{classes - 1}"
        )


# -- noise-contrastive estimation --------------------------------------------------------------------------
def _infer_nce(
    input: Spec,
    label: Spec,
    weight: Spec,
    bias: Spec | None = None,
    sample_weight: Spec | None = None,
    custom_dist_probs: Spec | None = None,
    custom_dist_alias: Spec | None = None,
    custom_dist_alias_probs: Spec | None = None,
    *,
    num_total_classes: int,
    num_neg_samples: int,
    sampler: int,
    custom_neg_classes: Any = (),
    **_: Any,
) -> tuple[Spec, Spec, Spec]:
    require_floating("nce", input=input, weight=weight)
    require_integers("nce", label=label)
    if input.ndim != 2 or label.ndim != 2:
        raise ShapeError(
            f"nce: input and label must be [batch, size] and [batch, labels]: got {input}, {label}"
        )
    if -1 not in (input.shape[0], label.shape[0]) and input.shape[0] != label.shape[0]:
        raise ShapeError(f"nce: input and label must have one batch: got {input}, {label}")
    for name, spec, wanted in (
        ("weight", weight, (num_total_classes, input.shape[1])),
        ("bias", bias, (num_total_classes, 1)),
    ):
        if spec is not None and not spec.agrees(spec.with_shape(wanted[: spec.ndim or 2])):
            raise ShapeError(f"nce: {name} must be {list(wanted)}: got {spec}")
    tables = (custom_dist_probs, custom_dist_alias, custom_dist_alias_probs)
    if sampler not in (UNIFORM, LOG_UNIFORM, CUSTOM) or (
        sampler == CUSTOM and any(t is None or t.size not in (num_total_classes, -1) for t in tables)
    ):
        raise ArgumentError(
            f"nce: sampler is 0 (uniform), 1 (log-uniform) or 2 (with three tables of {num_total_classes} "
            "classes): "
            f"got {sampler} with {tables}"
        )
    if num_total_classes < (2 if sampler == LOG_UNIFORM else 1) or num_neg_samples < 0:
        raise ArgumentError(
            f"nce: no {num_neg_samples} classes can be drawn from {num_total_classes}; check both"
        )
    count = len(custom_neg_classes) or num_neg_samples
    dims = (label.shape[0], -1 if label.shape[1] < 0 else label.shape[1] + count)
    return input.with_shape((input.shape[0], 1)), input.with_shape(dims), Spec(dims, int64)


def _drawn(key: Key, seed: int, count: int, sampler: int, classes: int, aliases: Any) -> Array:
    """``count`` classes by the sampler; ``aliases`` are the two tables of Walker's alias method."""
    with host_draws_of(key, seed) as draws:
        if sampler == UNIFORM:
            return draws.integers(0, classes, (count,))
        if sampler == LOG_UNIFORM:
            return _log_uniform(draws, classes - 1, count, float(np.float32(np.log(classes))))
        others, shares = (_on_host(t).reshape(-1).tolist() for t in aliases)
        scaling = ((1 << 64) - 1) // classes
        drawn = np.empty(count, np.int64)
        for n in range(count):
            while (word := draws.word()) >= scaling * classes:
                pass
            index = word // scaling
            drawn[n] = others[index] if draws.word() * 2.0**-64 > shares[index] else index
        return drawn


def _noise(labels: Array, sampler: int, classes: int, negatives: int, probabilities: Array | None) -> Array:
    """How many of the drawn classes are expected to be each of ``labels``, float32."""
    if sampler == UNIFORM:
        share = np.full(labels.shape, 1.0 / classes, np.float32)
    elif sampler == LOG_UNIFORM:
        share = _log_uniform_probability(labels, np.float32(np.log(classes)))
    else:
        if sampler != CUSTOM or probabilities is None:
            raise ArgumentError(f"nce: sampler is 0, 1 or 2, which needs custom_dist_probs: got {sampler}")
        share = _on_host(probabilities).reshape(-1).astype(np.float32)[labels]
    return share * np.float32(negatives)


_TABLES = "custom_dist_probs", "custom_dist_alias", "custom_dist_alias_probs"


# order(1): the gradient is that of the drawn classes; their cost is not differentiated twice in training.
@traits.order(1)
@op("nce", infer=_infer_nce, outputs=("cost", "sample_logits", "sample_labels"))
def nce(
    xp,
    input,
    label,
    weight,
    bias=None,
    sample_weight=None,
    custom_dist_probs=None,
    custom_dist_alias=None,
    custom_dist_alias_probs=None,
    *,
    num_total_classes: Size,
    num_neg_samples: Size = 10,
    sampler=UNIFORM,
    seed: Number = 0,
    is_sparse=False,
    custom_neg_classes: Number = (),
    key,
):
    """The cost of telling each sample's classes from drawn ones, [batch, 1].

    With o the sigmoid of a class's score and b how often it is expected among the drawn ones, a label costs
    ``-log(o / (o + b))``, a drawn class ``-log(b / (o + b))``. ``sample_labels`` are both kinds of classes,
    ``sample_logits`` their o. Gutmann and Hyvarinen, Noise-contrastive estimation (2010); Mnih and Teh
    (2012).
    """
    tables = (custom_dist_probs, custom_dist_alias, custom_dist_alias_probs)
    _infer_nce(
        *(Spec.of(each) for each in (input, label, weight)),
        *(None if each is None else Spec.of(each) for each in (bias, sample_weight, *tables)),
        num_total_classes=num_total_classes,
        num_neg_samples=num_neg_samples,
        sampler=sampler,
        custom_neg_classes=custom_neg_classes,
    )
    _check_label("nce", label, num_total_classes)
    batch = label.shape[0]
    if len(custom_neg_classes):
        others = np.broadcast_to(np.array(custom_neg_classes, np.int64), (batch, len(custom_neg_classes)))
        _check_label("nce", others, num_total_classes)
    else:
        count = batch * num_neg_samples
        others = _drawn(key, seed, count, sampler, num_total_classes, tables[1:]).reshape(
            batch, num_neg_samples
        )
    labels = xp.concatenate([label.astype(np.int64), xp.asarray(others)], axis=1)
    logits = product(xp, weight[labels], input[:, :, None])[..., 0]
    if bias is not None:
        logits = logits + bias.reshape(-1)[labels]
    with np.errstate(over="ignore", divide="ignore"):
        logits = 1 / (1 + xp.exp(-logits))
        b = xp.asarray(
            _noise(_on_host(labels), sampler, num_total_classes, num_neg_samples, custom_dist_probs)
        )
        costs = -xp.log(xp.where(xp.arange(labels.shape[1]) < label.shape[1], logits, b) / (logits + b))
    if sample_weight is not None:
        costs = costs * sample_weight.reshape(-1, 1)
    return costs.sum(1, keepdims=True).astype(input.dtype), logits.astype(input.dtype, copy=False), labels


# order(0): see above.
@traits.order(0)
@op(
    "nce_grad",
    infer=lambda g_in, input, label, weight, logits, labels, bias=None, *rest, **_: (
        input, weight, bias or weight.with_shape((weight.shape[0], 1))
    ),
    outputs=("input_grad", "weight_grad", "bias_grad"),
    slots={
        "g_in": "Cost@GRAD",
        "logits": "SampleLogits",
        "labels": "SampleLabels",
        "input_grad": "Input@GRAD",
        "weight_grad": "Weight@GRAD",
        "bias_grad": "Bias@GRAD",
    },
)  # fmt: skip
def _nce_grad(
    xp,
    g_in,
    input,
    label,
    weight,
    logits,
    labels,
    bias=None,
    sample_weight=None,
    custom_dist_probs=None,
    *,
    num_total_classes: Size,
    num_neg_samples: Size = 10,
    sampler=UNIFORM,
):
    """The gradients of the scores of the classes, times what the scores are made of."""
    b = xp.asarray(_noise(_on_host(labels), sampler, num_total_classes, num_neg_samples, custom_dist_probs))
    of_label = b / (logits + b) * (logits - 1)
    slopes = xp.where(
        xp.arange(labels.shape[1]) < label.shape[1], of_label, logits * (1 - logits) / (logits + b)
    )
    if sample_weight is not None:
        slopes = slopes * sample_weight.reshape(-1, 1)
    slopes = (slopes * g_in.reshape(-1, 1)).astype(input.dtype, copy=False)
    of_input = product(xp, slopes[:, None, :], weight[labels])[:, 0]
    of_weight = xp.zeros(weight.shape, weight.dtype)
    xp.add.at(of_weight, labels, slopes[:, :, None] * input[:, None, :])
    of_bias = xp.zeros((weight.shape[0], 1) if bias is None else bias.shape, weight.dtype)
    xp.add.at(of_bias.reshape(-1), labels, slopes)
    return of_input, of_weight, of_bias


@nce.grad_all("input", "weight", "bias")
def _nce_rule(
    g_cost: Any,
    input: Any,
    label: Any,
    weight: Any,
    sample_logits: Any,
    sample_labels: Any,
    bias: Any,
    sample_weight: Any,
    custom_dist_probs: Any,
    num_total_classes: int,
    num_neg_samples: int,
    sampler: int,
) -> Any:
    if g_cost is None:  # only the other outputs are used, which carry no gradient
        return None, None, None
    of_input, of_weight, of_bias = _nce_grad(
        g_cost, input, label, weight, sample_logits, sample_labels, bias, sample_weight, custom_dist_probs,
        num_total_classes=num_total_classes, num_neg_samples=num_neg_samples, sampler=sampler,
    )  # fmt: skip
    return of_input, of_weight, None if bias is None else of_bias


# -- sampled softmax ---------------------------------------------------------------------------------------
def _infer_sample(
    logits: Spec,
    labels: Spec,
    customized_samples: Spec | None = None,
    customized_probabilities: Spec | None = None,
    *,
    num_samples: int,
    use_customized_samples: bool = False,
    **_: Any,
) -> tuple[Spec, Spec, Spec, Spec]:
    where = "sample_logits"
    require_floating(where, logits=logits)
    require_integers(where, labels=labels)
    if logits.ndim != 2 or labels.ndim != 2:
        raise ShapeError(
            f"{where}: logits and labels must be [batch, classes] and [batch, true]: got {logits}, {labels}"
        )
    if -1 not in (logits.shape[0], labels.shape[0]) and logits.shape[0] != labels.shape[0]:
        raise ShapeError(f"{where}: logits and labels must have one batch: got {logits}, {labels}")
    if not use_customized_samples and (num_samples < 1 or 0 <= logits.shape[1] < num_samples):
        raise ArgumentError(
            f"{where}: no {num_samples} different classes can be drawn from {logits.shape[1]}; use 1 to "
            f"{logits.shape[1]}"
        )
    dims = (labels.shape[0], -1 if labels.shape[1] < 0 else labels.shape[1] + num_samples)
    for name, spec in (("samples", customized_samples), ("probabilities", customized_probabilities)):
        if use_customized_samples and (spec is None or not spec.agrees(spec.with_shape(dims))):
            raise ShapeError(f"{where}: customized_{name} must be {list(dims)}, labels first: got {spec}")
    return Spec(dims, int64), logits.with_shape(dims), logits.with_shape(dims), Spec(labels.shape, int64)


def _drawn_once(key: Key, seed: int, classes: int, count: int, log_range: np.float32) -> tuple[Array, int]:
    """``count`` different classes in the order in which they are drawn first, and the draws that it takes."""
    found: dict[int, None] = {}
    tries = 0
    with host_draws_of(key, seed) as draws:
        numbers = draws.one_by_one()
        while len(found) < count:
            tries += 1
            found.setdefault((int(np.exp(next(numbers) * float(log_range))) - 1) % classes)
    return np.array(list(found), np.int64), tries


@op(
    "sample_logits",
    infer=_infer_sample,
    outputs=("samples", "probabilities", "sampled_logits", "sampled_labels"),
)
def sample_logits(
    xp,
    logits,
    labels,
    customized_samples=None,
    customized_probabilities=None,
    *,
    num_samples: Size,
    use_customized_samples=False,
    uniq=True,
    remove_accidental_hits=True,
    seed: Number = 0,
    key,
):
    """The scores of the labels, then of drawn classes, less the logarithm of how often each is expected.

    All rows share the drawn classes, ``num_samples`` different ones of a log-uniform distribution. With
    ``remove_accidental_hits`` those that are a row's label count for nothing. ``sampled_labels`` are the
    places of the labels among the samples. Jean et al., On using very large target vocabulary (2015).
    """
    customized = (customized_samples, customized_probabilities)
    _infer_sample(
        Spec.of(logits),
        Spec.of(labels),
        *(None if each is None else Spec.of(each) for each in customized),
        num_samples=num_samples,
        use_customized_samples=use_customized_samples,
    )
    (batch, classes), true = logits.shape, labels.shape[1]
    _check_label("sample_logits", labels, classes)
    if use_customized_samples:
        samples, shares = customized_samples.astype(np.int64), customized_probabilities.astype(logits.dtype)
        _check_label("sample_logits", samples, classes)
    else:
        log_range = np.float32(np.log(classes + 1))
        drawn, tries = _drawn_once(key, seed, classes, num_samples, log_range)
        every = np.concatenate([_on_host(labels), np.broadcast_to(drawn, (batch, num_samples))], axis=1)
        share = _log_uniform_probability(every, log_range).astype(logits.dtype)
        share = share * num_samples if tries == num_samples else -np.expm1(tries * np.log1p(-share))
        samples, shares = xp.asarray(every.astype(np.int64)), xp.asarray(share.astype(logits.dtype))
    scores = xp.take_along_axis(logits, samples, axis=1)
    if remove_accidental_hits:
        hits = (samples[:, true:, None] == labels[:, None, :]).any(-1)
        scores[:, true:] -= hits * scores.dtype.type(_LARGE)
    with np.errstate(divide="ignore"):
        expected = _tolerable(xp, xp.log(shares))
    places = xp.broadcast_to(xp.arange(true, dtype=np.int64), labels.shape).copy()
    return samples, shares, _tolerable(xp, scores - expected), places


def _tolerable(xp: Any, x: Array) -> Array:
    return xp.where(xp.isinf(x), xp.sign(x) * x.dtype.type(_LARGE), x).astype(x.dtype, copy=False)


@sample_logits.grad_all("logits")
def _sample_rule(g_sampled_logits: Any, logits_like: Any, samples: Any) -> Any:
    """Back to the places that the scores come from."""
    return (
        None if g_sampled_logits is None else put_along_zeros(g_sampled_logits, logits_like, samples, axis=1)
    )
