"""Paddle's ``onnx``: export of models, which needs another package there and is not here."""

from __future__ import annotations

from typing import Any

from engine.core.errors import MissingExtraError

__all__ = ["export"]


def export(layer: Any, path: str, input_spec: Any = None, opset_version: int = 9, **configs: Any) -> None:
    """Raises MissingExtraError, an ImportError, as Paddle does without the package paddle2onnx.

    Differs from Paddle: no package makes it work; the engine writes no ONNX files.
    """
    raise MissingExtraError(
        "onnx.export: the engine writes no ONNX files, and no extra brings that; keep the model with "
        "paddle.jit.save(layer, path, input_spec)"
    )
