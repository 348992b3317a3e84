"""Shape and dtype of a value, with -1 for dimensions not known before running."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.core.place import Array
from engine.core.values.dtype import DType, as_dtype, from_numpy


class Spec:
    """The shape and dtype of a value that may not exist yet. Immutable; equal by value."""

    __slots__ = ("dtype", "shape")

    def __init__(self, shape: Sequence[int], dtype: DType | str) -> None:
        self.shape: tuple[int, ...] = tuple(int(d) for d in shape)
        self.dtype: DType = as_dtype(dtype)

    @classmethod
    def of(cls, array: Array) -> Spec:
        """Shape and dtype of an array of any backend."""
        return cls(array.shape, from_numpy(array.dtype))

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def known(self) -> bool:
        """True if no dimension is unknown."""
        return all(d >= 0 for d in self.shape)

    @property
    def size(self) -> int:
        """Number of elements, -1 if not known."""
        total = 1
        for d in self.shape:
            if d < 0:
                return -1
            total *= d
        return total

    def with_shape(self, shape: Sequence[int]) -> Spec:
        return Spec(shape, self.dtype)

    def with_dtype(self, dtype: DType | str) -> Spec:
        return Spec(self.shape, dtype)

    def agrees(self, other: Spec) -> bool:
        """Whether both may describe one value: the same dtype and rank, no known dimensions that differ."""
        return (
            self.dtype is other.dtype
            and len(self.shape) == len(other.shape)
            and all(a == b or -1 in (a, b) for a, b in zip(self.shape, other.shape, strict=True))
        )

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Spec) and self.shape == other.shape and self.dtype is other.dtype

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype.name))

    def __repr__(self) -> str:
        return f"{self.dtype.name}{list(self.shape)}"
