"""Rows of ``engine.ops.sequences``."""

from engine.onnx.writes.sequences import masks, paths, recurrent
