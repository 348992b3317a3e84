"""The dialog that gives a project a place of its own: its name, the folder around it, what will happen."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialogButtonBox,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QWidget,
)

from studio.windows.controls import ValueLabel
from studio.windows.dialogs import FittingDialog
from widgets import theme
from widgets.labels import mute
from widgets.layouts import vertical

_REFUSED = '/\\:*?"<>|'


class SaveAsDialog(FittingDialog):
    """``chosen`` carries the folder that the project shall have.

    Args:
        runs: how many runs the project has.
        move: whether they move to the new folder; else they stay where they are and are listed there too.
    """

    chosen = Signal(str)

    def __init__(self, parent: QWidget, name: str, place: str, runs: int, move: bool) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Save project"))
        self.name, self.place = QLineEdit(name), QLineEdit(place)
        self._path, self._trouble = ValueLabel(), QLabel()
        self._trouble.setProperty("role", "bad")
        self._trouble.setWordWrap(True)
        browse = QPushButton(self.tr("Browse…"))
        browse.clicked.connect(self._browse)
        layout = vertical(self, theme.SPACE_L, theme.SPACE_S)
        for words, editor in ((self.tr("&Name"), self.name), (self.tr("&In the folder"), self.place)):
            label = QLabel(words)
            label.setBuddy(editor)
            editor.setAccessibleName(words.replace("&", ""))
            layout.addWidget(label)
            line = QHBoxLayout()
            line.addWidget(editor, 1)
            if editor is self.place:
                line.addWidget(browse)
            layout.addLayout(line)
            editor.textChanged.connect(self._check)
        layout.addWidget(self._path)
        layout.addWidget(self._trouble)
        what = mute(wrap=True)
        if runs and move:
            what.setText(
                self.tr(
                    "Its runs move to the new folder: {0}. "
                    "Runs in training stay where they are, and in the list."
                ).format(runs)
            )
        elif runs:
            what.setText(
                self.tr("Its runs stay where they are and appear in both projects: {0}.").format(runs)
            )
        what.setVisible(bool(runs))
        layout.addWidget(what)
        layout.addWidget(mute(self.tr("After that, changes are saved automatically."), wrap=True))
        buttons = QDialogButtonBox()
        self.save = buttons.addButton(self.tr("Save"), QDialogButtonBox.ButtonRole.AcceptRole)
        self.save.setProperty("role", "primary")
        self.save.setDefault(True)
        buttons.addButton(self.tr("Cancel"), QDialogButtonBox.ButtonRole.RejectRole)
        buttons.accepted.connect(self._accept)
        buttons.rejected.connect(self.reject)
        layout.addSpacing(theme.SPACE_S)
        layout.addWidget(buttons)
        self.setMinimumWidth(460)
        self.name.selectAll()
        self._check()

    def folder(self) -> Path:
        """The folder as it is written now."""
        return Path(self.place.text().strip()).expanduser() / self.name.text().strip()

    def problem(self) -> str:
        """What is wrong with it; empty where nothing is."""
        name = self.name.text().strip()
        if not name or name in (".", ".."):
            return self.tr("Enter a name.")
        wrong = "".join(character for character in name if character in _REFUSED or ord(character) < 32)
        if wrong:
            return self.tr("A name can't contain {0}.").format(" ".join(dict.fromkeys(wrong)))
        if not self.place.text().strip() or not self.folder().is_absolute():
            return self.tr("Enter the full path of a folder.")
        return ""

    def _check(self) -> None:
        problem = self.problem()
        self._trouble.setText(problem)
        self._trouble.setVisible(bool(problem))
        self._path.set_value("" if problem else str(self.folder()))
        self.save.setEnabled(not problem)

    def _browse(self) -> None:
        found = QFileDialog.getExistingDirectory(self, self.tr("Folder of the project"), self.place.text())
        if found:
            self.place.setText(found)

    def file_hint(self, paths: list[str]) -> str:
        """What a drop of these files does."""
        return self.tr("Drop to save the project in this folder")

    def take_file(self, path: str) -> None:
        """A folder was dropped, or a file of it."""
        place = Path(path)
        self.place.setText(str(place if place.is_dir() else place.parent))

    def _accept(self) -> None:
        self.chosen.emit(str(self.folder()))
        self.accept()
