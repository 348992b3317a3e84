"""Rows of ``engine.ops.elementwise``."""

from engine.onnx.writes.elementwise import arithmetic, bits, numbers  # fill ROWS

__all__ = ["arithmetic", "bits", "numbers"]
