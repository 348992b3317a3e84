"""Rows of ``engine.ops.images``."""

from engine.onnx.writes.images import convolutions, pooling, rearranging, resizing
