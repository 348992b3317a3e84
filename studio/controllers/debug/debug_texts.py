"""What the page Debug says: where it stands and why, in words."""

from __future__ import annotations

from pathlib import PurePath

from PySide6.QtCore import QObject

from resources.words import shown, tr
from studio.session.debug.breakpoints import Change, Stop, ValueRow
from studio.session.debug.debug_view import DebugViewModel
from widgets import theme

INPUTS = 4  # of which the extremes are named


class DebugTexts(QObject):
    """Translates reasons of stops into titles; the messages come from the debugger."""

    def part(self, name: str) -> str:
        """The name of a part in a sentence."""
        words = {"forward": self.tr("forward"), "backward": self.tr("backward"), "update": self.tr("update")}
        return words.get(name, name)

    def look(self, view: DebugViewModel) -> str:
        """The look of the position bar."""
        if view.state in ("starting", "running", "stopping"):
            return "working"
        if view.state == "ended":
            return "ended" if view.last_problem is not None else "step"
        reason = view.stop.reason
        if reason in ("failed", "finite", "breakpoint"):
            return reason
        return "found" if reason in ("not finite", "condition") else "step"

    def title(self, view: DebugViewModel) -> str:
        """The sentence at the top."""
        stop, tr = view.stop, self.tr
        if view.state == "starting":
            return tr("Preparing {0}…").format(view.title)
        if view.state == "running":
            return tr("Computing…")
        if view.state == "stopping":
            return tr("Stopping…")
        if view.state == "ended":
            return tr("Debugging has ended") if view.last_problem is None else shown(view.last_problem.title)
        titles = {
            "begin": tr("Before the first operator of batch {0}").format(stop.batch),
            "breakpoint": tr("Breakpoint: {0}").format(stop.operator),
            "condition": tr("{0} meets a condition").format(stop.operator),
            "not finite": tr("{0} is the first operator with a bad value").format(stop.operator),
            "failed": tr("{0} failed").format(stop.operator),
            "end": tr("Batch {0} is complete").format(stop.batch),
            "finite": tr("Everything is finite"),
            "interrupted": tr("Stopped after {0}").format(stop.operator),
        }
        return titles.get(stop.reason, stop.operator or tr("Standing"))

    def place(self, view: DebugViewModel) -> str:
        """Part, number, layer and line of the operator at the position."""
        stop, tr = view.stop, self.tr
        if view.state != "standing" or not stop.operator:
            return ""
        number = theme.format_number(stop.position)
        parts = [tr("{0}, operator {1}").format(self.part(stop.part), number)]
        if stop.iterations:
            rounds = ", ".join(str(each + 1) for each in stop.iterations)
            parts.append(tr("iteration {0}").format(rounds))
        parts.append(stop.layer)
        if stop.file and stop.line:
            parts.append(f"{PurePath(stop.file).name}:{stop.line}")
        parts.append(stop.source or self._line(view))
        return " \u00b7 ".join(filter(None, parts))

    def _line(self, view: DebugViewModel) -> str:
        """The text of the line, where the file is the one that is shown."""
        lines = view.source.splitlines() if view.stop.file == view.source_file else []
        return lines[view.stop.line - 1].strip() if 0 < view.stop.line <= len(lines) else ""

    def message(self, view: DebugViewModel) -> str:
        """What was found, with the extremes of the inputs where a result is bad."""
        stop = view.stop
        if view.state != "standing":
            return shown(view.message)
        words = [_capital(shown(stop.message))]
        if stop.reason in ("not finite", "failed", "condition"):
            found = [row for row in stop.rows if row.role == "out" and row.name == stop.value]
            inputs = [row for row in stop.rows if row.role == "in" and row.shape is not None]
            words += [self.tr("Result {0}: {1}").format(row.name, self.figures(row)) for row in found]
            words += [
                self.tr("Input {0}: {1}").format(row.name, self.figures(row)) for row in inputs[:INPUTS]
            ]
        return " \u00b7 ".join(filter(None, words))

    def figures(self, row: ValueRow) -> str:
        """Extremes of a value, and counts of what is not finite."""
        if row.shape is None:
            return row.dtype
        words = []
        if row.minimum is not None and row.maximum is not None:
            low, high = theme.format_number(row.minimum), theme.format_number(row.maximum)
            words.append(self.tr("{0} to {1}").format(low, high))
        infinite = (("+\u221e", row.positive_infinite), ("\u2212\u221e", row.negative_infinite))
        counts = (("NaN", row.nan), *infinite)
        words += [f"{theme.format_number(count)} {name}" for name, count in counts if count]
        return ", ".join(words) or self.tr("no elements")

    def note(self, view: DebugViewModel) -> str:
        """What differs from the training; of an ended one what stays."""
        if view.state == "ended":
            return self.tr("Breakpoints, conditions and watches stay. Restart prepares the batch again.")
        notes = map(_sentence, view.notes)
        return " ".join(notes) if view.state == "standing" else ""

    def change(self, change: Change) -> str:
        """How a value was changed."""
        value = str(change.value)
        if change.how == "fill":
            return self.tr("filled with {0}").format(value)
        if change.how == "scale":
            return self.tr("times {0}").format(value)
        index = ", ".join(str(each) for each in change.index)
        return f"[{index}] = {value}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _sentence(note: str) -> str:
    text = shown(note)
    if text.endswith((".", "!", "?")):
        return _capital(text)
    return (tr("{0}.") if text != note else "{0}.").format(_capital(text))


def where_line(stop: Stop, file: str) -> int:
    """The line of the operator at the position where it is in ``file``, else 0."""
    return stop.line if stop.file == file else 0
