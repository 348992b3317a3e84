"""Sizes of files in words."""

from __future__ import annotations

from widgets import theme


def size_text(size: int) -> str:
    """Bytes for people."""
    if size < 1000:
        return theme.format_number(size, "B")
    value, unit = (size / 1e6, "MB") if size >= 1e6 else (size / 1e3, "kB")
    return theme.format_number(float(f"{value:.3g}"), unit)
