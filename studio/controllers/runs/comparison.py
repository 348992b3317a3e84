"""Opens the comparison of runs and fills it."""

from __future__ import annotations

import math

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from resources import quantities
from resources.words import shown, tr
from studio.controllers.bindings import Bindings
from studio.controllers.runs.run_facts import metric_text, state_word
from studio.session.runs.comparison import (
    ResultRow,
    compared_results,
    compared_settings,
    source_of,
)
from studio.session.runs.runs_folder import Run
from studio.session.runs.source_difference import PairedLine, paired_lines, unified_difference
from studio.session.work.file_thread import FileThread
from studio.windows.runs.comparison_dialog import ComparisonDialog, ComparisonRow
from widgets.code_view.side_by_side import SideLine

_Sources = tuple[dict[str, str], dict[str, str]]
_MARKS = {"changed": ("bad", "ok"), "removed": ("bad", ""), "added": ("", "ok")}


class ComparisonController(QObject):
    """Compares runs of a list; each comparison is a window of its own next to the main one."""

    def __init__(self, window: QWidget, reading: FileThread) -> None:
        super().__init__(window)
        self._window, self._reading = window, reading
        self._open: dict[ComparisonDialog, list[Run]] = {}
        self._bonds = Bindings()
        self._bonds.again(self._show_again)

    def compare(self, runs: list[Run], titles: list[str], colors: list[int | str]) -> ComparisonDialog:
        """Open a comparison of two or more runs under their titles, with their colours."""
        dialog = ComparisonDialog(self._window, titles, colors, self._rows(runs))
        self._open[dialog] = runs
        dialog.finished.connect(lambda: self._open.pop(dialog, None))
        dialog.pair_chosen.connect(lambda *_: self._show_pair(dialog))
        self._show_pair(dialog)
        dialog.finished.connect(dialog.deleteLater)
        dialog.show()
        return dialog

    def _show_pair(self, dialog: ComparisonDialog) -> None:
        runs = self._open[dialog]
        self._show_source(dialog, runs[dialog.first.currentIndex()], runs[dialog.second.currentIndex()])

    def _show_again(self) -> None:
        """Show the comparisons in another language."""
        for dialog, runs in self._open.items():
            dialog.set_rows(self._rows(runs))
            self._show_pair(dialog)

    def close_all(self) -> None:
        """Close the comparisons: another project is open."""
        for dialog in list(self._open):
            dialog.close()

    def close(self) -> None:
        """Follow the language no longer."""
        self._bonds.release()

    def _rows(self, runs: list[Run]) -> list[ComparisonRow]:
        two = len(runs) == 2
        names = {
            "accuracy": self.tr("Validation accuracy"),
            "r2": self.tr("Validation R²"),
            "mae": self.tr("Mean absolute error"),
            "loss": self.tr("Validation loss"),
            "time": self.tr("Training time"),
            "steps": self.tr("Steps"),
        }
        rows = [ComparisonRow(self.tr("Results"))]
        states = tuple(state_word(run.state, self) for run in runs)
        rows.append(ComparisonRow(self.tr("State"), (*states, "") if two else states, len(set(states)) > 1))
        for result in compared_results(runs):
            values = tuple(metric_text(result.name, value) or "\u2013" for value in result.values)
            more = (self._difference(result),) if two else ()
            rows.append(
                ComparisonRow(names[result.name], (*values, *more), len(set(values)) > 1, result.best)
            )
        rows.append(ComparisonRow(self.tr("Settings")))
        for setting in compared_settings(runs):
            values = tuple(tr(value) or "\u2013" for value in setting.values)
            rows.append(ComparisonRow(tr(setting.title), (*values, "") if two else values, setting.differs))
        return rows

    def _difference(self, result: ResultRow) -> str:
        """The second less the first, with its sign."""
        change = result.difference
        if math.isnan(change) or change == 0:
            return ""
        if result.name == "accuracy":
            return self.tr("{0} points").format(quantities.points(change))
        sign = "+" if change > 0 else quantities.MINUS
        return f"{sign}{metric_text(result.name, abs(change))}"

    def _show_source(self, dialog: ComparisonDialog, one: Run, other: Run) -> None:
        # Here, not in the thread: two threads that import the engine at once can lock each other out.
        import engine.files.run_source  # noqa: F401

        def read() -> tuple[_Sources, list[PairedLine], str] | OSError:
            try:
                sources = source_of(one), source_of(other)
            except OSError as error:
                return error
            return sources, paired_lines(*sources), unified_difference(*sources)

        def take(found: tuple[_Sources, list[PairedLine], str] | OSError) -> None:
            if dialog not in self._open:
                return
            if isinstance(found, OSError):
                dialog.show_source((), (), "", shown(str(found)))
            else:
                self._show_difference(dialog, *found)

        self._reading.do(read, take)

    def _show_difference(
        self, dialog: ComparisonDialog, sources: _Sources, lines: list[PairedLine], unified: str
    ) -> None:
        instead = ""
        if not any(sources):
            instead = self.tr("Both models are built in; neither run has its own source file.")
        elif not lines:
            instead = self.tr("The source of both runs is the same.")
        left, right = [], []
        for line in lines:
            marks = _MARKS.get(line.kind, ("", ""))
            heading = line.kind == "file"
            left.append(SideLine(line.left, line.left_text, marks[0], line.left_spans, heading))
            right.append(SideLine(line.right, line.right_text, marks[1], line.right_spans, heading))
        dialog.show_source(left, right, unified, instead)
