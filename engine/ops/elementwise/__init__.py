"""Elementwise arithmetic, comparison, rounding and mathematical functions."""
