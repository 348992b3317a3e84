"""InputSpec: the shape, dtype and name of an input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.core.errors import ArgumentError, DTypeError
from engine.core.values.dtype import DType, as_dtype, from_numpy
from engine.core.values.spec import Spec
from engine.program.graph.unknown import Unknown

if TYPE_CHECKING:
    from engine.tensor.tensor_like import AnyTensor, DTypeLike


class InputSpec:
    """Shape (None or -1 where any size goes), dtype and name of an input.

    Raises DTypeError or ArgumentError for an invalid shape.
    """

    def __init__(
        self,
        shape: Sequence[int | None],
        dtype: DTypeLike = "float32",
        name: str | None = None,
        stop_gradient: bool = False,
    ) -> None:
        self.shape: tuple[int, ...] = _dims(shape)
        self.dtype: DType = as_dtype(dtype)
        self.name = name
        self.stop_gradient = stop_gradient

    @classmethod
    def from_tensor(cls, tensor: AnyTensor, name: str | None = None) -> InputSpec:
        """The spec of a Tensor, under its name unless another is given."""
        if not hasattr(tensor, "stop_gradient"):
            raise ArgumentError(
                f"InputSpec.from_tensor: takes a Tensor: got {type(tensor).__name__}; "
                "use from_numpy for an array"
            )
        return cls(list(tensor.shape), tensor.dtype, name or tensor.name)

    @classmethod
    def from_numpy(cls, ndarray: np.ndarray[Any, Any], name: str | None = None) -> InputSpec:
        """The spec of a NumPy array."""
        if not isinstance(ndarray, np.ndarray):
            raise ArgumentError(f"InputSpec.from_numpy: takes a numpy.ndarray: got {type(ndarray).__name__}")
        return cls(ndarray.shape, from_numpy(ndarray.dtype), name)

    def batch(self, batch_size: int | np.integer[Any] | Sequence[Any]) -> InputSpec:
        """Insert a batch dimension in front, in place."""
        if isinstance(batch_size, (list, tuple)):
            if len(batch_size) != 1:
                raise ArgumentError(f"InputSpec.batch: batch_size must be one number: got {batch_size!r}")
            batch_size = batch_size[0]
        if not isinstance(batch_size, (int, np.integer)):
            raise ArgumentError(
                f"InputSpec.batch: batch_size must be an integer: got {type(batch_size).__name__}"
            )
        self.shape = (int(batch_size), *self.shape)
        return self

    def unbatch(self) -> InputSpec:
        """Remove the first dimension, in place."""
        if not self.shape:
            raise ArgumentError(
                "InputSpec.unbatch: the shape is empty, there is no batch dimension to remove"
            )
        self.shape = self.shape[1:]
        return self

    def to_spec(self) -> Spec:
        return Spec(self.shape, self.dtype)

    def __repr__(self) -> str:
        return (
            f"InputSpec(shape={self.shape}, dtype={self.dtype}, name={self.name}, "
            f"stop_gradient={self.stop_gradient})"
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, InputSpec) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        return (self.shape, self.dtype.name, self.name, self.stop_gradient)


def _dims(shape: Any) -> tuple[int, ...]:
    if not isinstance(shape, (list, tuple)):
        raise DTypeError(
            f"InputSpec: shape must be a list or tuple: got {type(shape).__name__}; write [None, 784]"
        )
    dims = []
    for d in shape:
        if d is None or isinstance(d, Unknown):
            d = -1
        if isinstance(d, bool) or not isinstance(d, (int, np.integer)) or d < -1:
            raise ArgumentError(
                f"InputSpec: {d!r} in shape {list(shape)} is not a dimension; use a size, or None for any"
            )
        dims.append(int(d))
    return tuple(dims)
