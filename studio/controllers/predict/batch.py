"""Many predictions at once: what is asked for, where the table goes, how far it is."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog

from resources import quantities
from resources.words import shown
from studio.controllers.bindings import Bindings
from studio.session.predict.batch_results import BatchResults, ResultRow
from studio.session.predict.batch_runner import BatchProgress
from studio.session.session import Session
from studio.windows.predict.batch_panel import BatchPanel
from studio.windows.predict.predict_page import PredictPage
from widgets import theme


class BatchController(QObject):
    """Joins panel and table to the runner of the session; the loaded model predicts."""

    def __init__(self, session: Session, panel: BatchPanel, page: PredictPage) -> None:
        super().__init__(panel)
        self._session, self._panel, self._window = session, panel, page
        self._source = ""
        self._runner = session.predict_models.many
        self._bonds = Bindings()
        panel.folder_requested.connect(self._choose_folder)
        panel.table_requested.connect(self._choose_table)
        panel.cancel_requested.connect(self._runner.cancel)
        self._bonds.show(self._runner.view, "progress", self._show)
        self._bonds.follow(session.predict.events.model, self._offer)
        self._offer()

    def _offer(self) -> None:
        view = self._session.predict
        self._window.show_results(False)
        self._panel.setVisible(view.model is not None)
        self._panel.folder_button.setVisible(
            len(view.inputs) == 1 and view.inputs[0].form in ("digit", "picture")
        )

    def _choose_folder(self) -> None:
        folder = QFileDialog.getExistingDirectory(self._window, self.tr("Predict the images in a folder"))
        if folder:
            self.choose_out(folder)

    def _choose_table(self) -> None:
        path, _ = QFileDialog.getOpenFileName(
            self._window, self.tr("Predict the rows of a table"), "", self.tr("Tables (*.csv *.npz *.npy)")
        )
        if path:
            self.choose_out(path)

    def choose_out(self, source: str) -> None:
        """Ask for the file to write, and predict everything in ``source`` into it."""
        proposed = f"{Path(source).with_suffix('')}-predictions.csv"
        out, _ = QFileDialog.getSaveFileName(
            self._window, self.tr("Write the predictions to"), proposed, self.tr("Tables (*.csv)")
        )
        if out:
            self.start(source, out if out.endswith(".csv") else f"{out}.csv")

    def start(self, source: str, out: str) -> None:
        """Predict everything in ``source`` into ``out`` with the loaded model, at the checkpoint shown."""
        info = self._session.predict.model
        if info is not None:
            self._source = source
            checkpoint = self._session.predict.checkpoint
            self._runner.start(replace(info.choice, checkpoint=checkpoint), source, out)

    def _show(self, progress: BatchProgress) -> None:
        done, total = theme.format_number(progress.done), theme.format_number(progress.total)
        words = {
            "running": self.tr("{0} of {1}").format(done, total),
            "done": self.tr("{0} predicted into {1}").format(done, progress.out),
            "cancelled": self.tr("Cancelled: {0} predicted, in a file .partial.csv").format(done),
            "failed": shown(progress.message),
        }.get(progress.state, "")
        if progress.failed:
            words += " \u00b7 " + self.tr("{0} failed: see the column problem").format(progress.failed)
        if progress.unknown:
            words += " \u00b7 " + self.tr("Unknown words: {0}").format(theme.format_number(progress.unknown))
        if progress.missing:
            words += " \u00b7 " + self.tr("Missing values: {0}").format(theme.format_number(progress.missing))
        self._panel.show_progress(progress.state == "running", progress.done, progress.total, words)
        if progress.results is not None and progress.results.rows:
            self._show_results(progress.results, progress.out)

    def _show_results(self, results: BatchResults, out: str) -> None:
        tr = self.tr
        titles = [tr("Sample")]
        problems = any(row.problem for row in results.rows)
        for name, unit in results.targets:
            titles.append(f"{name} [{unit}]" if unit else name)
            titles += [tr("True"), tr("Error")] if results.known else []
        if not results.targets:
            titles += [tr("Prediction"), tr("Confidence")]
            titles += [tr("True"), tr("Correct")] if results.known else []
        titles += [tr("Problem")] if problems else []
        rows = [_cells(row, results, problems, (tr("yes"), tr("no"))) for row in results.rows]
        self._window.results.show_results(Path(self._source).name, titles, rows, self._summary(results, out))
        self._window.show_results(True)

    def _summary(self, results: BatchResults, out: str) -> str:
        count, tr = theme.format_number(results.known), self.tr
        words = []
        if results.known and results.targets:
            for (name, unit), error in zip(results.targets, results.errors / results.known, strict=True):
                text = quantities.loss(error, unit)
                words.append(tr("{0}: MAE {1} over {2} samples.").format(name, text, count))
        elif results.known:
            share = quantities.percent(results.correct / results.known)
            words.append(tr("{0} of {1} with a known class are correct.").format(share, count))
        if results.total > len(results.rows):
            words.append(tr("The first {0} are shown.").format(theme.format_number(len(results.rows))))
        words.append(tr("All are in {0}.").format(out))
        return " ".join(words)

    def close(self) -> None:
        """Follow the session no longer."""
        self._bonds.release()


def _cells(
    row: ResultRow, results: BatchResults, problems: bool, answers: tuple[str, str]
) -> list[tuple[str, float]]:
    """The cells of a row: text, and the number that it is sorted by."""
    cells = [(row.name, float(row.name) if row.name.isdecimal() else math.nan)]
    width = max(len(results.targets), 1)
    for predicted, true in itertools.zip_longest(
        row.predicted or ("",) * width, row.true or ("",) * width, fillvalue=""
    ):
        cells.append(_cell(predicted))
        if not results.targets:
            share = row.confidence
            cells.append(("", math.nan) if math.isnan(share) else (quantities.percent(share), share))
        if results.known:
            cells.append(_cell(true))
        if results.known and results.targets:
            known = isinstance(true, float) and isinstance(predicted, float)
            cells.append(_cell(predicted - true if known else ""))  # type: ignore[operator]
        elif results.known:
            cells.append(("" if true == "" else answers[0] if true == predicted else answers[1], math.nan))
    return [*cells, (row.problem, math.nan)] if problems else cells


def _cell(value: str | float) -> tuple[str, float]:
    if isinstance(value, str):
        return value, math.nan
    return ("", math.nan) if math.isnan(value) else (quantities.value(value), value)
