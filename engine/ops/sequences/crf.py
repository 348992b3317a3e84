"""Conditional random fields over sequences of tags: the loss of given tags, and the likeliest ones.

Sequences are rows of a batch, padded to one length. A transition has the scores of the first tag in row 0,
those of the last tag in row 1, and from row 2 on those of each tag (column) after another (row).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, OutOfRangeError, ShapeError
from engine.core.operators import traits
from engine.core.operators.infer import require_floating, require_integers
from engine.core.operators.opdef import op
from engine.core.values.dtype import int64
from engine.core.values.spec import Spec
from engine.kernels.cpu.products import product

Array = Any


def _agrees(*sizes: int) -> bool:
    return len({n for n in sizes if n >= 0}) < 2


def _check(where: str, emission: Spec, transition: Spec, label: Spec | None, length: Spec) -> None:
    require_floating(where, emission=emission, transition=transition)
    require_integers(where, label=label, length=length)
    if emission.ndim != 3:
        raise ShapeError(
            f"{where}: the emission must be [batch, time, tags]: got {emission}; pad the sequences"
        )
    batch, time, tags = emission.shape
    if transition.ndim != 2 or not _agrees(tags, transition.shape[1], transition.shape[0] - 2):
        raise ShapeError(
            f"{where}: the transition must be [tags + 2, tags], {tags} tags as in the emission: got "
            f"{transition}"
        )
    wanted = ((batch,), (batch, 1))
    if (
        length.ndim not in (1, 2)
        or not _agrees(batch, length.shape[0])
        or length.shape[1:] not in ((), (1,), (-1,))
    ):
        raise ShapeError(f"{where}: length must be one of {wanted}: got {length}; one for each sequence")
    if label is not None and (
        label.ndim not in (2, 3)
        or not (_agrees(batch, label.shape[0]) and _agrees(time, label.shape[1]))
        or label.shape[2:] not in ((), (1,), (-1,))
    ):
        raise ShapeError(f"{where}: the label must be [{batch}, {time}] or [{batch}, {time}, 1]: got {label}")


def _checked_lengths(where: str, length: Array, time: int) -> Array:
    lengths = length.reshape(-1)
    if lengths.size and (int(lengths.min()) < 0 or int(lengths.max()) > time):
        wrong = lengths[(lengths < 0) | (lengths > time)][0]
        raise OutOfRangeError(
            f"{where}: {int(wrong)} is not a length of sequences padded to {time}; use 0 to {time}"
        )
    return lengths


def _shared(xp: Any, weights: Array, counts: Array, where: str) -> tuple[Array, Array]:
    """Weights as shares of their sums, and the logarithm of the sums; those of rows that don't count are
    0."""
    sums = weights.sum(-1, keepdims=True)
    if not bool(((sums > 0) | ~counts[:, None]).all()):
        raise ArgumentError(
            f"{where}: the probabilities of all unfinished sequences must be above 0: scores are not "
            "numbers, or "
            "too far apart for their dtype; scale them down"
        )
    sums = xp.where(counts[:, None], sums, 1)
    return weights / sums * counts[:, None], xp.log(sums[:, 0])


def _infer_crf(emission: Spec, transition: Spec, label: Spec, length: Spec) -> tuple[Spec, ...]:
    _check("linear_chain_crf", emission, transition, label, length)
    return emission, emission, transition, emission.with_shape((emission.shape[0], 1))


_OUTPUTS = ("alpha", "emission_exps", "transition_exps", "log_likelihood")


# order(1): the gradient walks over the sequences anew; a second one would have to differentiate that walk.
@traits.order(1)
@op("linear_chain_crf", infer=_infer_crf, outputs=_OUTPUTS)
def linear_chain_crf(xp, emission, transition, label, length):
    """-log of the probability of each sequence of tags, [batch, 1]; 0 for a sequence of length 0.

    Lafferty et al., Conditional random fields (2001). ``alpha`` are the shares of the tags at each time, of
    all beginnings of sequences; the others are exponentials for the gradient.
    """
    where = "linear_chain_crf"
    _infer_crf(Spec.of(emission), Spec.of(transition), Spec.of(label), Spec.of(length))
    batch, time, tags = emission.shape
    lengths = _checked_lengths(where, length, time)
    most = emission.max(-1, keepdims=True) if tags else emission[..., :0]
    exps, steps = xp.exp(emission - most), xp.exp(transition)
    alpha = xp.zeros(emission.shape, emission.dtype)
    log_sums = xp.zeros(batch, emission.dtype)
    weights = steps[0] * exps[:, 0] if time else None
    for t in range(time):
        counts = t < lengths
        if t:
            weights = exps[:, t] * product(xp, alpha[:, t - 1], steps[2:])
        alpha[:, t], log_sum = _shared(xp, weights, counts, where)
        log_sums += xp.where(counts, log_sum + most[:, t, 0], 0)
    rows, some = xp.arange(batch), lengths > 0
    ends = (alpha[rows, lengths - 1] * steps[1]).sum(-1) if time else log_sums
    log_sums += xp.log(xp.where(some, ends, 1))
    scores = _score_of(xp, emission, transition, label.reshape(batch, time), lengths)
    losses = xp.where(some, log_sums - scores, 0)
    return alpha, exps, steps, losses[:, None].astype(emission.dtype, copy=False)


def _score_of(xp: Any, emission: Array, transition: Array, label: Array, lengths: Array) -> Array:
    """The score of the given tags of each sequence [batch]."""
    batch, time, tags = emission.shape
    inside = xp.arange(time)[None, :] < lengths[:, None]
    wrong = inside & ((label < 0) | (label >= tags))
    if bool(wrong.any()):
        raise OutOfRangeError(
            f"linear_chain_crf: label {int(label[wrong][0])} is not one of {tags} tags; use 0 to {tags - 1}"
        )
    if not time or not batch:
        return xp.zeros(batch, emission.dtype)
    tag = xp.where(inside, label, 0)
    scores = (xp.take_along_axis(emission, tag[:, :, None], axis=2)[..., 0] * inside).sum(1)
    scores += (transition[tag[:, :-1] + 2, tag[:, 1:]] * inside[:, 1:]).sum(1)
    last = tag[xp.arange(batch), xp.maximum(lengths - 1, 0)]
    return scores + xp.where(lengths > 0, transition[0, tag[:, 0]] + transition[1, last], 0)


# order(0): see above.
@traits.order(0)
@op(
    "linear_chain_crf_grad",
    infer=lambda g_in, label, length, alpha, emission_exps, transition_exps: (alpha, transition_exps),
    outputs=("emission_grad", "transition_grad"),
    slots={
        "g_in": "LogLikelihood@GRAD",
        "emission_grad": "Emission@GRAD",
        "transition_grad": "Transition@GRAD",
    },
)
def _crf_grad(xp, g_in, label, length, alpha, emission_exps, transition_exps):
    """The probability of each tag and of each transition, less those of the given tags, times ``g_in``."""
    where = "linear_chain_crf_grad"
    batch, time, tags = alpha.shape
    lengths, steps, exps = length.reshape(-1), transition_exps, emission_exps
    inside = xp.arange(time)[None, :] < lengths[:, None]
    beta = xp.zeros(alpha.shape, alpha.dtype)
    after = None
    for t in range(time - 1, -1, -1):
        weights = xp.broadcast_to(steps[1], (batch, tags))
        if after is not None:
            weights = xp.where((lengths == t + 1)[:, None], weights, product(xp, after, steps[2:].T))
        beta[:, t], _ = _shared(xp, weights, inside[:, t], where)
        after = exps[:, t] * beta[:, t]
    tag = xp.where(inside, label.reshape(batch, time), 0)
    given = (xp.arange(tags) == tag[:, :, None]) & inside[:, :, None]
    shares = alpha * beta
    shares /= xp.where(inside, shares.sum(-1), 1)[:, :, None]
    of_emission = (shares - given) * g_in.reshape(-1, 1, 1)
    of_transition = xp.zeros(steps.shape, steps.dtype)
    if not time or not batch:
        return of_emission.astype(alpha.dtype, copy=False), of_transition
    of_transition[0] = of_emission[:, 0].sum(0)
    of_transition[1] = (of_emission[xp.arange(batch), lengths - 1] * (lengths > 0)[:, None]).sum(0)
    arriving, _ = _shared(xp, (beta * exps).reshape(-1, tags), inside.reshape(-1), where)
    arriving = arriving.reshape(alpha.shape)[:, 1:]
    # sums[n, t]: over all pairs of tags, the weight of the transition between t and t + 1.
    sums = (product(xp, alpha[:, :-1], steps[2:]) * arriving).sum(-1)
    factor = xp.where(inside[:, 1:], g_in.reshape(-1, 1) / xp.where(sums > 0, sums, 1), 0)
    left, right = (alpha[:, :-1] * factor[:, :, None]).reshape(-1, tags), arriving.reshape(-1, tags)
    pairs = product(xp, left.T, right) * steps[2:]
    counted = (given[:, :-1] * g_in.reshape(-1, 1, 1)).reshape(-1, tags).astype(pairs.dtype, copy=False)
    pairs -= product(xp, counted.T, given[:, 1:].reshape(-1, tags).astype(pairs.dtype))
    of_transition[2:] = pairs
    return of_emission.astype(alpha.dtype, copy=False), of_transition


@linear_chain_crf.grad_all("emission", "transition")
def _crf_rule(
    g_log_likelihood: Any, label: Any, length: Any, alpha: Any, emission_exps: Any, transition_exps: Any
) -> Any:
    if g_log_likelihood is None:  # only the other outputs are used, which carry no gradient
        return None, None
    return _crf_grad(g_log_likelihood, label, length, alpha, emission_exps, transition_exps)


def _infer_decoding(emission: Spec, transition: Spec, length: Spec, label: Spec | None = None) -> Spec:
    _check("crf_decoding", emission, transition, label, length)
    return Spec(emission.shape[:2], int64)


@op("crf_decoding", infer=_infer_decoding, outputs=("viterbi_path",))
def crf_decoding(xp, emission, transition, length, label=None):
    """The likeliest tags of each sequence, 0 after its end; with a label, 1 where it has these tags, else
    0."""
    where = "crf_decoding"
    _infer_decoding(*(Spec.of(each) for each in (emission, transition, length)))
    batch, time, tags = emission.shape
    lengths = _checked_lengths(where, length, time)
    path, rows = xp.zeros((batch, time), np.int64), xp.arange(batch)
    if not path.size:
        return path
    before = xp.zeros((time, batch, tags), np.int64)
    scores = transition[0] + emission[:, 0]
    for t in range(1, time):
        through = scores[:, :, None] + transition[2:]
        before[t] = through.argmax(1)
        scores = xp.where((t < lengths)[:, None], through.max(1) + emission[:, t], scores)
    tag = (scores + transition[1]).argmax(1)
    for t in range(time - 1, -1, -1):
        inside = t < lengths
        path[:, t] = xp.where(inside, tag, 0)
        if t:
            tag = xp.where(inside, before[t, rows, tag], tag)
    if label is None:
        return path
    inside = xp.arange(time)[None, :] < lengths[:, None]
    return ((label.reshape(batch, time) == path) & inside).astype(np.int64)
