"""How operators of ONNX are read: a file per family of ``engine.ops``, a row per operator."""
