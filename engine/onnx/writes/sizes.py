"""Sizes of tensors in rows: integers where they are known, else Values that are computed when the model runs.

A Size is an integer, or a Value of int64 with shape [1].
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

import numpy as np

from engine.core.values.spec import Spec
from engine.onnx.writes.graph import Graph, Value

Size = int | Value

LAST = 2**63 - 1  # as the end of a slice: to the last element
_FEW = 1024  # integers that the file holds instead of a node that counts
BEFORE_FIRST = -LAST  # as the end of a slice in reverse order: to the first element


def typed(x: Value, shape: Sequence[int], dtype: str) -> Value:
    """A result on a row's way, with the Spec that the row knows."""
    return Value(x.name, Spec(tuple(shape), dtype))


def size(g: Graph, x: Value, axis: int) -> Size:
    """The size of a dimension."""
    axis %= x.ndim
    return x.shape[axis] if x.shape[axis] >= 0 else g.Shape(x, start=axis, end=axis + 1)


def sizes(g: Graph, x: Value, start: int = 0, end: int | None = None) -> list[Size]:
    """The sizes of dimensions, by default of all."""
    return [size(g, x, axis) for axis in range(x.ndim)[start:end]]


_ON_NUMBERS: dict[str, Callable[[int, int], int]] = {
    "Add": operator.add, "Sub": operator.sub, "Mul": operator.mul, "Div": operator.floordiv,
    "Max": max, "Min": min,
}  # fmt: skip
_NEUTRAL = {"Add": 0, "Sub": 0, "Mul": 1, "Div": 1}


def computed(g: Graph, kind: str, one: Size, other: Size) -> Size:
    """``Add``, ``Sub``, ``Mul``, ``Div``, ``Max`` or ``Min`` of two Sizes."""
    if isinstance(one, int) and isinstance(other, int):
        return _ON_NUMBERS[kind](one, other)
    if isinstance(other, int) and other == _NEUTRAL.get(kind):
        return one
    if isinstance(one, int) and one == _NEUTRAL.get(kind) and kind in ("Add", "Mul"):
        return other
    made: Value = getattr(g, kind)(vector(g, one), vector(g, other))
    return made


def total(g: Graph, parts: Sequence[Size]) -> Size:
    """The product of Sizes."""
    made: Size = 1
    for part in parts:
        made = computed(g, "Mul", made, part)
    return made


def joined(g: Graph, parts: Sequence[Size]) -> Value:
    """Sizes as one vector of int64."""
    if all(isinstance(part, int) for part in parts):
        return g.constant(np.asarray(parts, np.int64))
    pieces: list[Value] = []
    known: list[int] = []
    for part in [*parts, None]:
        if isinstance(part, int):
            known.append(part)
            continue
        if known:
            pieces.append(g.constant(np.asarray(known, np.int64)))
            known = []
        if part is not None:
            pieces.append(part)
    return pieces[0] if len(pieces) == 1 else g.Concat(*pieces, axis=0)


def shape_of(g: Graph, x: Value) -> Value:
    """The shape of a tensor as a vector of int64."""
    known = x.spec is not None and -1 not in x.shape
    return g.constant(np.asarray(x.shape, np.int64)) if known else g.Shape(x)


def number(g: Graph, x: Value) -> Size:
    """The one number that a tensor of integers holds."""
    if x.array is not None:
        return int(x.array.reshape(()))
    whole = x if x.dtype == "int64" else g.cast(x, "int64")
    return whole if x.shape == (1,) else g.Reshape(whole, [1])


def scalar(g: Graph, part: Size) -> Value:
    """A Size as a tensor without dimensions."""
    return g.constant(np.asarray(part, np.int64)) if isinstance(part, int) else g.Reshape(part, [])


def vector(g: Graph, part: Size) -> Value:
    """A Size as a tensor of one element."""
    return g.constant(np.asarray([part], np.int64)) if isinstance(part, int) else part


def numbers_below(g: Graph, part: Size) -> Value:
    """The integers from 0, below a Size, as int64."""
    if isinstance(part, int) and part <= _FEW:
        return g.constant(np.arange(part))
    return g.Range(g.constant(np.asarray(0)), scalar(g, part), g.constant(np.asarray(1)))


def reshaped(g: Graph, x: Value, parts: Sequence[Size]) -> Value:
    """A tensor in another shape, of which one size may be -1. Here 0 is a size."""
    zero = any(isinstance(part, int) and part == 0 for part in parts)
    exact = zero or not any(isinstance(part, int) and part == -1 for part in parts)
    return g.Reshape(x, joined(g, parts), allowzero=1 if exact else None)


def int64(g: Graph, x: Value) -> Value:
    """A tensor of integers as int64."""
    return x if x.dtype == "int64" else typed(g.cast(x, "int64"), x.shape, "int64")


def flat(g: Graph, x: Value) -> Value:
    """A tensor in one dimension."""
    return typed(g.Reshape(x, [-1]), [Spec(x.shape, x.dtype).size], x.dtype)


def filled(g: Graph, number: np.ndarray | np.generic | complex, parts: Sequence[Size], dtype: str) -> Value:
    """A tensor of these sizes with one number everywhere."""
    made = g.Expand(np.asarray(number, dtype), joined(g, parts))
    return typed(made, [part if isinstance(part, int) else -1 for part in parts], dtype)
