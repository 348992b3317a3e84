"""Operators that round values to the levels of quantization, and back.

The *threshold* (``scale`` in Paddle's slots) is the largest absolute value s, not the step between levels:
with ``bnt = 2 ** (bits - 1) - 1`` a value x becomes the integer ``round(bnt / s * x)``, and the integer q
stands for ``q * s / bnt``.
"""
