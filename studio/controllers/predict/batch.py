"""Many predictions at once: what is asked for, where the table goes, how far it is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QWidget

from studio.controllers.bindings import Bindings
from studio.session.predict.batch_runner import BatchProgress
from studio.session.session import Session
from studio.windows.predict.batch_panel import BatchPanel
from widgets import theme


class BatchController(QObject):
    """Joins the panel to the runner of the session; the model that is loaded is the one that predicts."""

    def __init__(self, session: Session, panel: BatchPanel, window: QWidget) -> None:
        super().__init__(panel)
        self._session, self._panel, self._window = session, panel, window
        self._runner = session.predict_models.many
        self._bonds = Bindings()
        panel.folder_requested.connect(self._choose_folder)
        panel.table_requested.connect(self._choose_table)
        panel.cancel_requested.connect(self._runner.cancel)
        self._bonds.show(self._runner.view, "progress", self._show)
        self._bonds.show(session.predict, "model", lambda _: self._offer())

    def _offer(self) -> None:
        view = self._session.predict
        self._panel.setVisible(view.model is not None)
        self._panel.folder_button.setVisible(view.inputs[0].form in ("digit", "picture"))

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
            checkpoint = self._session.predict.checkpoint
            self._runner.start(replace(info.choice, checkpoint=checkpoint), source, out)

    def _show(self, progress: BatchProgress) -> None:
        done, total = theme.format_number(progress.done), theme.format_number(progress.total)
        words = {
            "running": self.tr("{0} of {1}").format(done, total),
            "done": self.tr("{0} predicted into {1}").format(done, progress.out),
            "cancelled": self.tr("Cancelled: {0} predicted, in a file .partial.csv").format(done),
            "failed": progress.message,
        }.get(progress.state, "")
        if progress.failed:
            words += " \u00b7 " + self.tr("{0} failed: see the column problem").format(progress.failed)
        if progress.unknown:
            words += " \u00b7 " + self.tr("Unknown words: {0}").format(theme.format_number(progress.unknown))
        if progress.missing:
            words += " \u00b7 " + self.tr("Missing values: {0}").format(theme.format_number(progress.missing))
        self._panel.show_progress(progress.state == "running", progress.done, progress.total, words)

    def close(self) -> None:
        """Follow the session no longer."""
        self._bonds.release()
