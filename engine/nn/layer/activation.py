"""Activation functions as layers."""

from __future__ import annotations

from typing import Any

from engine.nn import functional
from engine.nn.layer.layers import Layer


class _Named(Layer):
    """An activation without parameters that keeps the name it was given."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__()
        self._name = name

    def extra_repr(self) -> str:
        return f"name={self._name}" if self._name else ""


class ReLU(_Named):
    """max(x, 0)."""

    def forward(self, x: Any) -> Any:
        return functional.relu(x)


class Sigmoid(Layer):
    """1 / (1 + exp(-x))."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__()
        self.name = name

    def forward(self, x: Any) -> Any:
        return functional.sigmoid(x)

    def extra_repr(self) -> str:
        return f"name={self.name}" if self.name else ""


class Tanh(_Named):
    """Hyperbolic tangent."""

    def forward(self, x: Any) -> Any:
        return functional.tanh(x)


class LeakyReLU(Layer):
    """x where positive, else negative_slope * x."""

    def __init__(self, negative_slope: float = 0.01, name: str | None = None) -> None:
        super().__init__()
        self._negative_slope = negative_slope
        self._name = name

    def forward(self, x: Any) -> Any:
        return functional.leaky_relu(x, self._negative_slope)

    def extra_repr(self) -> str:
        name = f", name={self._name}" if self._name else ""
        return f"negative_slope={self._negative_slope}{name}"


class Softmax(Layer):
    """exp(x) / sum(exp(x)) along ``axis``."""

    def __init__(self, axis: int = -1, name: str | None = None) -> None:
        super().__init__()
        self._axis = axis
        self._name = name

    def forward(self, x: Any) -> Any:
        return functional.softmax(x, self._axis)

    def extra_repr(self) -> str:
        name = f", name={self._name}" if self._name else ""
        return f"axis={self._axis}{name}"


class LogSoftmax(Layer):
    """log(softmax(x)) along ``axis``."""

    def __init__(self, axis: int = -1, name: str | None = None) -> None:
        super().__init__()
        self._axis = axis
        self._name = name

    def forward(self, x: Any) -> Any:
        return functional.log_softmax(x, self._axis)

    def extra_repr(self) -> str:
        name = f", name={self._name}" if self._name else ""
        return f"axis={self._axis}{name}"
