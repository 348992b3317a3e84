"""Rows of ``engine.ops.arrays``."""
