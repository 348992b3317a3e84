"""The exported files that stand: a list with size and date, and what can be done with the chosen ones."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QWidget

from studio.windows.controls import PageCard
from studio.windows.runs.runs_list import RunRow, RunsList
from widgets import theme
from widgets.flow import FlowLayout
from widgets.icons import set_icon
from widgets.labels import mute
from widgets.layouts import vertical
from widgets.retranslated import Retranslated


class ExportedFilesCard(Retranslated, PageCard):
    """Signals carry the prefix of the chosen files; ``chosen_changed`` comes when a user chose them. Without
    files, as ``count_changed`` says, the page hides it."""

    verify_requested = Signal(str)
    report_requested = Signal(str)
    chosen_changed = Signal(str)
    count_changed = Signal(int)
    predict_requested = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.files = RunsList(dots=False)
        self.reason = mute(wrap=True)
        self.verify_button, self.predict_button = QPushButton(), QPushButton()
        self.report_button = QPushButton()
        set_icon(self.report_button, "table")
        set_icon(self.verify_button, "check")
        set_icon(self.predict_button, "pen")
        buttons = QWidget()
        row = FlowLayout(buttons, theme.SPACE_S, theme.SPACE_S)
        for widget in (self.verify_button, self.predict_button, self.report_button):
            row.addWidget(widget)
        column = vertical(None, 0)
        for part in (self.files, self.reason, buttons):
            column.addWidget(part)
        self.body.addLayout(column)
        self._why_not: dict[str, str] = {}
        self._silent = False
        self.files.chosen_changed.connect(lambda _: self._chosen())
        self.report_button.clicked.connect(lambda: self.report_requested.emit(self.chosen()))
        self.verify_button.clicked.connect(lambda: self.verify_requested.emit(self.chosen()))
        self.predict_button.clicked.connect(lambda: self.predict_requested.emit(self.chosen()))
        self.set_files([], {})
        self.retranslate()

    def chosen(self) -> str:
        """The prefix of the chosen files; empty for none."""
        return next(iter(self.files.chosen()), "")

    def set_files(self, files: list[tuple[str, str, str]], why_not: dict[str, str]) -> None:
        """The files, (prefix, title, size and date), and why some of them can't be verified now."""
        self._why_not = why_not
        self._silent = True
        self.files.set_rows([RunRow(prefix, title, value, "", prefix) for prefix, title, value in files])
        if files and not self.chosen():
            self.files.choose(files[0][0])
        self._silent = False
        self.count_changed.emit(len(files))
        self._offer()

    def _chosen(self) -> None:
        self._offer()
        if not self._silent and self.chosen():
            self.chosen_changed.emit(self.chosen())

    def _offer(self) -> None:
        reason = self._why_not.get(self.chosen(), "")
        self.reason.setText(reason)
        self.reason.setVisible(bool(reason))
        self.verify_button.setEnabled(bool(self.chosen()) and not reason)
        self.predict_button.setEnabled(bool(self.chosen()))
        self.report_button.setEnabled(bool(self.chosen()))

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        self.set_title(self.tr("Exported files"), self.tr("on this computer"))
        self.files.setAccessibleName(self.tr("Exported files"))
        self.verify_button.setText(self.tr("Verify again"))
        self.verify_button.setToolTip(
            self.tr("Load the files in a clean process and compare them with their run")
        )
        self.predict_button.setText(self.tr("Open in Predict"))
        self.report_button.setText(self.tr("Quantization report"))
        self.report_button.setToolTip(
            self.tr("Show the measurements of the quantization, which are stored in the files")
        )
