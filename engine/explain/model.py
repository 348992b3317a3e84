"""Model: what the methods need of a model, in this process or in another one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from engine.core.errors import ArgumentError
from engine.core.values.dtype import DType
from engine.eager.tensor import Tensor
from engine.explain.answers import Activation, Array, Value
from engine.tensor.creation import to_tensor


class Model(Protocol):
    """A model with the weights that it predicts with; arrays are NumPy's, in the order of its inputs."""

    @property
    def inputs(self) -> Sequence[Value]:
        """What it is fed."""

    @property
    def outputs(self) -> Sequence[Value]:
        """What it gives."""

    def why_no_activations(self) -> str:
        """Why operators can't be looked at; empty where they can."""

    def why_no_gradient(self, input: int, output: int) -> str:
        """Why no gradient of this output with respect to this input exists; empty where it does."""

    def bytes_of(self, arrays: Sequence[Array]) -> int:
        """About how much memory the values of one run on the arrays take."""

    def run(self, arrays: Sequence[Array]) -> list[Array]:
        """The outputs. Raises what the model raises for arrays that do not fit."""

    def gradient(
        self, arrays: Sequence[Array], input: int, output: int, incoming: Array
    ) -> tuple[Array, Array]:
        """An output, and the gradient of an input for the gradient of that output; raises as ``run``."""

    def activations(self, arrays: Sequence[Array], wanted: Sequence[str], side: int) -> list[Activation]:
        """The operators in the order in which they ran; of ``wanted`` variables with channels of at most
        ``side`` rows and columns. Raises as ``run``."""

    def view(self, variable: str, kind: str, options: dict[str, Any]) -> dict[str, Any]:
        """A view of a value of the last activations, see :func:`engine.debugger.views.view`."""

    def values(self, variable: str) -> Array:
        """A value of the last activations."""

    def close(self) -> None:
        """Let go of the model."""


def as_tensor(array: Array, dtype: DType) -> Tensor:
    """An array as a Tensor of the dtype that a model takes."""
    tensor: Tensor = to_tensor(array)
    if tensor.dtype is not dtype:
        tensor = tensor.astype(dtype)
    return tensor


def require_all(inputs: Sequence[Value], arrays: Sequence[Array]) -> None:
    """Raises ArgumentError unless there is an array for each input."""
    if len(arrays) != len(inputs):
        names = ", ".join(each.name for each in inputs)
        raise ArgumentError(
            f"explain: got {len(arrays)} inputs: the model takes {len(inputs)}: {names}; give all of them"
        )
