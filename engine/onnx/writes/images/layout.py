"""What rows of images share: the order of dimensions, paddings, shapes that are known when the model runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError
from engine.core.operators.windows import explicit_padding, is_last
from engine.onnx.writes.graph import Graph, Value
from engine.onnx.writes.sizes import Size

END = np.iinfo(np.int64).max  # as the end of a slice: up to the last element


def channels_first(g: Graph, x: Value, data_format: str, write: Callable[[Value], Value]) -> Value:
    """What ``write`` gives for x [N, C, ...], in the order of dimensions that x has."""
    rank = x.ndim - 2
    if not is_last("onnx.export", data_format, rank):
        return write(x)
    moved = g.transposed(x, [0, rank + 1, *range(1, rank + 1)])
    shape = [x.shape[0], x.shape[-1], *x.shape[1:-1]]
    made = write(Value(moved.name, x.spec.with_shape(shape) if x.spec else None))
    return g.transposed(made, [0, *range(2, rank + 2), 1])


def padding(rank: int, paddings: Sequence[int], algorithm: str) -> dict[str, Any]:
    """The attributes ``pads`` or ``auto_pad`` of a node."""
    if algorithm == "SAME":
        return {"auto_pad": "SAME_UPPER"}
    pairs = ((0, 0),) * rank if algorithm == "VALID" else explicit_padding("onnx.export", paddings, rank)
    return {"pads": [before for before, _ in pairs] + [after for _, after in pairs]}


def unwritable(g: Graph, reason: str) -> ArgumentError:
    """The error for the operator that is written now: ONNX can't express it as it is used here."""
    return ArgumentError(f"onnx.export: {g.operator.opdef.name}: {reason}; at {g.operator.where()}")


def padded(g: Graph, x: Value, pairs: Sequence[tuple[int, int]], number: complex | np.generic = 0) -> Value:
    """A number before and after each dimension; negative amounts cut off."""
    made = x
    cut = [axis for axis, pair in enumerate(pairs) if min(pair) < 0]
    if cut:
        starts = [max(-pairs[axis][0], 0) for axis in cut]
        ends = [min(pairs[axis][1], 0) or END for axis in cut]
        made = g.Slice(x, starts, ends, cut)
    amounts = [max(before, 0) for before, _ in pairs] + [max(after, 0) for _, after in pairs]
    if any(amounts):
        return g.Pad(made, amounts, g.like(number, x))
    return g.Identity(x) if made is x else made


def dimension(g: Graph, x: Value, axis: int) -> Size:
    """A dimension: a number where it is known, else a Value int64 [1]."""
    size = x.shape[axis]
    return size if size >= 0 else g.Gather(g.Shape(x), [axis])


def times(g: Graph, size: Size, factor: int) -> Size:
    return size * factor if isinstance(size, int) else g.Mul(size, [factor])


def plus(g: Graph, size: Size, more: int) -> Size:
    return size + more if isinstance(size, int) else g.Add(size, [more])


def over(g: Graph, size: Size, divisor: int) -> Size:
    return size // divisor if isinstance(size, int) else g.Div(size, [divisor])


def reshaped(g: Graph, x: Value, sizes: Sequence[Any]) -> Value:
    """x with a shape of numbers and Values int64 [1]; one of them may be -1."""
    return g.Reshape(x, joined(g, sizes))


def joined(g: Graph, sizes: Sequence[Any]) -> list[Size] | Value:
    """Numbers and Values int64 [1] as one vector."""
    if all(isinstance(size, int) for size in sizes):
        return list(sizes)
    return g.Concat(*[[size] if isinstance(size, int) else size for size in sizes], axis=0)
