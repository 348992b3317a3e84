"""Layouts with one margin on all sides: vertical, horizontal, and labels next to their fields."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtWidgets import QBoxLayout, QFormLayout, QHBoxLayout, QVBoxLayout, QWidget

from widgets import theme

_Layout = TypeVar("_Layout", bound=QBoxLayout | QFormLayout)


def vertical(
    parent: QWidget | None, margin: int = theme.SPACE_M, spacing: int | None = theme.SPACE_S
) -> QVBoxLayout:
    """A layout from top to bottom; ``spacing`` None keeps that of the style."""
    return _spaced(QVBoxLayout(parent), margin, spacing)


def horizontal(
    parent: QWidget | None, margin: int = theme.SPACE_M, spacing: int | None = theme.SPACE_S
) -> QHBoxLayout:
    """A layout from left to right; ``spacing`` None keeps that of the style."""
    return _spaced(QHBoxLayout(parent), margin, spacing)


def form(
    parent: QWidget | None, margin: int = theme.SPACE_M, spacing: int | None = theme.SPACE_S
) -> QFormLayout:
    """Labels on the left of their fields; ``spacing`` None keeps that of the style."""
    return _spaced(QFormLayout(parent), margin, spacing)


def _spaced(layout: _Layout, margin: int, spacing: int | None) -> _Layout:
    layout.setContentsMargins(margin, margin, margin, margin)
    if spacing is not None:
        layout.setSpacing(spacing)
    return layout
