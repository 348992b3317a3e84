"""Conversion of Python functions whose conditions may be Tensors; the way in is `convert.convert`."""
