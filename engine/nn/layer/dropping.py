"""Dropout in all its forms, as layers: they drop while training only."""

from __future__ import annotations

from collections.abc import Sequence

from engine.nn.layer.function_layer import OfInput


class Dropout(OfInput):
    """Sets elements to zero with probability ``p`` while training; see functional.dropout."""

    _function, _passed = "dropout", ("p", "axis", "training", "mode", "name")

    def __init__(
        self,
        p: float = 0.5,
        axis: int | Sequence[int] | None = None,
        mode: str = "upscale_in_train",
        name: str | None = None,
    ) -> None:
        super().__init__(p, axis, mode, name)


class Dropout2D(OfInput):
    """Drops whole channels of x [N, C, H, W]."""

    _function, _passed = "dropout2d", ("p", "training", "data_format", "name")

    def __init__(self, p: float = 0.5, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__(p, data_format, name)


class Dropout3D(OfInput):
    """Drops whole channels of x [N, C, D, H, W]."""

    _function, _passed = "dropout3d", ("p", "training", "data_format", "name")

    def __init__(self, p: float = 0.5, data_format: str = "NCDHW", name: str | None = None) -> None:
        super().__init__(p, data_format, name)


class AlphaDropout(OfInput):
    """Dropout that keeps mean and variance of what selu gives."""

    _function, _passed = "alpha_dropout", ("p", "training", "name")

    def __init__(self, p: float = 0.5, name: str | None = None) -> None:
        super().__init__(p, name)
