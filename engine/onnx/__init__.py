"""``paddle.onnx``: networks as ONNX files."""

from engine.onnx.export import export

__all__ = ["export"]
