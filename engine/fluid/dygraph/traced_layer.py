"""``TracedLayer``: a Layer as a Program for inputs like those of one call, as in 1.6 to 1.8."""

from __future__ import annotations

from collections.abc import Sequence
from types import MethodType
from typing import Any

import numpy as np

from engine.core.containers import nest
from engine.core.errors import ArgumentError, DTypeError
from engine.eager.grad_mode import no_grad
from engine.eager.tensor import Tensor
from engine.fluid.executor import Executor
from engine.fluid.io import save_inference_model
from engine.fluid.values.one_element import convertible
from engine.jit.static_function import StaticFunction
from engine.nn import Layer as ModernLayer
from engine.static.compiled import BuildStrategy, ExecutionStrategy


class TracedLayer:
    """Made by ``TracedLayer.trace(layer, inputs)``; called with a list of inputs it gives a list of arrays.

    Differs from Paddle: an ``if`` or loop of the Layer that depends on values of a Variable is converted and
    stays one; there only the side that the call took is kept.
    """

    def __init__(self, function: StaticFunction, inputs: Sequence[Tensor]) -> None:
        self._function = function
        self._concrete = function.get_concrete_program(*inputs)[0]
        self.program = self._concrete.main_program

    @staticmethod
    def trace(layer: ModernLayer, inputs: Any) -> tuple[Any, TracedLayer]:
        """What ``layer`` gives for ``inputs``, a Variable or a list of them, and the TracedLayer.

        Raises DTypeError for a layer or inputs of another type.
        """
        if not isinstance(layer, ModernLayer):
            raise DTypeError(
                f"TracedLayer.trace: the first argument is a Layer: got {type(layer).__name__}; pass the "
                "network itself"
            )
        given = _listed("trace", inputs)
        outputs = layer(*given)
        forward = layer.forward
        if isinstance(forward, StaticFunction):
            forward = forward.dygraph_function
        plain = forward.__func__ if isinstance(forward, MethodType) else forward
        return outputs, TracedLayer(StaticFunction(plain, None, layer), given)

    def set_strategy(
        self, build_strategy: BuildStrategy | None = None, exec_strategy: ExecutionStrategy | None = None
    ) -> None:
        """Nothing: the passes of Programs are the same for all."""

    def __call__(self, inputs: Any) -> list[np.ndarray[Any, Any]]:
        """The outputs for ``inputs``, a Variable or a list of them. Raises DTypeError for others."""
        with no_grad():
            found = self._function(*_listed("__call__", inputs))
        return [convertible(each.numpy()) for each in nest.flatten(found) if isinstance(each, Tensor)]

    def save_inference_model(
        self, dirname: str, feed: Sequence[int] | None = None, fetch: Sequence[int] | None = None
    ) -> None:
        """Write the Program and its parameters to ``dirname``, as ``fluid.io.save_inference_model`` does.

        ``feed`` and ``fetch`` are the numbers of the inputs and outputs that it has; all by default. Raises
        ArgumentError for other numbers.
        """
        feeds = _chosen("feed", self._concrete.inputs, feed)
        outputs = [each for each in nest.flatten(self._concrete.outputs) if each is not None]
        fetched = _chosen("fetch", outputs, fetch)
        save_inference_model(dirname, [v.name for v in feeds], fetched, Executor(), self.program)


def _listed(where: str, inputs: Any) -> list[Tensor]:
    found = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    for each in found:
        if not isinstance(each, Tensor):
            raise DTypeError(
                f"TracedLayer.{where}: inputs are Variables: got {type(each).__name__}; use to_variable"
            )
    return found


def _chosen(name: str, variables: Sequence[Any], numbers: Sequence[int] | None) -> list[Any]:
    wanted = range(len(variables)) if numbers is None else numbers
    for each in wanted:
        if not isinstance(each, int) or not 0 <= each < len(variables):
            raise ArgumentError(
                f"TracedLayer.save_inference_model: {name} are numbers from 0 to {len(variables) - 1}: got "
                f"{each!r}"
            )
    return [variables[each] for each in wanted]
