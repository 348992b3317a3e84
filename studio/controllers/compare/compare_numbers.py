"""Comparisons of numbers: the command opens the dialog; a row selects its operator on the page Graph."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication, QObject
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from resources.compared_numbers import ComparedRow, UnmatchedRow
from resources.operator_keys import OperatorKey
from resources.words import shown
from studio.controllers.actions import Actions
from studio.controllers.agreements import after_agreement
from studio.controllers.bindings import Bindings
from studio.session import commands
from studio.session.compare.compare_job import CompareNumbers
from studio.session.compare.number_rows import differences_of, ordered, place_of, searched_text
from studio.session.compare.words import (
    ROW_COLUMNS,
    UNMATCHED_COLUMNS,
    difference_text,
    line_of,
    row_cells,
    shape_of,
    unmatched_cells,
)
from studio.session.selection import Selected
from studio.session.session import Session
from widgets.column_table import Cell

if TYPE_CHECKING:
    from studio.windows.compare.compare_numbers_dialog import CompareNumbersDialog

_PART = {"forward": "Forward", "backward": "Backward", "update": "Update"}


class CompareNumbersController(QObject):
    """Carries out the command ``compare_numbers``.

    Args:
        chosen: the folders of the runs that are chosen in the list, the one chosen last first.
    """

    def __init__(
        self,
        session: Session,
        window: QWidget,
        actions: Actions,
        chosen: Callable[[], list[str]],
    ) -> None:
        super().__init__(window)
        self._session, self._window, self._actions, self._chosen = session, window, actions, chosen
        self._comparison = session.number_comparison
        self._dialog: CompareNumbersDialog | None = None
        self._rows: list[ComparedRow] = []
        self._texts: list[str] = []
        self._alone: list[UnmatchedRow] = []
        self._shown: object = None  # the result whose rows these are
        self._filter, self._only = "", False
        self._sort: list[tuple[str, bool]] = []
        self._asked: ComparedRow | UnmatchedRow | None = None  # to be selected once its Program is there
        self._colors: dict[OperatorKey, float] = {}  # to be shown once that Program is there
        self._bonds = Bindings()
        self._bonds.follow(self._comparison.changed, self._show)
        self._bonds.again(self._show)
        self._bonds.follow(session.graph.events.program, lambda _: self._use_asked())
        actions.handle(commands.COMPARE_NUMBERS, self.open)

    @property
    def dialog(self) -> CompareNumbersDialog | None:
        """The dialog, once it was opened."""
        return self._dialog

    def open(self) -> str:
        """Open the dialog with the chosen runs, or the run or model that is selected."""
        from studio.windows.compare.compare_numbers_dialog import EAGER_STATIC, PASSES, TWO

        dialog = self._made()
        dialog.set_subjects(self._subjects())
        if not self._comparison.running:
            runs, selected = self._chosen(), self._session.selection.item
            if len(runs) > 1:
                dialog.choose(TWO, (runs[1], runs[0]))
            elif selected.kind == "model":
                dialog.choose(PASSES, (selected.path,))
            elif selected.path:
                dialog.choose(EAGER_STATIC, (selected.path,))
        self._show()
        dialog.show()
        dialog.raise_()
        dialog.activateWindow()
        return ""

    def _made(self) -> CompareNumbersDialog:
        from studio.windows.compare.compare_numbers_dialog import CompareNumbersDialog

        if self._dialog is None:
            self._dialog = dialog = CompareNumbersDialog(self._window, self._cell, self._alone_cell)
            dialog.compare_requested.connect(self.compare)
            dialog.cancel_requested.connect(self._comparison.cancel)
            dialog.copy_requested.connect(self.copy)
            dialog.file_requested.connect(self._choose_file)
            dialog.entered.connect(self._show)
            dialog.filter_changed.connect(self._use_filter)
            dialog.sort_requested.connect(self._use_sort)
            dialog.row_chosen.connect(lambda key: self.select(self._rows[int(key)]))
            dialog.alone_chosen.connect(lambda key: self.select(self._alone[int(key)]))
            dialog.opened.connect(lambda: self._actions.trigger(commands.PAGE_GRAPH))
            dialog.colors_requested.connect(self.color)
        return self._dialog

    def _subjects(self) -> list[Any]:
        from studio.windows.compare.compare_numbers_dialog import Subject

        session = self._session
        runs = [Subject(run.path, session.run_title(run.path)) for run in session.runs if run.checkpoint]
        newest = [session.checkable_model, session.export.exported_prefix]
        known = dict.fromkeys([*newest, *session.preferences.recent_models])
        return runs + [Subject(path, _title(path)) for path in known if path]

    # ----- the comparison -----

    def compare(self) -> None:
        """Compare what is entered, after the user's agreement to the code of the runs."""
        job = self._entered()
        if job is not None and not self._wrong():
            self._agree(job, [path for path in (job.a, job.b) if path and self._is_run(path)])

    def _agree(self, job: CompareNumbers, runs: list[str], digests: tuple[str, ...] = ()) -> None:
        """Ask for the code of each run in turn, then start."""
        if len(digests) == len(runs):
            agreed = dict(zip(runs, digests, strict=True))
            fields = {**vars(job), "agreed": agreed.get(job.a, ""), "agreed_b": agreed.get(job.b, "")}
            self._comparison.start(CompareNumbers(**fields))
            return
        run = runs[len(digests)]

        def go_on() -> None:
            self._session.check_agreement_of(
                run, lambda check: self._agree(job, runs, (*digests, check.digest))
            )

        after_agreement(self._session, self._window, go_on, run)

    def _is_run(self, path: str) -> bool:
        return self._session.listed_run(path) is not None

    def _entered(self) -> CompareNumbers | None:
        dialog = self._dialog
        if dialog is None:
            return None
        (a, b), (step_a, step_b) = dialog.chosen(), dialog.chosen_steps()
        tolerance = self._tolerance()
        return CompareNumbers(
            a,
            b,
            dialog.chosen_pair(),
            step_a,
            step_b if b else -1,
            dialog.batch.value(),
            0.0 if math.isnan(tolerance) else tolerance,
        )

    def _tolerance(self) -> float:
        """The tolerance that is entered: 0 for the usual one, NaN for an invalid one."""
        text = self._dialog.tolerance.text().strip() if self._dialog is not None else ""
        try:
            found = float(text) if text else 0.0
        except ValueError:
            return math.nan
        return found if 0 <= found < math.inf else math.nan

    def _wrong(self) -> str:
        """Why what is entered can't be compared; empty where it can."""
        dialog, tr = self._dialog, self.tr
        if dialog is None:
            return ""
        a, b = dialog.chosen()
        two, pair = bool(b), dialog.chosen_pair()
        if not a or (pair == "two" and not b):
            return tr("Choose a run with a checkpoint, or a saved model.")
        if two and self._is_run(a) is not self._is_run(b):
            return tr("Choose two runs or two models: a run computes a training step, a model predicts.")
        if pair == "eager-static" and not self._is_run(a):
            return tr("A saved model has no code to run eagerly. Choose a run.")
        if math.isnan(self._tolerance()):
            return tr("Tolerance must be a number of at least 0, such as 1e-3: got {0}.").format(
                repr(dialog.tolerance.text().strip())
            )
        return ""

    # ----- what is shown -----

    def _job(self) -> CompareNumbers | None:
        """The last comparison, if it is the one that is entered."""
        job, entered = self._comparison.job, self._entered()
        if not isinstance(job, CompareNumbers) or entered is None:
            return None
        same = {**vars(job), "agreed": "", "agreed_b": ""} == vars(entered)
        return job if same else None

    def _result(self) -> Any:
        return self._comparison.result if self._job() is not None else None

    def _show(self) -> None:
        dialog, comparison, tr = self._dialog, self._comparison, self.tr
        if dialog is None:
            return
        wrong, result, words, role = self._wrong(), None, "", ""
        dialog.show_wrong_tolerance(wrong if math.isnan(self._tolerance()) else "")
        if comparison.running:
            words = shown(comparison.message) or tr("Comparing…")
        elif wrong:
            words, role = wrong, "mute"
        elif self._job() is None:
            pass
        elif comparison.problem is not None:
            words, role = shown(comparison.problem.message), "bad"
        elif (result := comparison.result) is not None:
            words, role = shown(result["verdict"]), "ok" if result["equal"] else "bad"
        elif comparison.state == "cancelled":
            words = tr("Cancelled.")
        if result is not self._shown:
            self._shown = result
            self._rows = [] if result is None else list(result["rows"])
            self._texts = [searched_text(row) for row in self._rows]
            self._alone = [] if result is None else list(result["unmatched"])
            self._sort = []
        dialog.show_result(comparison.running, words, role, result is not None, self._notes(result), wrong)
        self._fill()
        if result is not None and result["first"] >= 0:
            dialog.mark_row(str(result["first"]))

    def _notes(self, result: Any) -> list[str]:
        if result is None:
            return []
        notes = [self.tr("A: {0}, B: {1}").format(result["a"], result["b"]), *map(shown, result["notes"])]
        if result["total"] > len(result["rows"]):
            notes.append(
                self.tr("The first {0} of {1} operators are shown.").format(
                    len(result["rows"]), result["total"]
                )
            )
        return notes

    def _fill(self) -> None:
        if self._dialog is not None:
            keys = [str(n) for n in ordered(self._rows, self._texts, self._filter, self._sort, self._only)]
            self._dialog.show_rows(keys, len(self._rows), self._sort)
            self._dialog.show_alone([str(n) for n in range(len(self._alone))])

    def _use_filter(self, text: str, only: bool) -> None:
        self._filter, self._only = text, only
        self._fill()

    def _use_sort(self, column: str, further: bool) -> None:
        """Sort by a column; a second click turns the order, a third one ends it."""
        before = dict(self._sort)
        left = [each for each in self._sort if further and each[0] != column]
        largest = before.get(column)
        first = column in ("absolute", "relative")  # their largest are looked for
        if largest is None:
            self._sort = [*left, (column, first)]
        elif largest is first:
            self._sort = [*left, (column, not first)]
        else:
            self._sort = left
        self._fill()

    def _cell(self, key: str, column: str) -> Cell:
        row = self._rows[int(key)]
        cells = row_cells(row)
        if column == "part":
            return Cell(QCoreApplication.translate("CompareNumbersController", _PART[row.part]))
        if column in ("absolute", "relative"):
            number = row.absolute if column == "absolute" else row.relative
            mark = "warning" if row.diverges and column == "relative" else ""
            return Cell(difference_text(number, row.bitwise), mark=mark, tint="bad", faint=row.bitwise)
        at = {"type": 1, "layer": 2, "line": 3, "shape": 4, "dtype": 5}[column]
        return Cell(cells[at], tip=cells[at])

    def _alone_cell(self, key: str, column: str) -> Cell:
        each = self._alone[int(key)]
        if column == "type" and each.within:
            return Cell(self.tr("{0}, within {1}").format(each.type, each.within), faint=True)
        text = {
            "side": each.side,
            "type": each.type,
            "layer": each.layer,
            "line": line_of(each.file, each.line),
            "shape": shape_of(each.shape),
        }[column]
        return Cell(text, tip=text)

    # ----- the page Graph -----

    def select(self, row: ComparedRow | UnmatchedRow) -> None:
        """Select the operator of a row on the page Graph, once the Program of its run or model is there."""
        job = self._job()
        if job is None:
            return
        path = job.b if isinstance(row, UnmatchedRow) and row.side == "B" and job.b else job.a
        self._asked = row
        self._select_subject(path)
        self._use_asked()

    def _select_subject(self, path: str) -> None:
        """Select a run or model, whose Program then comes to the page Graph."""
        wanted = Selected("run" if self._is_run(path) else "model", path)
        if self._session.selection.item != wanted:
            if wanted.kind == "run":
                self._session.select_run(path)
            else:
                self._session.selection.select_model(path)

    def _use_asked(self) -> None:
        """Select the operator that was asked for, and colour, once the Program is there."""
        graph = self._session.graph
        if not graph.program:
            return
        if self._asked is not None:
            found = place_of(self._asked, graph.program)
            if found is not None:
                graph.select(*found)
            self._asked = None
        if self._colors:
            self._session.graph_tools.coloring.show_differences(self._colors)
            self._colors = {}

    def color(self) -> None:
        """Colour the operators on the page Graph by their relative difference, and show that page."""
        job = self._job()
        if job is not None:
            self._colors = differences_of(self._rows)
            self._select_subject(job.a)
            self._use_asked()
            self._actions.trigger(commands.PAGE_GRAPH)

    def copy(self) -> None:
        """Copy the verdict and both tables as text, with a tab between cells."""
        result = self._result()
        if result is None:
            return
        lines = [result["verdict"], *self._notes(result), "", "\t".join(ROW_COLUMNS)]
        lines += ["\t".join(row_cells(row)) for row in self._rows]
        lines += ["", "\t".join(UNMATCHED_COLUMNS), *("\t".join(unmatched_cells(x)) for x in self._alone)]
        QGuiApplication.clipboard().setText("\n".join(lines))

    def _choose_file(self, place: int) -> None:
        from studio.controllers.predict.models import MODELS  # a page that need not be built yet
        from studio.windows.compare.compare_numbers_dialog import Subject

        path, _ = QFileDialog.getOpenFileName(
            self._dialog,
            self.tr("Choose a model"),
            str(self._session.runs_folder),
            self.tr("Saved models ({0})").format(MODELS),
        )
        if path and self._dialog is not None:
            self._dialog.add_subject(place, Subject(path, _title(path)))

    def close(self) -> None:
        """Follow the session no longer."""
        self._bonds.release()


def _title(path: str) -> str:
    """A saved model for people: its name and its folder."""
    return f"{Path(path).name} ({Path(path).parent.name})"
