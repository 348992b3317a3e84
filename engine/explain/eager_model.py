"""EagerModel: a layer that can't be converted to a Program; it has gradients, but no operators to look at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, UnsupportedError
from engine.debugger.views import numbers
from engine.eager.backward import grad
from engine.eager.grad_mode import enable_grad, no_grad
from engine.eager.tensor import Tensor
from engine.explain.answers import Activation, Array, Value
from engine.explain.gradient_path import not_real
from engine.explain.model import as_tensor, require_all
from engine.jit.input_spec import InputSpec
from engine.jit.saved.selection import with_specs
from engine.nn import Layer


class EagerModel:
    """``layer``, called as it is; ``why`` says why it has no Program."""

    def __init__(self, layer: Layer, input_spec: Sequence[Any], why: str) -> None:
        self._layer, self._why = layer, why
        specs: list[InputSpec] = list(with_specs(input_spec))
        self._dtypes = [spec.to_spec().dtype for spec in specs]
        self.inputs = [
            Value(spec.name or f"input {n}", tuple(spec.to_spec().shape), spec.to_spec().dtype.name)
            for n, spec in enumerate(specs)
        ]
        tried = [np.zeros([max(size, 1) for size in each.shape], np.float32) for each in self.inputs]
        self.outputs = [
            Value(f"output {n}", (-1, *found.shape[1:]), found.dtype.name)
            for n, found in enumerate(self.run(tried))
        ]

    def why_no_activations(self) -> str:
        return self._why

    def why_no_gradient(self, input: int, output: int) -> str:
        source, wanted = self.inputs[input], self.outputs[output]
        return not_real(source.name, source.dtype, wanted.name, wanted.dtype)

    def bytes_of(self, arrays: Sequence[Array]) -> int:
        # Of the weights too: they are about as many as the values of a network.
        return sum(int(p.numpy().nbytes) for p in self._layer.parameters()) + sum(a.nbytes for a in arrays)

    def run(self, arrays: Sequence[Array]) -> list[Array]:
        with no_grad():
            return [numbers(each._array) for each in self._called(self._tensors(arrays))]

    def gradient(
        self, arrays: Sequence[Array], input: int, output: int, incoming: Array
    ) -> tuple[Array, Array]:
        tensors = self._tensors(arrays)
        tensors[input].stop_gradient = False
        with enable_grad():
            found = self._called(tensors)[output]
            seed = as_tensor(incoming, found.dtype)
            (gradient,) = grad([found], [tensors[input]], [seed], allow_unused=True)
        if gradient is None:
            raise ArgumentError("explain: the output does not depend on the input; choose another one")
        return numbers(found._array), numbers(gradient._array)

    def activations(self, arrays: Sequence[Array], wanted: Sequence[str], side: int) -> list[Activation]:
        raise self._no_activations()

    def view(self, variable: str, kind: str, options: dict[str, Any]) -> dict[str, Any]:
        raise self._no_activations()

    def values(self, variable: str) -> Array:
        raise self._no_activations()

    def close(self) -> None:
        """Nothing is held but the layer."""

    def _no_activations(self) -> UnsupportedError:
        return UnsupportedError(f"explain: no activations: {self._why}; choose another method")

    def _called(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        found = self._layer(*tensors)
        return [each for each in (found if isinstance(found, (list, tuple)) else [found]) if each is not None]

    def _tensors(self, arrays: Sequence[Array]) -> list[Tensor]:
        require_all(self.inputs, arrays)
        return [as_tensor(array, dtype) for array, dtype in zip(arrays, self._dtypes, strict=True)]
