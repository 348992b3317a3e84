"""Values while a model is read: known arrays, vectors of sizes, sequences; all others are Variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.core.errors import FormatError
from engine.core.operators.bounds import LARGEST
from engine.eager.tensor import Tensor
from engine.onnx.reads.tensors import T
from engine.program.graph.unknown import Unknown
from engine.program.graph.variable import Variable
from engine.tensor.tensor_like import AnyTensor


class Unreadable(FormatError):
    """A node that can't be read: the reader adds which one it is, and says so in ``located``."""

    located = False


class NeedsKnown(Unreadable):
    """An input that must be known when the model is read."""


class Numbers:
    """A vector of int64 some of whose elements, Variables, only the running model knows."""

    def __init__(self, items: Sequence[Any]) -> None:
        self.items = list(items)


class Items:
    """A sequence of ONNX whose length is known."""

    def __init__(self, items: Sequence[Any]) -> None:
        self.items = list(items)


class Levels:
    """Integers of 8 bits that a quantization has made, as the engine holds them: in a tensor of floats."""

    def __init__(self, tensor: AnyTensor) -> None:
        self.tensor = tensor


def numbers(items: Sequence[Any]) -> Any:
    """Sizes as a known array where all of them are, else as Numbers."""
    made = [item.value() if isinstance(item, Unknown) else item for item in items]
    if all(isinstance(item, int | np.integer) for item in made):
        return np.array([int(item) for item in made], np.int64)
    return Numbers(made)


def sizes_of(x: AnyTensor) -> list[Any]:
    """The dimensions of a tensor; Variables for those that only the running model knows."""
    return [d.value() if isinstance(d, Unknown) else int(d) for d in x.shape]


def elements(value: AnyTensor | np.ndarray | Numbers) -> list[Any]:
    """The integers of a vector, one by one. Raises NeedsKnown where even their number is unknown."""
    if isinstance(value, Numbers):
        return value.items
    if isinstance(value, np.ndarray):
        return [int(v) for v in value.reshape(-1)]
    if value.ndim == 0:
        return [value]
    if value.ndim != 1 or int(value.shape[0]) < 0 or int(value.shape[0]) > 64:
        raise NeedsKnown("its length must be known when the model is read")
    wide = value if value.dtype.name == "int64" else T.cast(value, "int64")
    return [wide[n] for n in range(int(value.shape[0]))]


def ints(value: list[Any] | tuple[Any, ...] | AnyTensor | np.ndarray | Numbers, what: str) -> list[int]:
    """The integers of Sizes, which must be known. Raises NeedsKnown."""
    found = elements(value) if not isinstance(value, list | tuple) else list(value)
    if not all(isinstance(v, int) for v in found):
        raise NeedsKnown(f"{what} must be known when the model is read")
    return found


def require_size(shape: Sequence[Any], itemsize: int = 4) -> None:
    """Raises Unreadable for a shape of more bytes than a model may use."""
    total = itemsize
    for size in shape:
        if isinstance(size, int):
            if size < 0:
                raise Unreadable(f"a dimension is {size}")
            total *= max(size, 1)
    if total > LARGEST:
        raise Unreadable(f"a result would have {total} bytes; {LARGEST} are the most")


def is_tensor(value: object) -> bool:
    """Whether a value is computed by the running model, or a weight."""
    return isinstance(value, Variable | Tensor)


def like(number: complex | np.generic, x: AnyTensor) -> Any:
    """A tensor without dimensions of the dtype of ``x``."""
    return T.full([], number, x.dtype.name)
