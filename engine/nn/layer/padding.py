"""Padding as layers."""

from __future__ import annotations

from typing import Any

from engine.nn import functional
from engine.nn.layer.layers import Layer


class _PadNd(Layer):
    """What the paddings of all ranks share."""

    _rank: int

    def __init__(self, padding: Any, mode: str, value: float, data_format: str, name: str | None) -> None:
        super().__init__()
        self._pad = [padding] * (2 * self._rank) if isinstance(padding, int) else padding
        self._mode = mode
        self._value = value
        self._data_format = data_format
        self._name = name

    def forward(self, x: Any) -> Any:
        return functional.pad(
            x,
            pad=self._pad,
            mode=self._mode,
            value=self._value,
            data_format=self._data_format,
            name=self._name,
        )

    def extra_repr(self) -> str:
        name = f", name={self._name}" if self._name else ""
        return (
            f"padding={self._pad}, mode={self._mode}, value={self._value}, "
            f"data_format={self._data_format}{name}"
        )


class Pad1D(_PadNd):
    """Something around [N, C, L]: left, right, or one number for both; see functional.pad."""

    _rank = 1

    def __init__(
        self,
        padding: Any,
        mode: str = "constant",
        value: float = 0.0,
        data_format: str = "NCL",
        name: str | None = None,
    ) -> None:
        super().__init__(padding, mode, value, data_format, name)


class Pad2D(_PadNd):
    """Something around images: left, right, top, bottom, or one number for all; see functional.pad."""

    _rank = 2

    def __init__(
        self,
        padding: Any,
        mode: str = "constant",
        value: float = 0.0,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(padding, mode, value, data_format, name)


class Pad3D(_PadNd):
    """Something around volumes: left, right, top, bottom, front, back, or one number; see functional.pad."""

    _rank = 3

    def __init__(
        self,
        padding: Any,
        mode: str = "constant",
        value: float = 0.0,
        data_format: str = "NCDHW",
        name: str | None = None,
    ) -> None:
        super().__init__(padding, mode, value, data_format, name)


class ZeroPad2D(_PadNd):
    """Zeros around images: left, right, top, bottom, or one number for all."""

    _rank = 2

    def __init__(self, padding: Any, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__(padding, "constant", 0.0, data_format, name)

    def extra_repr(self) -> str:
        name = f", name={self._name}" if self._name else ""
        return f"padding={self._pad}, data_format={self._data_format}{name}"
