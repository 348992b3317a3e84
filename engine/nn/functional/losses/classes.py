"""Losses over very many classes: a tree of sigmoids, and margins between angles."""

from __future__ import annotations

from typing import Any, Literal

from engine.core.errors import ArgumentError, ShapeError
from engine.nn.functional.losses.reducing import check_reduction, in_dtype, reduced
from engine.ops.activations import smooth
from engine.ops.arrays import creation, index, shape
from engine.ops.elementwise import arithmetic, comparison, extremes, trigonometry
from engine.ops.reductions import reduce
from engine.ops.sequences import trees
from engine.ops.training import losses
from engine.program.build.calls import takes_name
from engine.tensor.tensor_like import AnyTensor


@takes_name
def hsigmoid_loss(
    input: AnyTensor,
    label: AnyTensor,
    num_classes: int,
    weight: AnyTensor,
    bias: AnyTensor | None = None,
    path_table: AnyTensor | None = None,
    path_code: AnyTensor | None = None,
    is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """Cross entropy of the decisions on the way to each class in a binary tree: Morin and Bengio (2005).

    ``input`` is [N, size], ``label`` [N] or [N, 1], ``weight`` [inner nodes, size], ``bias`` [inner nodes,
    1]; the result is [N, 1]. The tree is a complete one, with num_classes - 1 inner nodes, unless
    ``path_table`` and ``path_code`` [N, depth] say which nodes each sample passes (negative: none) and where
    to turn.
    ``is_sparse`` asks for sparse gradients; they are dense here, with the same values.

    Differs from Paddle: a way shorter than the longest costs nothing more; Paddle 2.6.2 adds the constant
    log(2) for each node it is shorter by.
    """
    if num_classes < 2:
        raise ArgumentError(f"hsigmoid_loss: num_classes must be 2 or more: got {num_classes}")
    if (path_table is None) != (path_code is None):
        raise ArgumentError("hsigmoid_loss: path_table and path_code come together: got one of them")
    if input.ndim != 2 or weight.ndim != 2:
        raise ShapeError(
            f"hsigmoid_loss: input must be [N, size] and weight [nodes, size]: got {list(input.shape)} and "
            f"{list(weight.shape)}"
        )
    if path_table is None:
        nodes, turns, inside = trees.complete_tree_paths(label, num_classes=int(num_classes))
    else:
        zero = creation.fill_like(path_table, value=0)
        inside = comparison.greater_equal(path_table, zero)
        nodes, turns = index.where(inside, path_table, zero), path_code
    scores = reduce.sum(
        arithmetic.multiply(index.gather(weight, nodes, axis=0), shape.unsqueeze(input, axes=[1])),
        axis=[-1],
        keepdim=False,
        reduce_all=False,
    )
    if bias is not None:
        scores = scores + shape.squeeze(index.gather(bias, nodes, axis=0), axes=[-1])
    # softplus(score) - turn * score is the cross entropy of one decision.
    each = smooth.softplus(scores, threshold=1e4) - arithmetic.cast(turns, out_dtype=scores.dtype) * scores
    each = each * arithmetic.cast(inside, out_dtype=scores.dtype)
    return reduce.sum(each, axis=[-1], keepdim=True, reduce_all=False)


def margin_cross_entropy(
    logits: AnyTensor,
    label: AnyTensor,
    margin1: float = 1.0,
    margin2: float = 0.5,
    margin3: float = 0.0,
    scale: float = 64.0,
    group: Literal[False] | None = None,
    return_softmax: bool = False,
    reduction: str | None = "mean",
) -> Any:
    """Cross entropy of ``scale`` times cosines, that of the label's class made harder first.

    Its cosine becomes cos(margin1 * angle + margin2) - margin3: Deng et al., ArcFace (2019). ``logits`` [N,
    classes] are cosines, ``label`` [N] or [N, 1]. ``group`` is for one process only: None or False.

    Differs from Paddle: it works on the CPU too.
    """
    where = "margin_cross_entropy"
    if reduction is not None:
        check_reduction(where, reduction)
    if group is not None and group is not False:
        raise ArgumentError(f"{where}: group must be None or False here: got {group!r}")
    if logits.ndim != 2 or label.ndim not in (1, 2):
        raise ShapeError(
            f"{where}: logits must be [N, classes] and label [N]: got {list(logits.shape)} and "
            f"{list(label.shape)}"
        )
    column = shape.unsqueeze(label, axes=[1]) if label.ndim == 1 else label
    cosine = losses.pick_class(logits, column, axis=1, ignore_index=-1 << 62)
    # At 1 itself the angle has no finite derivative.
    angle = trigonometry.acos(extremes.clip(cosine, min=1e-7 - 1.0, max=1.0 - 1e-7))
    harder = trigonometry.cos(arithmetic.scale(angle, scale=float(margin1), bias=float(margin2)))
    change = arithmetic.scale(harder, bias=-float(margin3)) - cosine
    count = int(logits.shape[1])
    numbers = shape.constant(shape=[1, count], values=list(range(count)), dtype=column.dtype.name)
    chosen = in_dtype(comparison.equal(column, numbers), logits.dtype)
    moved = arithmetic.scale(logits + chosen * change, scale=float(scale))
    softmax, loss = losses.softmax_with_cross_entropy(moved, column, axis=1)
    loss = reduced(loss, reduction or "none")
    return (loss, softmax) if return_softmax else loss
