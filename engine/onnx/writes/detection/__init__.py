"""Rows of ``engine.ops.detection``."""
