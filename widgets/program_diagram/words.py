"""What a diagram and its boxes are in words: tool tips and texts for screen readers."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

from widgets import theme
from widgets.program_diagram.index import SceneIndex
from widgets.program_diagram.painting.boxes import Shown
from widgets.program_diagram.scene import GROUPS

_KINDS = (
    QT_TRANSLATE_NOOP("ProgramDiagram", "Operator"),
    QT_TRANSLATE_NOOP("ProgramDiagram", "Layer"),
    QT_TRANSLATE_NOOP("ProgramDiagram", "Loop"),
    QT_TRANSLATE_NOOP("ProgramDiagram", "Branch"),
    QT_TRANSLATE_NOOP("ProgramDiagram", "Source line"),
    QT_TRANSLATE_NOOP("ProgramDiagram", "Group by name"),
    QT_TRANSLATE_NOOP("ProgramDiagram", "More boxes"),
    QT_TRANSLATE_NOOP("ProgramDiagram", "Value"),
)
_PHASES = (
    QT_TRANSLATE_NOOP("ProgramDiagram", "forward"),
    QT_TRANSLATE_NOOP("ProgramDiagram", "backward"),
    QT_TRANSLATE_NOOP("ProgramDiagram", "update"),
)
_MARKS = {
    "breakpoint": QT_TRANSLATE_NOOP("ProgramDiagram", "Breakpoint"),
    "breakpoint_off": QT_TRANSLATE_NOOP("ProgramDiagram", "Disabled breakpoint"),
    "current": QT_TRANSLATE_NOOP("ProgramDiagram", "Next to run"),
    "added": QT_TRANSLATE_NOOP("ProgramDiagram", "Added"),
    "removed": QT_TRANSLATE_NOOP("ProgramDiagram", "Removed"),
    "changed": QT_TRANSLATE_NOOP("ProgramDiagram", "Changed"),
    "moved": QT_TRANSLATE_NOOP("ProgramDiagram", "Moved"),
    "alert": QT_TRANSLATE_NOOP("ProgramDiagram", "Alert"),
    "found": QT_TRANSLATE_NOOP("ProgramDiagram", "Found"),
}
_LONGEST = 400  # characters of a title in a tool tip


def translated(words: str) -> str:
    """A text of this widget in the current language."""
    return QCoreApplication.translate("ProgramDiagram", words)


def box_lines(shown: Shown, row: int) -> list[str]:
    """A box in words: its title, kind, note, value and marks."""
    scene = shown.scene
    kind, phase = int(scene.kinds[row]), int(scene.phases[row])
    lines = [_short(scene.titles[row]), f"{translated(_KINDS[kind])}, {translated(_PHASES[phase])}"]
    if scene.notes[row]:
        lines.append(_short(scene.notes[row]))
    if shown.colors is not None:
        value = shown.colors.text(row) or translated("not measured")
        lines.append(f"{shown.colors.values.title}: {value}")
    lines += [translated(_MARKS[mark]) for mark in shown.marks.get(row, ())]
    if kind in GROUPS:
        opened = bool(scene.opened[row])
        lines.append(
            translated("Opened; Enter closes it") if opened else translated("Closed; Enter opens it")
        )
    return lines


def box_tip(shown: Shown, row: int, hint: str = "") -> str:
    """The tool tip of a box, as rich text; ``hint`` is about its picture."""
    first, *others = (escape(line) for line in (*box_lines(shown, row), *hint.splitlines()))
    return "<br>".join((f"<b>{first}</b>", *others))


def edge_tip(shown: Shown, edge: int) -> str:
    """The tool tip of an edge, as rich text: its shape, and what it joins."""
    scene = shown.scene
    begin, end = (_short(scene.titles[row]) for row in scene.edge_ends[edge].tolist())
    words = _short(scene.edge_texts[edge])
    joined = escape(f"{begin} → {end}")
    return f"<b>{escape(words)}</b><br>{joined}" if words else joined


def summary(shown: Shown, index: SceneIndex, selected: Sequence[int]) -> str:
    """The diagram in words."""
    number = theme.format_number
    opened = int(shown.scene.opened.sum())
    words = translated("{0} boxes, {1} connections").format(
        number(index.count - opened), number(index.edge_count)
    )
    if opened:
        words += ", " + translated("{0} opened groups").format(number(opened))
    if shown.colors is not None:
        words += ". " + translated("Coloured by {0}").format(shown.colors.values.title)
    marked = sum(len(each) for each in shown.marks.values())
    if marked:
        words += ". " + translated("{0} marks").format(number(marked))
    if len(selected) == 1:
        words += "\n" + translated("Selected: {0}").format(", ".join(box_lines(shown, selected[0])))
    elif selected:
        words += "\n" + translated("{0} selected").format(number(len(selected)))
    return words


def _short(words: str) -> str:
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST]}…"
