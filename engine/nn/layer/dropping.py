"""Dropout in all its forms, as layers: they drop while training only."""

from __future__ import annotations

from typing import Any

from engine.nn import functional
from engine.nn.layer.layers import Layer


class Dropout(Layer):
    """Sets elements to zero with probability ``p`` while training; see functional.dropout."""

    def __init__(
        self, p: float = 0.5, axis: Any = None, mode: str = "upscale_in_train", name: str | None = None
    ) -> None:
        super().__init__()
        self.p = p
        self.axis = axis
        self.mode = mode
        self.name = name

    def forward(self, input: Any) -> Any:
        return functional.dropout(
            input, p=self.p, axis=self.axis, training=self.training, mode=self.mode, name=self.name
        )

    def extra_repr(self) -> str:
        name = f", name={self.name}" if self.name else ""
        return f"p={self.p}, axis={self.axis}, mode={self.mode}{name}"


class Dropout2D(Layer):
    """Drops whole channels of x [N, C, H, W]."""

    def __init__(self, p: float = 0.5, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__()
        self.p = p
        self.data_format = data_format
        self.name = name

    def forward(self, input: Any) -> Any:
        return functional.dropout2d(
            input, p=self.p, training=self.training, data_format=self.data_format, name=self.name
        )

    def extra_repr(self) -> str:
        name = f", name={self.name}" if self.name else ""
        return f"p={self.p}, data_format={self.data_format}{name}"


class Dropout3D(Layer):
    """Drops whole channels of x [N, C, D, H, W]."""

    def __init__(self, p: float = 0.5, data_format: str = "NCDHW", name: str | None = None) -> None:
        super().__init__()
        self.p = p
        self.data_format = data_format
        self.name = name

    def forward(self, input: Any) -> Any:
        return functional.dropout3d(
            input, p=self.p, training=self.training, data_format=self.data_format, name=self.name
        )

    def extra_repr(self) -> str:
        name = f", name={self.name}" if self.name else ""
        return f"p={self.p}, data_format={self.data_format}{name}"


class AlphaDropout(Layer):
    """Dropout that keeps mean and variance of what selu gives."""

    def __init__(self, p: float = 0.5, name: str | None = None) -> None:
        super().__init__()
        self.p = p
        self.name = name

    def forward(self, input: Any) -> Any:
        return functional.alpha_dropout(input, p=self.p, training=self.training, name=self.name)

    def extra_repr(self) -> str:
        name = f", name={self.name}" if self.name else ""
        return f"p={self.p}{name}"
