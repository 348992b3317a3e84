"""Labels in the roles of the style sheet: quiet, heading, section."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel


def mute(text: str = "", wrap: bool = False) -> QLabel:
    """A quiet label."""
    return _label(text, "mute", wrap)


def heading(text: str = "") -> QLabel:
    """The title of a card or a part of a page."""
    return _label(text, "title")


def section(text: str = "") -> QLabel:
    """The small label above a part of a dock."""
    return _label(text, "section")


def _label(text: str, role: str, wrap: bool = False) -> QLabel:
    label = QLabel(text)
    label.setProperty("role", role)
    label.setWordWrap(wrap)
    return label
