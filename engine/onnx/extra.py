"""The package ``onnx``, which only this room imports, and only when a model goes out or comes in."""

from __future__ import annotations

from types import ModuleType

from engine.core.errors import MissingExtraError
from resources.installing import extra


def onnx_package() -> ModuleType:
    """The package ``onnx`` with its helpers. Raises MissingExtraError without the extra ``onnx``."""
    try:
        import onnx
        import onnx.helper
        import onnx.numpy_helper
    except ImportError as error:
        raise MissingExtraError(f"ONNX files need the package onnx: {extra('onnx')}") from error
    return onnx
