"""The question whether the user's own code may run, with the code that it is about."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QListWidget, QSplitter, QWidget

from resources.local_code import LocalCode
from studio.windows.dialogs import FRAME
from widgets import theme
from widgets.code_view import CodeView
from widgets.elided import ElidedLabel
from widgets.labels import breakable, heading
from widgets.layouts import vertical

_NAMES, _CODE = 180, 640  # the first widths of the list of files and of the code


class AgreementDialog(QDialog):
    """Shows each file with its line numbers. Cancel is the default, and what Escape means.

    Args:
        new: the files that were not agreed to before; they come first.
    """

    def __init__(self, parent: QWidget, code: LocalCode, new: Sequence[str]) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._sources = code.sources
        self._shown = sorted(code.sources, key=lambda name: name not in new)
        self.files, self.code = QListWidget(), CodeView()
        self.path = ElidedLabel(str(code.folder / self._shown[0]), mode=Qt.TextElideMode.ElideMiddle)
        self._build(new)
        self.files.setCurrentRow(0)
        # Qt would open it at two thirds of a small screen at most.
        room = self.screen().availableGeometry().size() - QSize(FRAME, FRAME)
        self.resize(self.sizeHint().boundedTo(room))

    def _build(self, new: Sequence[str]) -> None:
        first, *others = self._shown
        title = self.tr("Run the code in {0}?").format(first.rpartition("/")[2])
        self.setWindowTitle(title)
        self._title, self.words = heading(breakable(title)), QLabel()
        for label in (self._title, self.words):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
        self.words.setText(self._words(new, others))
        for name in self._shown:
            self.files.addItem(
                self.tr("{0} (new)").format(name) if name in new and len(new) < len(self._shown) else name
            )
        self.files.setAccessibleName(self.tr("Files that run"))
        self.files.setVisible(bool(others))
        self.files.currentRowChanged.connect(self._show_file)
        split = QSplitter(Qt.Orientation.Horizontal)
        split.addWidget(self.files)
        split.addWidget(self.code)
        split.setChildrenCollapsible(False)
        split.setStretchFactor(1, 1)
        split.setSizes([_NAMES, _CODE])
        buttons = QDialogButtonBox()
        self.allow = buttons.addButton(self.tr("Allow"), QDialogButtonBox.ButtonRole.AcceptRole)
        self.cancel = buttons.addButton(self.tr("Cancel"), QDialogButtonBox.ButtonRole.RejectRole)
        self.allow.setObjectName("yes")  # as in other questions
        self.cancel.setObjectName("no")
        self.allow.setAutoDefault(False)
        self.cancel.setDefault(True)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        layout = vertical(self, theme.SPACE_L, theme.SPACE_S)
        layout.addWidget(self._title)
        layout.addWidget(self.path)
        layout.addWidget(self.words)
        layout.addWidget(split, 1)
        layout.addWidget(buttons)
        self.cancel.setFocus()

    def _words(self, new: Sequence[str], others: Sequence[str]) -> str:
        words = self.tr(
            "Model Studio will import this file in a separate process. Code can do whatever you "
            "can do on this computer: allow it only if you trust where it comes from. The answer holds for "
            "the code as it is now."
        )
        if 1 < len(new) <= len(others):
            words += "\n" + self.tr("New or changed files: {0} of {1}.").format(len(new), len(self._shown))
        elif others:
            words += "\n" + self.tr("Other files that run with it: {0}.").format(len(others))
        return words

    def _show_file(self, row: int) -> None:
        self.code.set_code(self._sources[self._shown[row]].decode("utf-8", "replace"))

    def sizeHint(self) -> QSize:
        return QSize(_NAMES + _CODE, 560)


def ask_agreement(
    parent: QWidget,
    code: LocalCode,
    new: Sequence[str],
    on_yes: Callable[[], object],
    on_no: Callable[[], object] | None = None,
) -> AgreementDialog:
    """Ask once whether the user's own code may be run, of which the files ``new`` were not agreed to before.

    The text that was read is shown, and is what a yes is about.
    """
    dialog = AgreementDialog(parent, code, new)
    dialog.accepted.connect(on_yes)
    if on_no is not None:
        dialog.rejected.connect(on_no)
    dialog.open()
    return dialog
