"""``StaticModelRunner`` of 1.8: a Program that was saved for prediction, as a Layer of a guard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.fluid.dygraph import tracer as tracers
from engine.fluid.dygraph.layers import Layer
from engine.fluid.values.variable import result
from engine.jit import load

__all__ = ["StaticModelRunner"]


class StaticModelRunner(Layer):
    """What ``fluid.io.save_inference_model`` wrote in ``model_dir``, to predict or to train further.

    It begins in training mode, as in 1.8: dropout drops until ``eval()``. Errors are those of ``jit.load``.
    """

    def __init__(
        self, model_dir: str, model_filename: str | None = None, params_filename: str | None = None
    ) -> None:
        super().__init__()
        prefix = Path(model_dir) / (model_filename or "__model__").removesuffix(".pdmodel")
        self._program = load(str(prefix))
        tracer = tracers.current()
        for parameter in self._program.parameters() if tracer is not None else ():
            assert tracer is not None
            tracer.add_parameter(parameter)
        self.train()

    def forward(self, *args: Any) -> Any:
        """The fetched values: a Variable, or a list of them."""
        return result(self._program(*args))
