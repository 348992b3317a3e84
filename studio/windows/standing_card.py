"""The exported files that stand: a list with size and date, and what can be done with the chosen ones."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Signal
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from studio.windows.controls import PageCard, mute
from studio.windows.runs_list import RunRow, RunsList
from widgets import theme
from widgets.flow import FlowLayout
from widgets.icons import set_icon


class StandingCard(PageCard):
    """``verify_requested`` and ``predict_requested`` carry the prefix of the chosen files."""

    verify_requested = Signal(str)
    predict_requested = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.files = RunsList(dots=False)
        self.reason = mute(wrap=True)
        self.verify_button, self.predict_button = QPushButton(), QPushButton()
        set_icon(self.verify_button, "check")
        set_icon(self.predict_button, "pen")
        buttons = QWidget()
        row = FlowLayout(buttons, theme.SPACE_S, theme.SPACE_S)
        for widget in (self.verify_button, self.predict_button):
            row.addWidget(widget)
        column = QVBoxLayout()
        column.setSpacing(theme.SPACE_S)
        for part in (self.files, self.reason, buttons):
            column.addWidget(part)
        self.body.addLayout(column)
        self._why_not: dict[str, str] = {}
        self.files.chosen_changed.connect(lambda _: self._offer())
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
        self.files.set_rows([RunRow(prefix, title, value, 0, prefix) for prefix, title, value in files])
        if files and not self.chosen():
            self.files.choose(files[0][0])
        self.setVisible(bool(files))
        self._offer()

    def _offer(self) -> None:
        reason = self._why_not.get(self.chosen(), "")
        self.reason.setText(reason)
        self.reason.setVisible(bool(reason))
        self.verify_button.setEnabled(bool(self.chosen()) and not reason)
        self.predict_button.setEnabled(bool(self.chosen()))

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        self.set_title(self.tr("Exported files"), self.tr("that stand on this computer"))
        self.files.setAccessibleName(self.tr("Exported files"))
        self.verify_button.setText(self.tr("Verify again"))
        self.verify_button.setToolTip(
            self.tr("Load them in a clean process and compare them with the run that they are of")
        )
        self.predict_button.setText(self.tr("Open in Predict"))

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()
        super().changeEvent(event)
