"""Labels in the roles of the style sheet: quiet, heading, section."""

from __future__ import annotations

import re

from PySide6.QtWidgets import QLabel

_LETTER = r"[^\s/\\_.,:=@\-]"
# Long names of tensors and paths may be broken after a character that is not a letter, and long words
# after 16 letters; a number stays whole.
_BREAKS = re.compile(
    r"(?<=[/\\_:=@\-])(?=\S)|(?<=[.,])(?=[^\s\d])|(?<=[^\d][.,])(?=\d)|(?<=[0-9a-f]{8})(?=[0-9a-f]{8})|(?<="
    + _LETTER
    + "{16})(?="
    + _LETTER
    + ")"
)
_ZERO_WIDTH = "\u200b"


def breakable(text: str) -> str:
    """The text with invisible places where a label that wraps may break long names."""
    return _BREAKS.sub(_ZERO_WIDTH, text)


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
