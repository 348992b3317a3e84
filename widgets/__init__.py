"""Reusable Qt widgets that speak Qt and plain values only."""

from widgets.pyside_imports import skip_source_reading

skip_source_reading()
