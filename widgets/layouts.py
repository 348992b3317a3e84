"""Layouts with their margins and spacing: vertical, horizontal, grids, and labels next to their fields."""

from __future__ import annotations

from typing import TypeAlias, TypeVar

from PySide6.QtWidgets import QBoxLayout, QFormLayout, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from widgets import theme

_Layout = TypeVar("_Layout", bound=QBoxLayout | QFormLayout | QGridLayout)
# One margin on all sides, or left, top, right and bottom.
Margin: TypeAlias = int | tuple[int, int, int, int]


def vertical(
    parent: QWidget | None, margin: Margin = theme.SPACE_M, spacing: int | None = theme.SPACE_S
) -> QVBoxLayout:
    """A layout from top to bottom; ``spacing`` None keeps that of the style."""
    return _spaced(QVBoxLayout(parent), margin, spacing)


def horizontal(
    parent: QWidget | None, margin: Margin = theme.SPACE_M, spacing: int | None = theme.SPACE_S
) -> QHBoxLayout:
    """A layout from left to right; ``spacing`` None keeps that of the style."""
    return _spaced(QHBoxLayout(parent), margin, spacing)


def form(
    parent: QWidget | None, margin: Margin = theme.SPACE_M, spacing: int | None = theme.SPACE_S
) -> QFormLayout:
    """Labels on the left of their fields; ``spacing`` None keeps that of the style."""
    return _spaced(QFormLayout(parent), margin, spacing)


def grid(
    parent: QWidget | None, margin: Margin = theme.SPACE_M, spacing: int | None = theme.SPACE_S
) -> QGridLayout:
    """Rows and columns; ``spacing`` None keeps that of the style."""
    return _spaced(QGridLayout(parent), margin, spacing)


def _spaced(layout: _Layout, margin: Margin, spacing: int | None) -> _Layout:
    left, top, right, bottom = (margin,) * 4 if isinstance(margin, int) else margin
    layout.setContentsMargins(left, top, right, bottom)
    if spacing is not None:
        layout.setSpacing(spacing)
    return layout
