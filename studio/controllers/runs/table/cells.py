"""RunCells: what the cells of the table of runs show."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QObject

from resources import quantities
from resources.words import shown, tr
from studio.controllers.runs.column_titles import column_title
from studio.controllers.runs.run_facts import state_mark, state_of
from studio.session.runs.runs_folder import Run
from studio.session.runs.table.columns import CURVE, TO_BEST
from studio.session.runs.table.loss_curves import LossCurves
from studio.session.session import Session
from widgets.column_table import Cell, TableColumn

WIDTHS = {"name": 200, "state": 112, CURVE: 92}
_TEXTS = ("name", "state", CURVE, "tags", "note", "sweep", "folder", "problem")
_OF_PERSON = ("tags", "note", "sweep", "folder")  # texts that are not ours


class RunCells(QObject):
    """Cells of the runs in ``session.runs_table``, by folder and column."""

    def __init__(self, session: Session, curves: LossCurves, parent: QObject) -> None:
        super().__init__(parent)
        self._session, self._curves = session, curves
        self._runs: dict[str, Run] = {}

    def set_runs(self, runs: Iterable[Run]) -> None:
        """The runs whose cells are asked for."""
        self._runs = {run.path: run for run in runs}

    def columns(self, names: Iterable[str]) -> list[TableColumn]:
        """The columns of these names, with their titles and widths."""
        table = self._session.runs_table
        widths = table.choices.widths
        found = []
        for name in names:
            column = table.columns[name]
            title = column_title(column.title)
            tip = self.tr("{0}; in filters: {1}").format(title, table.columns.short(name))
            numeric = name not in _TEXTS and any(
                isinstance(column.of(run), int | float) for run in list(self._runs.values())[:50]
            )
            found.append(TableColumn(name, title, tip, numeric, widths.get(name, WIDTHS.get(name, 0))))
        return found

    def cell(self, folder: str, name: str) -> Cell:
        """The cell of a run in a column."""
        run, table = self._runs.get(folder), self._session.runs_table
        if run is None or name not in table.columns:  # rows and columns are about to be other ones
            return Cell()
        if name == "name":
            title = self._session.run_titles.get(folder, run.name)
            color = self._session.run_colors.get(folder)
            tip = "\n".join(filter(None, (title, run.path, run.notes.note, shown(run.note))))
            mark = "warning" if run.note else ""
            return Cell(title, color, mark, "warn", tip=tip, faint=run.notes.hidden)
        if name == "state":
            mark, tint = state_mark(run.state)
            return Cell(self._state(run), None, mark, tint, tip=shown(run.failure))
        if name == CURVE:
            return self._curve(folder)
        text = table.text(run, name)
        if name.endswith(TO_BEST) and table.value(run, name) == 0:
            return Cell(self.tr("best"))
        if name == "problem" and text:
            return Cell(shown(text), None, "warning", "warn")
        return Cell(tr(text) if text and name not in _OF_PERSON else text)

    def _state(self, run: Run) -> str:
        live = self._session.train.busy and run.path == self._session.train.folder
        if not live:
            return state_of(run, self)
        return self.tr("epoch {0}").format(run.epoch) if run.epoch else shown(self._session.train.message)

    def _curve(self, folder: str) -> Cell:
        curve = self._curves.of(folder)
        if curve is None:
            return Cell("")
        if curve.problem:
            problem = shown(curve.problem)
            return Cell(problem, None, "warning", "warn", spoken=problem)
        lines = tuple(line for line in (curve.training, curve.validation) if line)
        if not lines:
            return Cell("")
        last = next((value for value in reversed(lines[-1]) if value == value), float("nan"))
        words = (
            self.tr("Validation loss, last {0}") if curve.validation else self.tr("Training loss, last {0}")
        )
        said = words.format(quantities.loss(last))
        legend = self.tr("Grey: training loss. Coloured: validation loss. The axis is logarithmic.")
        return Cell("", lines=lines, tip=f"{said}\n{legend}", spoken=said)
