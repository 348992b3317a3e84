"""``paddle.onnx``: networks as ONNX files."""

from engine.onnx.write_file import export

__all__ = ["export"]
