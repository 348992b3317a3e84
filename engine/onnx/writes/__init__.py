"""How operators of a Program are written in ONNX: a file for each family of ``engine.ops``."""
