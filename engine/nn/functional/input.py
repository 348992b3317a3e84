"""Turning class numbers into vectors, with Paddle's signatures."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError, DTypeError
from engine.ops.arrays import embedding as ops
from engine.ops.arrays import index
from engine.program.build.calls import named
from engine.tensor.arguments import sizes
from engine.tensor.tensor_like import AnyTensor


def one_hot(x: AnyTensor, num_classes: int, name: str | None = None) -> Any:
    """float32 rows of zeros with a one at the class: ``x.shape + [num_classes]``.

    Raises OutOfRangeError for a class outside 0 to num_classes - 1, DTypeError for classes that are not
    integers.
    """
    if name:
        return named(name, one_hot, x, num_classes)
    if not x.dtype.is_integer:
        raise DTypeError(f"one_hot: x must be integers: got {x.dtype.name}{x.shape}; cast it to int64")
    depth = sizes.whole("one_hot", num_classes)
    if not sizes.is_later(depth) and depth < 1:
        raise ArgumentError(f"one_hot: num_classes must be 1 or more: got {num_classes}")
    return index.one_hot(x, depth=depth)


def embedding(
    x: AnyTensor,
    weight: AnyTensor,
    padding_idx: int | None = None,
    sparse: bool = False,
    name: str | None = None,
) -> Any:
    """The rows of ``weight`` [rows, size] at the numbers in ``x``: ``x.shape + [size]``.

    Positions of ``padding_idx`` are zero and give no gradient. ``sparse`` asks for gradients of the rows used
    only; here they are dense, with the same values. Raises OutOfRangeError for a number that is not a row.
    """
    if name:
        return named(name, embedding, x, weight, padding_idx, sparse)
    index_of_padding = -1
    if padding_idx is not None:
        rows = int(weight.shape[0])
        if rows >= 0 and not -rows <= padding_idx < rows:
            raise ArgumentError(
                f"embedding: padding_idx {padding_idx} is not a row of {rows}; use {-rows} to {rows - 1}"
            )
        index_of_padding = padding_idx % rows if rows >= 0 else padding_idx
    return ops.lookup(x, weight, is_sparse=bool(sparse), padding_idx=index_of_padding)
