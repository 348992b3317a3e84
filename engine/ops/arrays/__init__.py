"""Shapes, indices and the order of elements."""
