"""Rows of sequences and of optional values.

A sequence whose length is known when the model is read is a list; one that grows in a loop is the engine's
array of tensors.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.onnx.reads.rows import Known, Raw, reads
from engine.onnx.reads.tensors import T
from engine.onnx.reads.values import Items, NeedsKnown, Unreadable
from engine.tensor.arrays.tensor_array import TensorArray


def _sequence(value: Any) -> Any:
    if not isinstance(value, Items | TensorArray):
        raise Unreadable("a tensor is given where a sequence is expected")
    return value


def _place(value: Any, length: int, end: int) -> int:
    at = int(value.reshape(-1)[0])
    at = at + length if at < 0 else at
    if not 0 <= at < end:
        raise Unreadable(f"place {at} in a sequence of {length}")
    return at


@reads("SequenceEmpty")
def _(g: Any, *, dtype: int = 1) -> Any:
    return Items([])


@reads("SequenceConstruct")
def _(g: Any, *inputs: Raw) -> Any:
    return Items(inputs)


@reads("SequenceInsert")
def _(g: Any, input_sequence: Raw, tensor: Raw, position: Raw = None) -> Any:
    given = _sequence(input_sequence)
    if isinstance(given, Items) and (position is None or isinstance(position, np.ndarray)):
        made = list(given.items)
        made.insert(len(made) if position is None else _place(position, len(made), len(made) + 1), tensor)
        return Items(made)
    x = g.tensor(tensor)
    array = (
        given.copy()
        if isinstance(given, TensorArray)
        else TensorArray.of([g.tensor(v) for v in given.items], x)
    )
    array.begin(x)
    if position is None:
        array.append(x)
    else:
        at = (
            _place(position, 1 << 31, 1 << 31)
            if isinstance(position, np.ndarray)
            else T.reshape(position, [])
        )
        array.insert(at, x)
    return array


@reads("SequenceErase")
def _(g: Any, input_sequence: Raw, position: Known = None) -> Any:
    given = _sequence(input_sequence)
    if isinstance(given, Items):
        made = list(given.items)
        del made[len(made) - 1 if position is None else _place(position, len(made), len(made))]
        return Items(made)
    array = given.copy()
    del array[-1 if position is None else int(position.reshape(-1)[0])]
    return array


@reads("SequenceAt")
def _(g: Any, input_sequence: Raw, position: Raw) -> Any:
    given = _sequence(input_sequence)
    if isinstance(given, Items):
        if isinstance(position, np.ndarray):
            return given.items[_place(position, len(given.items), len(given.items))]
        given = TensorArray.of([g.tensor(v) for v in given.items], g.tensor(given.items[0]))
    at = int(position.reshape(-1)[0]) if isinstance(position, np.ndarray) else T.reshape(position, [])
    return given[at]


@reads("SequenceLength")
def _(g: Any, input_sequence: Raw) -> Any:
    given = _sequence(input_sequence)
    if isinstance(given, Items):
        return np.int64(len(given.items))
    length = given.length()
    return np.int64(length) if isinstance(length, int) else length


@reads("ConcatFromSequence")
def _(g: Any, input_sequence: Raw, *, axis: int, new_axis: int = 0) -> Any:
    given = _sequence(input_sequence)
    if isinstance(given, Items):
        if not given.items:
            raise Unreadable("the sequence is empty")
        made = [g.tensor(v) for v in given.items]
        return T.stack(made, axis=axis) if new_axis else T.concat(made, axis=axis)
    if not given.leaves():
        raise NeedsKnown("the elements of a sequence must be known")
    return given.stacked(axis) if new_axis else given.concatenated(axis)


@reads("Optional")
def _(g: Any, input: Raw = None, *, type: Any = None) -> Any:
    return input


@reads("OptionalHasElement")
def _(g: Any, input: Raw = None) -> Any:
    return np.asarray(input is not None)


@reads("OptionalGetElement")
def _(g: Any, input: Raw) -> Any:
    return input
