"""``paddle.onnx``: networks as ONNX files."""

from engine.onnx.read_file import load
from engine.onnx.write_file import export

__all__ = ["export", "load"]
