"""Paddle's path to the error of code that can't be converted."""

from engine.core.errors import ConversionError as Dygraph2StaticException

__all__ = ["Dygraph2StaticException"]
