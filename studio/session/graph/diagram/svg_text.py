"""Numbers and texts as an SVG file has them."""

from __future__ import annotations

import re
from html import escape

from studio.session.graph.diagram.texts import text_width

_INVALID = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def coordinate(value: float) -> str:
    """A coordinate with one decimal."""
    return f"{value:.1f}".removesuffix(".0")


def escaped(text: str) -> str:
    """A text between tags, without what XML can't hold."""
    return escape(_INVALID.sub("\ufffd", text), quote=False)


def fitting(text: str, room: float, size: float) -> str:
    """As much of a text as has room, in letters of ``size`` pixels."""
    if text_width(text, size) <= room + 8:
        return text
    while text and text_width(text + "…", size) > room:
        text = text[:-1]
    return text + "…"
