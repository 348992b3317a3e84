"""Widths of the scaled MobileNets."""

from __future__ import annotations


def make_divisible(width: float, divisor: int = 8) -> int:
    """The multiple of ``divisor`` nearest to ``width``, at least ``divisor`` and 90% of ``width``."""
    rounded = max(divisor, int(width + divisor / 2) // divisor * divisor)
    return rounded + divisor if rounded < 0.9 * width else rounded
