"""Sequence masks, sequences of beams, sparse attention, samples of classes, diagonals."""

from __future__ import annotations

from typing import Any, Literal

from engine.core.errors import ArgumentError, ShapeError
from engine.core.values.dtype import as_dtype
from engine.nn.functional.attention import FORBIDDEN, scaled
from engine.nn.functional.windows import Whole
from engine.ops.activations import softmax
from engine.ops.arrays import shape
from engine.ops.elementwise import arithmetic
from engine.ops.linalg import products as linalg
from engine.ops.random import sampling
from engine.ops.sequences import masks, trees
from engine.program.build.calls import takes_name
from engine.tensor.arguments.promote import is_tensor
from engine.tensor.elements import diagonals
from engine.tensor.tensor_like import AnyTensor, DTypeLike


@takes_name
def sequence_mask(
    x: AnyTensor,
    maxlen: Whole | AnyTensor | None = None,
    dtype: DTypeLike = "int64",
    name: str | None = None,
) -> Any:
    """1 at the places below each length in x, along a new last dimension of ``maxlen`` (the largest length).

    ``maxlen`` is a number or a tensor of one.
    """
    kind = as_dtype(dtype).name
    if is_tensor(maxlen):
        return masks.sequence_mask(x, maxlen, out_dtype=kind)
    if maxlen is not None and maxlen < 1:
        raise ArgumentError(f"sequence_mask: maxlen must be 1 or more: got {maxlen}")
    return masks.sequence_mask(x, maxlen=-1 if maxlen is None else int(maxlen), out_dtype=kind)


def gather_tree(ids: AnyTensor, parents: AnyTensor) -> Any:
    """Whole sequences of a beam search from the ids and parents [time, batch, beams] of every step."""
    return trees.gather_tree(ids, parents)


def diag_embed(input: AnyTensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """Matrices with the last dimension of ``input`` on their diagonals; the same as paddle.diag_embed."""
    return diagonals.diag_embed(input, offset, dim1, dim2)


def class_center_sample(
    label: AnyTensor, num_classes: int, num_samples: int, group: Literal[False] | None = None
) -> tuple[Any, Any]:
    """The classes that ``label`` [N] names with others drawn at random, ``num_samples`` in all.

    Gives the labels as places among these classes, and the classes. Where the labels name more classes than
    ``num_samples``, all of them are kept: An et al., Partial FC (2020). ``group`` is for one process only:
    None or False.
    """
    if group is not None and group is not False:
        raise ArgumentError(f"class_center_sample: group must be None or False here: got {group!r}")
    if num_samples > num_classes:
        raise ArgumentError(
            f"class_center_sample: num_samples {num_samples} is more than num_classes {num_classes}"
        )
    if label.ndim != 1 or label.shape[0] == 0:
        raise ShapeError(f"class_center_sample: label must be [N], not empty: got {list(label.shape)}")
    places, classes = sampling.class_center_sample(
        label, num_classes=int(num_classes), num_samples=int(num_samples)
    )
    return places, classes


@takes_name
def sparse_attention(
    query: AnyTensor,
    key: AnyTensor,
    value: AnyTensor,
    sparse_csr_offset: AnyTensor,
    sparse_csr_columns: AnyTensor,
    key_padding_mask: AnyTensor | None = None,
    attn_mask: AnyTensor | None = None,
    name: str | None = None,
) -> Any:
    """Attention over [batch, heads, length, size] where each query looks at some keys only.

    Row i of a head looks at the keys ``columns[offset[i]:offset[i + 1]]``. Keys are masked where
    ``key_padding_mask`` [batch, length] or ``attn_mask`` [length, length] is 0.

    Differs from Paddle: it works on every device; all scores are computed, and those outside dropped.
    """
    for label, x in (("query", query), ("key", key), ("value", value)):
        if x.ndim != 4:
            raise ShapeError(
                f"sparse_attention: {label} must be [batch, heads, length, size]: got {list(x.shape)}"
            )
    scores = linalg.matmul(scaled(query), key, trans_y=True)
    seen = masks.csr_mask(sparse_csr_offset, sparse_csr_columns, shape.detach(scores))
    scores = scores + _forbidden(arithmetic.cast(seen, out_dtype=scores.dtype))
    if key_padding_mask is not None:
        scores = scores + shape.unsqueeze(_forbidden(_zero_or_one(key_padding_mask, scores)), axes=[1, 2])
    if attn_mask is not None:
        scores = scores + _forbidden(_zero_or_one(attn_mask, scores))
    return linalg.matmul(softmax.softmax(scores, axis=-1), value)


def _zero_or_one(mask: Any, like: Any) -> Any:
    return arithmetic.cast(arithmetic.cast(mask, out_dtype="bool"), out_dtype=like.dtype)


def _forbidden(mask: Any) -> Any:
    """0 where the mask is 1, a large negative number where it is 0."""
    return arithmetic.scale(mask, scale=-FORBIDDEN, bias=FORBIDDEN)
