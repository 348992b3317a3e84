"""``LoDTensor`` without LoD: a value on its way to an Executor; tensors of uneven rows are refused."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.errors import UnsupportedError

__all__ = ["LoDTensor", "LoDTensorArray", "create_lod_tensor", "create_random_int_lodtensor"]

_INSTEAD = (
    "rows of uneven length in one tensor (LoD) do not exist here; pad the rows and use "
    "paddle.nn.functional.sequence_mask"
)


class LoDTensor:
    """A value that ``set`` gives and an Executor's feed takes; it has no LoD."""

    def __init__(self) -> None:
        self._value: np.ndarray[Any, Any] | None = None

    def set(self, value: Any, place: Any = None) -> None:
        """Hold a copy of ``value``. The Executor moves it to its own place, so ``place`` is not used."""
        self._value = np.array(value)

    def set_lod(self, lod: Any) -> None:
        """Refused unless it is empty: UnsupportedError."""
        if lod:
            raise UnsupportedError(f"LoDTensor.set_lod: {_INSTEAD}")

    set_recursive_sequence_lengths = set_lod

    def lod(self) -> list[list[int]]:
        """Empty: there is none."""
        return []

    recursive_sequence_lengths = lod

    def shape(self) -> list[int]:
        """The lengths of its dimensions."""
        return list(np.asarray(self).shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        value = np.empty((0,), np.float32) if self._value is None else self._value
        return value if dtype is None else value.astype(dtype, copy=False)

    def __repr__(self) -> str:
        return f"LoDTensor({np.asarray(self)!r})"


class LoDTensorArray(list[LoDTensor]):
    """A list of values."""


def create_lod_tensor(data: Any, recursive_seq_lens: Any, place: Any) -> Any:
    """Refused: UnsupportedError names what to use."""
    raise UnsupportedError(f"create_lod_tensor: {_INSTEAD}")


def create_random_int_lodtensor(
    recursive_seq_lens: Any, base_shape: Any, place: Any, low: Any, high: Any
) -> Any:
    """Refused: UnsupportedError names what to use."""
    raise UnsupportedError(f"create_random_int_lodtensor: {_INSTEAD}")
