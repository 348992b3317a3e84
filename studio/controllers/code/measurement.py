"""The figures of a measurement on the page Code: as a tree next to the editor, and at the source lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject

from resources import compiling, quantities
from resources.words import shown
from studio.controllers.actions import Actions
from studio.controllers.bindings import Bindings
from studio.session import commands
from studio.session.code.measure_view import Figures, Measurement
from studio.session.code.model_editor import ModelEditor
from studio.windows.code.code_page import MEASURED, CodePage
from studio.windows.code.measurement_table import Row


class MeasurementController(QObject):
    """A row leads to its lines, the caret's line lights its rows."""

    def __init__(self, model_editor: ModelEditor, page: CodePage, actions: Actions) -> None:
        super().__init__(page)
        self._trials, self._page, self._actions = model_editor.trials, page, actions
        self._view = model_editor.trials.measuring.view
        self._bonds = Bindings()
        actions.handle(commands.MEASURE_MODEL, self._measure)
        actions.handle(commands.STOP_MEASURING, model_editor.trials.measuring.cancel)
        actions.fill_bar(page.measured, "measured")
        page.measured.lines_chosen.connect(self._lines_chosen)
        page.measured.kind_chosen.connect(self._show)
        page.editor.caret_moved.connect(self._light)
        self._bonds.show(self._view, "running", lambda _: actions.refresh())
        self._bonds.show_any(self._view, ("found", "stale", "problem", "running"), self._show)

    def _measure(self) -> str:
        self._page.show_view(MEASURED)
        return self._trials.measure(self._actions.refused.emit)

    def _show(self) -> None:
        view, table, tr = self._view, self._page.measured, self.tr
        table.set_problem(shown(view.problem))
        measured = view.found
        if view.running:
            table.set_about(tr("Training a few steps…"))
        elif measured is None:
            table.set_about(
                tr(
                    "Trains a few steps with the settings of the page Train and shows their time by "
                    "operator and by line. Nothing is saved."
                )
            )
        else:
            stale = [tr("The text has changed: measure again.")] if view.stale else []
            table.set_about("\n".join([*stale, self.about(measured)]))
        table.set_rows(self.rows(measured) if measured is not None else [])
        self._light(self._page.editor.caret_line())

    def about(self, measured: Measurement) -> str:
        """How long a step takes, and what computed it, in words."""
        tr = self.tr
        mode = tr("static") if measured.static else tr("eager")
        kernels = tr("NumPy's kernels")
        if measured.compiled:
            kernels = tr("compiled kernels: {0}").format(len(measured.compiled))
        elif why := compiling.missing():
            kernels = tr("{0} ({1})").format(kernels, shown(why))
        threads = tr("1 thread") if measured.threads == 1 else tr("{0} threads").format(measured.threads)
        words = tr("{0} ms a step, {1} ms while recorded · {2}, batch {3} · {4}, {5}").format(
            milliseconds(measured.unrecorded),
            milliseconds(measured.seconds),
            mode,
            measured.batch_size,
            kernels,
            threads,
        )
        fed = tr("random numbers of the shape in Input: {0}").format(measured.inputs)
        return tr("{0} · {1}").format(words, fed) if measured.inputs else words

    def rows(self, measured: Measurement) -> list[Row]:
        """The rows of the tree; the last one is the time between the kernels."""
        rows: list[Row] = []
        if self._page.measured.shows_layers():
            rows = [self._layer(row) for row in measured.layers]
        else:
            rows = self._operators(measured)
        rest = measured.between * measured.seconds
        words = self.tr("(between the kernels)")
        rows.append(((words, milliseconds(rest), quantities.percent(measured.between), "", "", ""), (), ()))
        return rows

    def _layer(self, row: Figures) -> Row:
        """A call of a layer with those in it; the network itself has no name."""
        name = row.name or self.tr("network")
        if row.fused:
            name = self.tr("{0} (fused: {1} operators)").format(name, row.fused)
        lines = (row.line,) if row.line else ()
        return cells(row, name), lines, [self._layer(part) for part in row.parts]

    def _operators(self, measured: Measurement) -> list[Row]:
        return [
            (
                cells(row, row.name),
                tuple(part.line for part in row.parts if part.line),
                [
                    (cells(part, self._place(part)), (part.line,) if part.line else (), ())
                    for part in row.parts
                ],
            )
            for row in measured.operators
        ]

    def _place(self, part: Figures) -> str:
        if part.line:
            return self.tr("line {0}").format(part.line)
        return self.tr("(loss, optimizer)") if part.name.startswith("(") else Path(part.name).name

    def notes(self) -> dict[int, str]:
        """What a step spends at each line of the text as it is now."""
        measured = self._view.found
        if measured is None or self._view.stale:
            return {}
        return {
            row.line: f"{milliseconds(row.seconds)} ms {quantities.percent(row.share)}"
            for row in measured.lines
        }

    def _light(self, line: int) -> None:
        self._page.measured.light_line(0 if self._view.stale else line)

    def _lines_chosen(self, lines: tuple[int, ...]) -> None:
        if not self._view.stale:
            self._page.editor.show_line(lines[0])
            self._page.editor.light_lines(lines)

    def follow(self, handler: Any) -> None:
        """Call ``handler`` when the notes at the lines may be others."""
        for name in ("found", "stale"):
            self._bonds.follow(getattr(self._view.events, name), lambda _: handler())

    def close(self) -> None:
        """Follow the view model no longer."""
        self._bonds.release()


def cells(row: Figures, name: str) -> tuple[str, ...]:
    """Name and figures of a row, as the tree shows them."""
    rate = "\u2013" if row.gflops is None else f"{row.gflops:.1f}"
    return (
        name,
        milliseconds(row.seconds),
        quantities.percent(row.share),
        f"{row.bytes / 1e6:.2f}",
        rate,
        f"{row.calls:g}",
    )


def milliseconds(seconds: float) -> str:
    """A time with three digits, thousandths at most: 0.412, 3.90, 12.4, 1250."""
    value = 1e3 * seconds
    return f"{value:.{3 if value < 1 else 2 if value < 10 else 1 if value < 100 else 0}f}"
