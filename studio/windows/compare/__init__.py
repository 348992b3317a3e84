"""Differences in numbers: the dialog."""
