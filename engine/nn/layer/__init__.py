"""The layers; ``Layer`` is their base."""

from engine.nn.layer.layers import Layer

__all__ = ["Layer"]
