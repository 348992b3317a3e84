"""Losses of unaligned sequences as operators: CTC and the transducer's."""

from __future__ import annotations

from typing import Any

from engine.core.errors import DTypeError, OutOfRangeError, ShapeError
from engine.core.operators import traits
from engine.core.operators.bounds import Size
from engine.core.operators.infer import require_floating
from engine.core.operators.opdef import op
from engine.core.values.spec import Spec
from engine.ops.sequences.alignments import Ctc, Transducer, log_softmax


def _check(where: str, batch: int, label: Spec, times: Spec, lengths: Spec) -> None:
    for name, spec in (("labels", label), ("input_lengths", times), ("label_lengths", lengths)):
        if not spec.dtype.is_integer:
            raise DTypeError(f"{where}: {name} are integers: got {spec}; cast them to int32")
        if spec.ndim != (2 if name == "labels" else 1) or (
            -1 not in (spec.shape[0], batch) and spec.shape[0] != batch
        ):
            wanted = "[batch, length]" if name == "labels" else "[batch]"
            raise ShapeError(f"{where}: for a batch of {batch} {name} must be {wanted}: got {spec}")


def _check_values(
    where: str, label: Any, times: Any, lengths: Any, time: int, most: int, classes: int, blank: int
) -> None:
    if not 0 <= blank < classes:
        raise OutOfRangeError(f"{where}: blank {blank} is not one of the classes 0 to {classes - 1}")
    for name, values, high in (("input_lengths", times, time), ("label_lengths", lengths, most)):
        if values.size and (int(values.min()) < 0 or int(values.max()) > high):
            wrong = values[(values < 0) | (values > high)][0]
            raise OutOfRangeError(
                f"{where}: {int(wrong)} in {name} is not a length of {high} steps; use 0 to {high}"
            )
    for n in range(len(lengths)):
        used = label[n, : int(lengths[n])]
        wrong = used[(used < 0) | (used >= classes) | (used == blank)]
        if wrong.size:
            what = "the blank" if int(wrong[0]) == blank else f"not a class of {classes}"
            raise OutOfRangeError(
                f"{where}: label {int(wrong[0])} of sample {n} is {what}; use 0 to {classes - 1} without "
                f"{blank}"
            )


def _infer_ctc(logits: Spec, label: Spec, logits_length: Spec, labels_length: Spec, **_: Any) -> Spec:
    require_floating("ctc_loss", log_probs=logits)
    if logits.ndim != 3:
        raise ShapeError(f"ctc_loss: log_probs must be [time, batch, classes]: got {logits}; transpose it")
    _check("ctc_loss", logits.shape[1], label, logits_length, labels_length)
    return logits.with_shape((logits.shape[1], 1))


_CTC = {
    "logits": "Logits",
    "label": "Label",
    "logits_length": "LogitsLength",
    "labels_length": "LabelLength",
    "loss": "Loss",
}


def _lattice(xp: Any, logits: Any, label: Any, times: Any, lengths: Any, blank: int) -> Ctc:
    _infer_ctc(Spec.of(logits), Spec.of(label), Spec.of(times), Spec.of(lengths))
    time, _, classes = logits.shape
    _check_values("ctc_loss", label, times, lengths, time, label.shape[1], classes, blank)
    return Ctc(xp, log_softmax(xp, logits), label, times, lengths, blank)


# order(1): the gradient sums over alignments anew; a second one would have to differentiate those sums.
@traits.order(1)
@op("warpctc", infer=_infer_ctc, outputs=("loss",), slots=_CTC)
def ctc(xp, logits, label, logits_length, labels_length, *, blank: Size = 0, norm_by_times=False):
    """-log of the probability of each label, summed over its alignments: [batch, 1]; 0 if there is none."""
    _, total = _lattice(xp, logits, label, logits_length, labels_length, blank).forward()
    return xp.where(xp.isfinite(total), -total, 0.0).astype(logits.dtype, copy=False)[:, None]


@traits.order(0)
@op(
    "warpctc_grad",
    infer=lambda g_in, logits, *_, **__: logits,
    slots={**_CTC, "g_in": "Loss@GRAD", "out": "Logits@GRAD"},
)
def _ctc_grad(xp, g_in, logits, label, logits_length, labels_length, *, blank: Size = 0, norm_by_times=False):
    """softmax minus the probability of each class given the label, at the steps that count."""
    lattice = _lattice(xp, logits, label, logits_length, labels_length, blank)
    occupied, possible = lattice.occupancy(logits.shape[2])
    steps = xp.arange(logits.shape[0])[:, None] < logits_length[None, :]
    factor = g_in[:, 0] / xp.maximum(logits_length, 1).astype(g_in.dtype) if norm_by_times else g_in[:, 0]
    result = (xp.exp(log_softmax(xp, logits)) - occupied) * factor[None, :, None]
    return xp.where((steps & possible[None, :])[:, :, None], result, 0.0).astype(logits.dtype, copy=False)


ctc.grad(
    logits=lambda g, logits, label, logits_length, labels_length, **attrs: _ctc_grad(
        g, logits, label, logits_length, labels_length, **attrs
    )
)


def _infer_rnnt(input: Spec, label: Spec, input_lengths: Spec, label_lengths: Spec, **_: Any) -> Spec:
    require_floating("rnnt_loss", input=input)
    if input.ndim != 4:
        raise ShapeError(f"rnnt_loss: input must be [batch, time, labels + 1, classes]: got {input}")
    _check("rnnt_loss", input.shape[0], label, input_lengths, label_lengths)
    if -1 not in (input.shape[2], label.shape[1]) and input.shape[2] != label.shape[1] + 1:
        raise ShapeError(
            f"rnnt_loss: labels are {label}, so dimension 2 of input must be {label.shape[1] + 1}: "
            f"got {input}"
        )
    return input.with_shape((input.shape[0],))


def _transducer(xp: Any, input: Any, label: Any, times: Any, lengths: Any, blank: int) -> Transducer:
    _infer_rnnt(Spec.of(input), Spec.of(label), Spec.of(times), Spec.of(lengths))
    _, time, _, classes = input.shape
    _check_values("rnnt_loss", label, times, lengths, time, label.shape[1], classes, blank)
    return Transducer(xp, input, label, times, lengths, blank)


# order(1): as for CTC.
@traits.order(1)
@op("warprnnt", infer=_infer_rnnt, outputs=("loss",))
def rnnt(xp, input, label, input_lengths, label_lengths, *, blank: Size = 0, fastemit_lambda=0.0):
    """-log of the probability of each label, summed over its paths through the transducer's lattice."""
    _, total = _transducer(xp, input, label, input_lengths, label_lengths, blank).forward()
    return (-total).astype(input.dtype, copy=False)


@traits.order(0)
@op(
    "warprnnt_grad",
    infer=lambda g_in, input, *_, **__: input,
    slots={"g_in": "Loss@GRAD", "out": "Input@GRAD"},
)
def _rnnt_grad(xp, g_in, input, label, input_lengths, label_lengths, *, blank: Size = 0, fastemit_lambda=0.0):
    """Minus the probability that a path takes each arc; those of labels times 1 + fastemit_lambda."""
    lattice = _transducer(xp, input, label, input_lengths, label_lengths, blank)
    blanks, labels = lattice.arcs()
    result = xp.zeros(input.shape, input.dtype)
    result[..., blank] = -blanks
    most = label.shape[1]
    if most:
        index = xp.broadcast_to(lattice.chosen[:, None, :, None], (*labels[:, :, :most].shape, 1))
        add = xp.take_along_axis(result[:, :, :most], index, axis=3)[..., 0]
        add = add - labels[:, :, :most] * (1.0 + fastemit_lambda)
        classes = xp.arange(input.shape[3])
        result[:, :, :most] = xp.where(classes == index, add[..., None], result[:, :, :most])
    return (result * g_in[:, None, None, None]).astype(input.dtype, copy=False)


rnnt.grad(
    input=lambda g, input, label, input_lengths, label_lengths, **attrs: _rnnt_grad(
        g, input, label, input_lengths, label_lengths, **attrs
    )
)
