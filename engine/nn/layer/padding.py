"""Padding as layers."""

from __future__ import annotations

from typing import Any

from engine.nn.layer.function_layer import OfX
from engine.tensor.tensor_like import IntegersLike


class _PadNd(OfX):
    """A padding of any rank; one number is for both ends of each dimension."""

    _prefix, _stored = "_", {"padding": "_pad", "mode": "_mode", "value": "_value"}
    _passed = ("padding", "mode", "value", "data_format", "name")
    _rank: int

    def __init__(self, padding: IntegersLike, *options: Any) -> None:
        super().__init__([padding] * (2 * self._rank) if isinstance(padding, int) else padding, *options)


class Pad1D(_PadNd):
    """Something around [N, C, L]: left, right, or one number for both; see functional.pad."""

    _function, _rank = "pad", 1

    def __init__(
        self,
        padding: IntegersLike,
        mode: str = "constant",
        value: float = 0.0,
        data_format: str = "NCL",
        name: str | None = None,
    ) -> None:
        super().__init__(padding, mode, value, data_format, name)


class Pad2D(_PadNd):
    """Something around images: left, right, top, bottom, or one number for all; see functional.pad."""

    _function, _rank = "pad", 2

    def __init__(
        self,
        padding: IntegersLike,
        mode: str = "constant",
        value: float = 0.0,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(padding, mode, value, data_format, name)


class Pad3D(_PadNd):
    """Something around volumes: left, right, top, bottom, front, back, or one number; see functional.pad."""

    _function, _rank = "pad", 3

    def __init__(
        self,
        padding: IntegersLike,
        mode: str = "constant",
        value: float = 0.0,
        data_format: str = "NCDHW",
        name: str | None = None,
    ) -> None:
        super().__init__(padding, mode, value, data_format, name)


class ZeroPad2D(_PadNd):
    """Zeros around images: left, right, top, bottom, or one number for all."""

    _function, _rank = "pad", 2

    def __init__(self, padding: IntegersLike, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__(padding, data_format, name)
        self._mode = "constant"
        self._value = 0.0
