"""Rows of ``engine.ops.elementwise``."""
