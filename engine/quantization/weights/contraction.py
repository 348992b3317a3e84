"""How a layer multiplies its values with its weight, written as a product of matrices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from engine.core.operators.windows import channel_first, pads_of
from engine.ops.images.fold import unfold

Array: TypeAlias = np.ndarray[Any, Any]

CONVOLUTIONS = ("conv2d", "depthwise_conv2d")
PRODUCTS = ("mul", "matmul_v2")


@dataclass(frozen=True)
class Contraction:
    """One operator, by its name and attributes, and the shape of its weight.

    What it computes is, for each group of channels, ``values [any, entries] @ rows [channels, entries].T``,
    but for the order of dimensions.
    """

    op: str
    attrs: Mapping[str, Any]
    shape: tuple[int, ...]

    @property
    def groups(self) -> int:
        return int(self.attrs["groups"]) if self.op in CONVOLUTIONS else 1

    @property
    def entries(self) -> int:
        """How many values are multiplied and added up for one number."""
        if self.op in CONVOLUTIONS:
            return int(np.prod(self.shape[1:]))
        return self.shape[1] if self.transposed else self.shape[0]

    @property
    def transposed(self) -> bool:
        return bool(self.attrs.get("trans_y", False))

    def rows(self, weight: Array) -> Array:
        """The weight as [groups, channels, entries]."""
        if self.op in CONVOLUTIONS:
            return weight.reshape(self.groups, -1, self.entries)
        return (weight if self.transposed else weight.T)[None]

    def weight(self, rows: Array) -> Array:
        """The weight whose `rows` these are."""
        if self.op in CONVOLUTIONS:
            return rows.reshape(self.shape)
        weight: Array = rows[0] if self.transposed else rows[0].T
        return weight

    def values(self, x: Array) -> Array:
        """What the operator is fed as [groups, any, entries]."""
        if self.op == "mul":
            return x.reshape(1, -1, self.entries)
        if self.op == "matmul_v2":
            if self.attrs.get("trans_x", False) and x.ndim > 1:
                x = np.swapaxes(x, -1, -2)
            return x.reshape(1, -1, self.entries)
        return self._windows(x)

    def _windows(self, x: Array) -> Array:
        attrs, kernel = self.attrs, self.shape[2:]
        if attrs["data_format"][-1] == "C":
            x = channel_first(x)
        algorithm, strides = attrs["padding_algorithm"], attrs["strides"]
        (top, bottom), (left, right) = pads_of(
            self.op, x.shape[2:], kernel, strides, attrs["paddings"], algorithm
        )
        columns = unfold.opdef.kernel(
            np,
            x,
            kernel_sizes=kernel,
            strides=strides,
            paddings=(top, left, bottom, right),
            dilations=(1, 1) if algorithm == "SAME" else attrs["dilations"],
        )
        apart = columns.reshape(len(x), self.groups, self.entries, -1)
        return np.ascontiguousarray(apart.transpose(1, 0, 3, 2)).reshape(self.groups, -1, self.entries)


def contraction_of(op: str, attrs: Mapping[str, Any], shape: tuple[int, ...]) -> Contraction | None:
    """The contraction of an operator whose second input is its weight, of `shape`; None for others."""
    if op in CONVOLUTIONS and len(shape) == 4:
        return Contraction(op, attrs, shape)
    if op in PRODUCTS and len(shape) == 2 and attrs.get("y_num_col_dims", 1) == 1:
        return Contraction(op, attrs, shape)
    return None
