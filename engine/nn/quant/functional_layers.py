"""Functions as layers, so that quantization finds them in a network and can observe what they give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.nn.layer.layers import Layer
from engine.tensor import linalg, manipulation, math
from engine.tensor.arrays.tensor_array import TensorArray
from engine.tensor.tensor_like import AnyTensor, IntegerLike, IntegersLike, ShapeLike, TensorLike


class FloatFunctionalLayer(Layer):
    """A function as a layer without parameters; called like the function."""


class add(FloatFunctionalLayer):
    """x + y."""

    def forward(self, x: AnyTensor, y: TensorLike, name: str | None = None) -> Any:
        return math.add(x, y, name)


class subtract(FloatFunctionalLayer):
    """x - y."""

    def forward(self, x: AnyTensor, y: TensorLike, name: str | None = None) -> Any:
        return math.subtract(x, y, name)


class multiply(FloatFunctionalLayer):
    """x * y."""

    def forward(self, x: AnyTensor, y: TensorLike, name: str | None = None) -> Any:
        return math.multiply(x, y, name)


class divide(FloatFunctionalLayer):
    """x / y."""

    def forward(self, x: AnyTensor, y: TensorLike, name: str | None = None) -> Any:
        return math.divide(x, y, name)


class reshape(FloatFunctionalLayer):
    """x in another shape."""

    def forward(self, x: AnyTensor, shape: ShapeLike, name: str | None = None) -> Any:
        return manipulation.reshape(x, shape, name)


class transpose(FloatFunctionalLayer):
    """x with its dimensions in the order ``perm``."""

    def forward(
        self,
        x: AnyTensor,
        perm: IntegersLike,
        name: str | None = None,
    ) -> Any:
        return manipulation.transpose(x, perm, name)


class concat(FloatFunctionalLayer):
    """A list of tensors joined along ``axis``."""

    def forward(
        self, x: Sequence[AnyTensor] | TensorArray, axis: IntegerLike = 0, name: str | None = None
    ) -> Any:
        return manipulation.concat(x, axis, name)


class flatten(FloatFunctionalLayer):
    """x with the dimensions ``start_axis`` to ``stop_axis`` in one."""

    def forward(self, x: AnyTensor, start_axis: int = 0, stop_axis: int = -1, name: str | None = None) -> Any:
        return manipulation.flatten(x, start_axis, stop_axis, name)


class matmul(FloatFunctionalLayer):
    """The matrix product of x and y."""

    def forward(
        self,
        x: AnyTensor,
        y: AnyTensor,
        transpose_x: bool = False,
        transpose_y: bool = False,
        name: str | None = None,
    ) -> Any:
        return linalg.matmul(x, y, transpose_x, transpose_y, name)
