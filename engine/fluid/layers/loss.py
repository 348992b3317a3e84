"""Losses with fluid's formulas and shapes: one row [N, 1] for each sample."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError
from engine.fluid.layers.adapting import adapter
from engine.fluid.renamed.functions import functions, row
from engine.nn import functional
from engine.ops.random import noise
from engine.static.nn.sequence_lengths import padded
from engine.tensor import creation, manipulation, math
from engine.tensor.arguments.promote import is_tensor
from engine.tensor.elementwise import exponential as exponentials
from engine.tensor.reductions import reduction

# fmt: off
ROWS = (
    row("softmax_with_cross_entropy", functional.softmax_with_cross_entropy,
        "logits, label, soft_label: bool = False, ignore_index: int = -100, "
        "numeric_stable_mode: bool = True, return_softmax: bool = False, axis: int = -1",
        """``cross_entropy`` of ``softmax(logits)`` along ``axis``; with ``return_softmax`` the softmax too.

        It is always computed in the stable way.
        """),
    row("square_error_cost", functional.square_error_cost, "input, label",
        "``(input - label)`` squared."),
    row("kldiv_loss", functional.kl_div, "x, target, reduction: str = 'mean', name: str | None = None",
        "``target * (log(target) - x)``, 0 where the target is not positive; x holds logarithms.",
        {"input": "x", "label": "target"}),
    row("log_loss", functional.log_loss, "input, label, epsilon: float = 0.0001, name: str | None = None",
        "``-label * log(input + epsilon) - (1 - label) * log(1 - input + epsilon)``."),
    row("dice_loss", functional.dice_loss, "input, label, epsilon: float = 1e-05",
        "1 minus twice the overlap of probabilities and classes, divided by their sum; the mean of samples."),
    row("npair_loss", functional.npair_loss, "anchor, positive, labels, l2_reg: float = 0.002",
        "The loss of pairs of embeddings, each of which has the others as negatives."),
    row("label_smooth", functional.label_smooth,
        "label, prior_dist=None, epsilon: float = 0.1, dtype='float32', name: str | None = None",
        "``(1 - epsilon) * label + epsilon * prior``, the prior even where ``prior_dist`` is None.",
        unused="dtype"),
    row("mse_loss", functional.mse_loss, "input, label",
        "The mean of ``(input - label)`` squared: [1]."),
)
# fmt: on
globals().update(functions(ROWS, __name__))


IGNORED = -100


@adapter
def cross_entropy(input: Any, label: Any, soft_label: bool = False, ignore_index: int = IGNORED) -> Any:
    """-log of the probability of each sample's class: ``input`` holds probabilities [N, classes].

    ``label`` is int64 [N, 1], or with ``soft_label`` the shares of the classes [N, classes]; the result is
    [N, 1], 0 for a label of ``ignore_index``.
    """
    if not soft_label and len(label.shape) == len(input.shape) - 1:
        label = manipulation.unsqueeze(label, -1)
    return functional.cross_entropy(
        input, label, None, ignore_index if not soft_label else IGNORED, "none", soft_label, -1, False
    )


def cross_entropy2(input: Any, label: Any, ignore_index: int = IGNORED) -> Any:
    """``cross_entropy`` of integers."""
    return cross_entropy(input, label, False, ignore_index)


@adapter
def sigmoid_cross_entropy_with_logits(
    x: Any, label: Any, ignore_index: int = IGNORED, name: str | None = None, normalize: bool = False
) -> Any:
    """The cross entropy of ``sigmoid(x)`` and ``label``, element by element.

    0 where the label is ``ignore_index``; ``normalize`` divides by the number of the others.
    """
    valid = math.cast(label != ignore_index, x.dtype)
    loss = functional.binary_cross_entropy_with_logits(x, math.cast(label, x.dtype), reduction="none") * valid
    return loss / math.clip(reduction.sum(valid), min=1.0) if normalize else loss


@adapter
def smooth_l1(
    x: Any, y: Any, inside_weight: Any = None, outside_weight: Any = None, sigma: float | None = None
) -> Any:
    """Sums over each sample of ``x - y``, squared where it is small: [N, 1].

    With d = inside_weight * (x - y) and s = sigma squared (1): outside_weight times ``s * d * d / 2`` where
    ``|d| < 1 / s``, else ``|d| - 1 / (2 * s)``.
    """
    s = 1.0 if sigma is None else float(sigma) ** 2
    d = x - y if inside_weight is None else (x - y) * inside_weight
    size = math.abs(d)
    near = math.minimum(size, creation.full_like(size, 1.0 / s))
    loss = near * (size - near * 0.5) * s
    if outside_weight is not None:
        loss = loss * outside_weight
    return reduction.sum(manipulation.flatten(loss, 1), 1, keepdim=True)


@adapter
def huber_loss(input: Any, label: Any, delta: float) -> Any:
    """``d * d / 2`` where ``d = label - input`` is at most ``delta``, else ``delta * (|d| - delta / 2)``."""
    size = math.abs(label - input)
    near = math.minimum(size, creation.full_like(size, float(delta)))
    return near * (size - near * 0.5)


@adapter
def rank_loss(label: Any, left: Any, right: Any, name: str | None = None) -> Any:
    """``log(1 + exp(o)) - label * o`` with ``o = left - right``: label 1 where left ranks higher."""
    o = left - right
    return functional.softplus(o) - label * o


@adapter
def margin_rank_loss(label: Any, left: Any, right: Any, margin: float = 0.1, name: str | None = None) -> Any:
    """``max(0, -label * (left - right) + margin)``."""
    return functional.relu(label * (right - left) + margin)


@adapter
def bpr_loss(input: Any, label: Any, name: str | None = None) -> Any:
    """The mean over the other classes of ``-log(sigmoid(score of the label's class - score))``: [N, 1]."""
    classes = int(input.shape[-1])
    if len(label.shape) > 1:
        label = manipulation.squeeze(label, -1)
    chosen = functional.one_hot(label, classes)
    own = reduction.sum(input * chosen, -1, keepdim=True)
    losses = functional.softplus(input - own) * (1.0 - chosen)
    return reduction.sum(losses, -1, keepdim=True) / float(classes - 1)


@adapter
def teacher_student_sigmoid_loss(
    input: Any, label: Any, soft_max_up_bound: float = 15.0, soft_max_lower_bound: float = -15.0
) -> Any:
    """The loss of clicks and of a teacher's score z', both in ``label``: -2, -1, z' or 1 + z'.

    ``log(1 + exp(x)) - x * z`` for a click z, and with a score also ``log(1 + exp(x)) - x * z'``. The bounds
    are accepted; the derivative is that of the formula, also beyond them.
    """
    soft = functional.softplus(input)
    clicked = math.cast((label >= 1.0).logical_or((label < 0.0).logical_and(label >= -1.0)), input.dtype)
    scored = math.cast(label >= 0.0, input.dtype)
    teacher = (label - math.cast(label >= 1.0, input.dtype)) * scored
    return soft * (1.0 + scored) - input * clicked - input * teacher


@adapter
def sampled_softmax_with_cross_entropy(
    logits: Any,
    label: Any,
    num_samples: int,
    num_true: int = 1,
    remove_accidental_hits: bool = True,
    use_customized_samples: bool = False,
    customized_samples: Any = None,
    customized_probabilities: Any = None,
    seed: int = 0,
) -> Any:
    """The cross entropy of ``label`` [N, 1] among ``num_samples`` drawn classes instead of all: [N, 1].

    ``logits`` are the scores of all classes. The classes are drawn by a log-uniform distribution, or given as
    ``customized_samples`` [N, 1 + num_samples], the label first, and how often each is expected. Those drawn
    that are a row's label don't count with ``remove_accidental_hits``. Raises ArgumentError for a
    ``num_true`` other than 1.
    """
    if num_true != 1:
        raise ArgumentError(
            f"sampled_softmax_with_cross_entropy: num_true is {num_true}: one class is right for each "
            "row; use 1"
        )
    given = (customized_samples, customized_probabilities) if use_customized_samples else (None, None)
    _, _, scores, places = noise.sample_logits(
        logits,
        label,
        *given,
        num_samples=int(num_samples),
        use_customized_samples=bool(use_customized_samples),
        remove_accidental_hits=bool(remove_accidental_hits),
        seed=int(seed),
    )
    return functional.softmax_with_cross_entropy(scores, places)


@adapter
def cos_sim(X: Any, Y: Any) -> Any:
    """The cosine of the angle between the rows of X and Y (whose one row may stand for all): [N, 1]."""
    lengths = exponentials.sqrt((X * X).sum(-1, keepdim=True)) * exponentials.sqrt(
        (Y * Y).sum(-1, keepdim=True)
    )
    return (X * Y).sum(-1, keepdim=True) / lengths


@adapter
def fsp_matrix(x: Any, y: Any) -> Any:
    """The products of all channels of x and y, averaged over the positions: [N, channels x, channels y]."""
    columns = int(x.shape[2]) * int(x.shape[3])
    left = manipulation.reshape(x, [0, 0, columns])
    right = manipulation.transpose(manipulation.reshape(y, [0, 0, columns]), [0, 2, 1])
    return left @ right / float(columns)


@adapter
def warpctc(
    input: Any,
    label: Any,
    blank: int = 0,
    norm_by_times: bool = False,
    input_length: Any = None,
    label_length: Any = None,
    use_cudnn: bool = False,
) -> Any:
    """The CTC loss of ``input`` [steps, N, classes + 1] before its softmax: [N, 1].

    ``label`` is [N, labels], the lengths are [N]. Without them both are LoD tensors: ``input``
    [rows, classes + 1] and ``label`` [rows, 1]. Raises ArgumentError where there are no lengths.
    """
    if not is_tensor(input_length) or not is_tensor(label_length):
        logits, labels = padded(input), padded(label)
        if logits is None or labels is None:
            raise ArgumentError(
                "warpctc: input_length and label_length are needed for padded rows; give them, or feed LoD "
                "tensors (layers.data with lod_level=1)"
            )
        input, input_length = manipulation.transpose(logits[0], [1, 0, 2]), logits[1]
        label, label_length = manipulation.flatten(labels[0], 1), labels[1]
    losses = functional.ctc_loss(input, label, input_length, label_length, blank, "none", norm_by_times)
    return manipulation.reshape(losses, [-1, 1])
