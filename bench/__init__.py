"""Measurements, run as ``python -m bench.NAME`` from the top of the tree; they are not part of the wheel."""
