"""Layers as functions that make their parameters: ``static.nn.fc`` and its kind."""

from engine.static.nn.common import embedding, fc

__all__ = ["embedding", "fc"]
