"""The base of initializers, fans, recommended gains, and the global defaults."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, DTypeError
from engine.core.values.bfloat import converted
from engine.program.graph.program import Block
from engine.tensor.tensor_like import AnyTensor


class Initializer:
    """Makes the first values of a parameter.

    A subclass defines ``sample(shape)``, or ``forward(param, block)`` to write into the parameter itself.
    """

    def __call__(self, param: AnyTensor, block: Block | None = None) -> None:
        """Write the first values into ``param``."""
        self.forward(param, block)

    def forward(self, var: AnyTensor, block: Block | None = None) -> None:
        """Write the first values into ``var``."""
        values = self.sample(tuple(var.shape))
        # Drawn in float64 and rounded once, so that a float32 and a float64 model with one seed start alike.
        var.set_value(converted(np, np.asarray(values), var.dtype))

    def sample(self, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
        """Values of ``shape``, in float64 where they are drawn."""
        raise ArgumentError(
            f"{type(self).__name__}: an initializer defines sample(shape) or forward(param, block); it has "
            "neither"
        )

    def __repr__(self) -> str:
        fields = ", ".join(f"{k.lstrip('_')}={v!r}" for k, v in vars(self).items())
        return f"{type(self).__name__}({fields})"


def compute_fans(shape: Sequence[int]) -> tuple[int, int]:
    """Inputs and outputs of one unit: [in, out] for a matrix, [out, in, *kernel] for a convolution."""
    if len(shape) == 0:
        return 1, 1
    if len(shape) == 1:
        return shape[0], shape[0]
    if len(shape) == 2:
        return shape[0], shape[1]
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


_GAINS = {
    "sigmoid": 1,
    "linear": 1,
    "conv1d": 1,
    "conv2d": 1,
    "conv3d": 1,
    "conv1d_transpose": 1,
    "conv2d_transpose": 1,
    "conv3d_transpose": 1,
    "tanh": 5.0 / 3,
    "relu": math.sqrt(2.0),
    "selu": 3.0 / 4,
}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The recommended gain of a nonlinearity; ``param`` is leaky_relu's slope."""
    slope = 0.01 if param is None else param
    if not isinstance(slope, (bool, int, float)):
        raise DTypeError(
            f"calculate_gain: param is a number: got {type(param).__name__}; pass the negative slope"
        )
    if nonlinearity == "leaky_relu":
        return math.sqrt(2.0 / (1 + float(slope) ** 2))
    if nonlinearity not in _GAINS:
        raise ArgumentError(
            f"calculate_gain: no gain is known for {nonlinearity!r}; use one of "
            f"{sorted([*_GAINS, 'leaky_relu'])}"
        )
    return _GAINS[nonlinearity]


class _Global:
    """What set_global_initializer chose; None: every layer's own default."""

    weight: Initializer | None = None
    bias: Initializer | None = None


def set_global_initializer(weight_init: Initializer | None, bias_init: Initializer | None = None) -> None:
    """Initialize parameters made from now on by these, where their layer is given none; None ends it."""
    for name, value in (("weight_init", weight_init), ("bias_init", bias_init)):
        if value is not None and not isinstance(value, Initializer):
            raise DTypeError(
                f"set_global_initializer: {name} must be an Initializer or None: got {type(value).__name__}; "
                "pass e.g. nn.initializer.Normal()"
            )
    _Global.weight, _Global.bias = weight_init, bias_init


def global_initializer(is_bias: bool) -> Initializer | None:
    """What set_global_initializer chose for weights or biases."""
    return _Global.bias if is_bias else _Global.weight
