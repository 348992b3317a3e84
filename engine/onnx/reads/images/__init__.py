"""Rows of ``engine.ops.images``."""
