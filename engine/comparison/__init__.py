"""Differences in numbers: two ways to compute one step, compared operator by operator."""
