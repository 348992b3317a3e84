"""``paddle.onnx``: models as ONNX files."""
