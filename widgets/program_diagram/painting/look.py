"""Colours of a diagram: kinds, phases, edges, marks, in the theme that holds now."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from PySide6.QtGui import QColor

from widgets import theme
from widgets.program_diagram.scene import (
    BRANCH,
    KINDS,
    LAYER,
    LINE,
    LOOP,
    MORE,
    OPERATOR,
    PHASES,
    PREFIX,
    VALUE,
)
from widgets.tokens import Tokens

# Run colours that tint a kind or a phase, and how strongly; None stays as the panel is.
_TINTS = {OPERATOR: None, LAYER: 0, LOOP: 1, BRANCH: 5, LINE: 4, PREFIX: 7, MORE: None, VALUE: 2}
_STRIPES = (None, 1, 2)
_SHARE = {False: 0.10, True: 0.16}


@dataclass(frozen=True)
class Paint:
    """How a box is filled: its ground, its text, its second line and its border."""

    fill: QColor
    ink: QColor
    faint: QColor
    border: QColor


@dataclass(frozen=True)
class Look:
    """All colours of one theme."""

    ground: QColor
    kinds: tuple[Paint, ...]
    frames: tuple[QColor, ...]
    frame_border: QColor
    edge: QColor
    far_edge: QColor
    accent: QColor
    text: QColor
    mute: QColor
    # For each phase the colour of its stripe and badge; None for forward.
    stripes: tuple[QColor | None, ...]
    unmeasured: Paint


def look() -> Look:
    """The colours of the theme that holds now."""
    return _look(theme.current())


@lru_cache(2)
def _look(tokens: Tokens) -> Look:
    border = theme.mix(tokens.line, tokens.mute, 0.45)
    text, mute = QColor(tokens.text), QColor(tokens.mute)

    def paint(fill: QColor, edge: QColor = border) -> Paint:
        faint = mute if theme.contrast(mute, fill) >= 4.5 else theme.mix(tokens.mute, tokens.text, 0.5)
        return Paint(fill, text, faint, edge)

    kinds = []
    for kind in range(len(KINDS)):
        tint = _TINTS[kind]
        if tint is None:
            kinds.append(paint(QColor(tokens.panel if kind == OPERATOR else tokens.ground)))
        else:
            color = tokens.runs[tint]
            edge = theme.mix(tokens.panel, color, 0.6)
            kinds.append(paint(theme.mix(tokens.panel, color, _SHARE[tokens.dark]), edge))
    grey = theme.mix(tokens.panel, tokens.mute, 0.3)
    return Look(
        ground=QColor(tokens.ground),
        kinds=tuple(kinds),
        frames=(theme.mix(tokens.ground, tokens.mute, 0.07), theme.mix(tokens.ground, tokens.mute, 0.13)),
        frame_border=theme.mix(tokens.line, tokens.mute, 0.6),
        edge=mute,
        far_edge=theme.mix(tokens.ground, tokens.mute, 0.55),
        accent=QColor(tokens.accent),
        text=text,
        mute=mute,
        stripes=tuple(
            None if place is None else QColor(tokens.runs[place]) for place in _STRIPES[: len(PHASES)]
        ),
        unmeasured=Paint(grey, theme.ink_on(grey), theme.ink_on(grey), mute),
    )


def colored(fill: QColor) -> Paint:
    """A box whose ground is the colour of a value."""
    ink = theme.ink_on(fill)
    return Paint(fill, ink, ink, QColor(theme.current().mute))
