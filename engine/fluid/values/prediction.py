"""Prediction under the names of 1.x: ``AnalysisConfig``, ``create_paddle_predictor`` and ``PaddleTensor``."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.core.errors import DTypeError
from engine.fluid.values.one_element import convertible
from engine.inference.config import Config
from engine.inference.handle import Tensor
from engine.inference.predictor import Predictor

__all__ = [
    "AnalysisConfig",
    "PaddleBuf",
    "PaddleDType",
    "PaddlePredictor",
    "PaddleTensor",
    "create_paddle_predictor",
]


class PaddleDType(enum.Enum):
    """The dtypes of a PaddleTensor."""

    FLOAT32 = "float32"
    INT64 = "int64"
    INT32 = "int32"


class PaddleBuf:
    """The numbers of a PaddleTensor: a flat list or an array."""

    def __init__(self, data: Sequence[Any] | np.ndarray[Any, Any] = ()) -> None:
        self._array = np.asarray(data).reshape(-1)

    def tolist(self, dtype: str = "float32") -> list[Any]:
        """The numbers as a list of ``dtype``."""
        found: list[Any] = self._array.astype(dtype).tolist()
        return found

    def float_data(self) -> list[float]:
        """The numbers as a list of floats."""
        return self.tolist("float32")

    def int64_data(self) -> list[int]:
        """The numbers as a list of integers."""
        return self.tolist("int64")


class PaddleTensor:
    """An input or output of ``PaddlePredictor.run``: an array, its name and the offsets of sequences."""

    def __init__(self, data: np.ndarray[Any, Any] | None = None, name: str = "") -> None:
        array = np.asarray([] if data is None else data)
        self.name, self.shape, self.lod = name, list(array.shape), list[Any]()
        self.dtype = next(
            (each for each in PaddleDType if each.value == array.dtype.name), PaddleDType.FLOAT32
        )
        self.data = PaddleBuf(array)

    def as_ndarray(self) -> np.ndarray[Any, Any]:
        """The array."""
        return convertible(self.data._array.astype(self.dtype.value, copy=False).reshape(self.shape))


class AnalysisConfig(Config):
    """Settings of a predictor, see ``paddle.inference.Config``."""


class PaddlePredictor(Predictor):
    """Runs a model with lists of PaddleTensors, or with handles and ``zero_copy_run``."""

    def run(self, inputs: Any = None) -> Any:
        """The outputs for a list of PaddleTensors (or arrays): by name, or in the order of the inputs.

        Raises DTypeError for other values, and the errors of ``paddle.inference.Predictor.run``.
        """
        if inputs is None:
            return super().run()
        names = self.get_input_names()
        for place, each in enumerate(inputs):
            if not isinstance(each, (PaddleTensor, np.ndarray)):
                raise DTypeError(f"PaddlePredictor.run: takes PaddleTensors: got {type(each).__name__}")
            value = each if isinstance(each, PaddleTensor) else PaddleTensor(each)
            handle = self.get_input_handle(value.name if value.name in names else names[place])
            handle.copy_from_cpu(np.ascontiguousarray(value.as_ndarray()))
            handle.set_lod(value.lod)
        super().run()
        found = []
        for name in self.get_output_names():
            handle = self.get_output_handle(name)
            made = PaddleTensor(handle.copy_to_cpu(), name)
            made.lod = handle.lod()
            found.append(made)
        return found

    def get_input_tensor(self, name: str) -> Tensor:
        """The handle of an input."""
        return self.get_input_handle(name)

    def get_output_tensor(self, name: str) -> Tensor:
        """The handle of an output."""
        return self.get_output_handle(name)

    def zero_copy_run(self) -> bool:
        """Compute the outputs from what the input handles hold."""
        return bool(super().run())


def create_paddle_predictor(config: Config) -> PaddlePredictor:
    """The predictor of a model; errors are those of ``paddle.inference.create_predictor``."""
    return PaddlePredictor(config)
