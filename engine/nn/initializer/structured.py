"""Initializers with a structure: orthogonal matrices, identities of convolutions, bilinear interpolation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from engine.core import mode as modes
from engine.core.errors import ArgumentError, ShapeError
from engine.eager.mode import NOT_RECORDING
from engine.nn.initializer.base import Initializer
from engine.ops.arrays import shape as reshaping
from engine.ops.elementwise import arithmetic
from engine.ops.linalg import decompositions, diagonal
from engine.ops.random import draws
from engine.program.graph.program import Block
from engine.program.run.executor import default_main_program
from engine.tensor.tensor_like import AnyTensor


class Orthogonal(Initializer):
    """A matrix [first dimension, all others] with orthonormal rows or columns, the fewer ones, times gain.

    Saxe et al., Exact solutions to the nonlinear dynamics of learning (2014). Raises ShapeError for fewer
    than 2 dimensions.
    """

    def __init__(self, gain: float = 1.0, name: str | None = None) -> None:
        if gain is None:
            raise ArgumentError("Orthogonal: gain must be a number: got None; leave it out for 1.0")
        self._gain = gain

    def forward(self, param: AnyTensor, block: Block | None = None) -> None:
        with modes.use(NOT_RECORDING):
            seed = default_main_program().random_seed
            param.set_value(arithmetic.scale(self.orthonormal(param, seed), scale=self._gain))

    def orthonormal(self, param: AnyTensor, seed: int) -> Any:
        """The matrix in the shape and dtype of ``param`` before it is multiplied by gain, in the current
        mode."""
        shape = list(param.shape)
        if len(shape) < 2:
            raise ShapeError(f"Orthogonal: a parameter needs 2 or more dimensions: got shape {shape}")
        rows, columns = shape[0], math.prod(shape[1:])
        size = [max(rows, columns), min(rows, columns)]
        q, r = decompositions.qr(draws.gaussian(shape=size, dtype=param.dtype.name, seed=seed))
        # With the signs of R's diagonal every orthogonal matrix is equally likely.
        q = arithmetic.multiply(q, arithmetic.sign(diagonal.diag(r)))
        if rows < columns:
            q = reshaping.transpose(q, axis=[1, 0])
        return reshaping.reshape(q, shape=shape)

    @property
    def gain(self) -> float:
        return self._gain


class Dirac(Initializer):
    """The identity of convolutions: each of the first filters of a group passes one channel on as it is.

    For weights [out, in, *kernel] with 1 to 3 kernel dimensions; the others are 0. Raises ShapeError where
    the filters do not divide into ``groups``.
    """

    def __init__(self, groups: int = 1, name: str | None = None) -> None:
        if isinstance(groups, bool) or not isinstance(groups, int) or groups < 1:
            raise ArgumentError(f"Dirac: groups must be an integer above 0: got {groups!r}")
        self._groups = groups

    def sample(self, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
        if len(shape) not in (3, 4, 5):
            raise ShapeError(f"Dirac: a convolution's weight has 3, 4 or 5 dimensions: got {list(shape)}")
        if shape[0] % self._groups:
            raise ShapeError(
                f"Dirac: {shape[0]} filters do not divide into {self._groups} groups: got shape {list(shape)}"
            )
        values = np.zeros(shape)
        each = shape[0] // self._groups
        middle = tuple(size // 2 for size in shape[2:])
        for group in range(self._groups):
            for n in range(min(each, shape[1])):
                values[(group * each + n, n, *middle)] = 1.0
        return values


class Bilinear(Initializer):
    """The weights [out, in, size, size] of a transposed convolution that interpolates linearly.

    Meant for an enlargement by f with size 2 * f - f % 2, stride f and padding ceil((f - 1) / 2), and as many
    groups as channels: Shelhamer et al., Fully convolutional networks (2015). As in Paddle 2.6.2 the number
    of a row has the column as its fraction, so that the values are close to those of an interpolation.
    """

    def __init__(self) -> None:
        pass

    def sample(self, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
        if len(shape) != 4 or shape[2] != shape[3]:
            raise ShapeError(f"Bilinear: a weight is [out, in, size, size]: got shape {list(shape)}")
        factor = math.ceil(shape[3] / 2.0)
        center = (2 * factor - 1 - factor % 2) / (2.0 * factor)
        places = np.arange(math.prod(shape))
        column, row = places % shape[3], (places / shape[3]) % shape[3]
        across, down = (1 - np.abs(n / factor - center) for n in (column, row))
        weight: np.ndarray[Any, Any] = (across * down).reshape(shape)
        return weight
