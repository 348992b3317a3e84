"""Activations of sparse tensors as layers."""

from __future__ import annotations

from typing import Any

from engine.eager.sparse import Sparse
from engine.nn.layer.layers import Layer
from engine.sparse.nn import functional


class _Named(Layer):
    """An activation that shows its name only, as in Paddle."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__()
        self._name = name

    def extra_repr(self) -> str:
        return f"name={self._name}" if self._name else ""


class ReLU(_Named):
    """max(x, 0) of the stored elements of a sparse tensor."""

    def forward(self, x: Sparse) -> Any:
        return functional.relu(x, self._name)


class ReLU6(_Named):
    """min(max(x, 0), 6) of the stored elements of a sparse tensor."""

    def forward(self, x: Sparse) -> Any:
        return functional.relu6(x, self._name)


class LeakyReLU(_Named):
    """x above 0 and ``negative_slope`` * x below, of the stored elements of a sparse tensor."""

    def __init__(self, negative_slope: float = 0.01, name: str | None = None) -> None:
        super().__init__(name)
        self._negative_slope = negative_slope

    def forward(self, x: Sparse) -> Any:
        return functional.leaky_relu(x, self._negative_slope, self._name)


class Softmax(_Named):
    """Softmax over the stored elements of a sparse tensor along ``axis``."""

    def __init__(self, axis: int = -1, name: str | None = None) -> None:
        super().__init__(name)
        self._axis = axis

    def forward(self, x: Sparse) -> Any:
        return functional.softmax(x, self._axis, self._name)
