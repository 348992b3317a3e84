"""A window with two Programs side by side, such as before and after a pass."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QPushButton, QWidget

from studio.windows.dialogs import FittingDialog
from studio.windows.export.compared_programs_view import ComparedProgramsView
from widgets import theme
from widgets.layouts import horizontal, vertical
from widgets.retranslated import Retranslated


class ComparedProgramsDialog(Retranslated, FittingDialog):
    """Modeless: the window stays usable."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.programs, self.stop = ComparedProgramsView(), QPushButton()
        self.stop.clicked.connect(self.reject)
        layout = vertical(self, theme.SPACE_L, theme.SPACE_M)
        layout.addWidget(self.programs, 1)
        buttons = horizontal(None, 0)
        buttons.addStretch(1)
        buttons.addWidget(self.stop)
        layout.addLayout(buttons)
        self.retranslate()
        self.resize(self.sizeHint())

    def sizeHint(self) -> QSize:
        return QSize(980, 620)

    def set_title(self, text: str) -> None:
        """What is compared."""
        self.setWindowTitle(text)

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        self.stop.setText(self.tr("Close"))
