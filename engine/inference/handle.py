"""``paddle.inference.Tensor``: the handle through which a predictor takes an input or gives an output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.core.errors import DTypeError, UnreadyError
from engine.core.values.dtype import DType, from_numpy
from engine.eager.tensor import Tensor as EagerTensor
from engine.eager.tensor import wrap
from engine.inference.kinds import DataType, PlaceType, data_type
from engine.program.graph.variable import Variable
from engine.program.run.lod_tensor import LoDTensor
from engine.tensor.tensor_like import AnyTensor


class Tensor:
    """An input or output of a predictor. Clones of a predictor have handles of their own."""

    def __init__(self, name: str, dtype: DType) -> None:
        self._name = name
        self._dtype = dtype
        self._value: EagerTensor | None = None
        self._shape: list[int] = [0]
        self._lod: list[list[int]] = []

    @property
    def name(self) -> str:
        return self._name

    def reshape(self, shape: Sequence[int] | int) -> None:
        """Say the shape before the values come; ``copy_from_cpu`` takes that of the array in any case."""
        self._shape = [int(n) for n in ([shape] if isinstance(shape, int) else shape)]

    def shape(self) -> list[int]:
        """The shape of the values, or what ``reshape`` said; [0] before either."""
        return list(self._shape)

    def type(self) -> DataType:
        """The kind of the elements: of the values, or of what the model says before there are any."""
        return data_type(self._dtype)

    def place(self) -> PlaceType:
        on_gpu = self._value is not None and not isinstance(self._value._array, np.ndarray)
        return PlaceType.GPU if on_gpu else PlaceType.CPU

    def copy_from_cpu(self, data: np.ndarray[Any, Any] | list[str]) -> None:
        """Take a copy of an array. Raises DTypeError for anything else."""
        if not isinstance(data, np.ndarray):
            texts = isinstance(data, list) and len(data) > 0 and isinstance(data[0], str)
            raise DTypeError(
                f"copy_from_cpu: {self._name!r} takes a NumPy array: got "
                + ("texts, which no operator here takes" if texts else type(data).__name__)
            )
        self._take(wrap(np.array(data, order="C")))

    def share_external_data(self, data: AnyTensor) -> None:
        """Take a Tensor without copying: what is written into it later is what the next run reads.

        Raises DTypeError for anything else.
        """
        if not isinstance(data, EagerTensor):
            hint = "a Variable of a Program; use copy_from_cpu" if isinstance(data, Variable) else ""
            raise DTypeError(
                f"share_external_data: {self._name!r} takes a Tensor: got {hint or type(data).__name__}"
            )
        self._take(data)

    def copy_to_cpu(self) -> np.ndarray[Any, Any]:
        """A copy of the values. Raises UnreadyError, a RuntimeError, where there are none yet."""
        if self._value is None:
            raise UnreadyError(f"copy_to_cpu: {self._name!r} has no values yet; call run() of the predictor")
        return self._value.numpy().copy()

    def lod(self) -> list[list[int]]:
        """The offsets at which the sequences of each level begin: what ``set_lod`` set, or of an output."""
        return self._lod

    def set_lod(self, lod: Sequence[Sequence[int]]) -> None:
        """Say where the sequences begin, for models on sequences of uneven lengths: [[0, 2, 5]]."""
        self._lod = [list(level) for level in lod]

    def _with_lod(self) -> LoDTensor:
        """The values and where their sequences begin."""
        made = LoDTensor()
        made.set(None if self._value is None else self._value.numpy())
        made.set_lod(self._lod)
        return made

    def _take(self, value: EagerTensor) -> None:
        self._value = value
        self._shape = list(value.shape)
        self._dtype = from_numpy(value._array.dtype)

    def _clear(self) -> None:
        self._value, self._shape = None, [0]
