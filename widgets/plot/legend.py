"""Legend: the chips of curves, in two lines at most; more are reached by scrolling."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QSizePolicy, QWidget

from widgets.cards import Chip
from widgets.flow import FlowLayout

SPACING = 6
MOST_LINES = 2


class Legend(QScrollArea):
    """Many runs must not take the height of the chart that they are drawn in."""

    def __init__(self) -> None:
        super().__init__()
        content = QWidget()
        content.setProperty("role", "page")
        self._chips = FlowLayout(content, spacing=SPACING)
        self.setWidget(content)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def count(self) -> int:
        """How many chips it has."""
        return self._chips.count()

    def add(self, chip: Chip) -> None:
        """Show a chip after all others."""
        self._chips.addWidget(chip)

    def remove(self, chip: Chip) -> None:
        """Show a chip no longer."""
        self._chips.removeWidget(chip)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:  # chips that are shown, hidden or renamed
            self.updateGeometry()
        return super().eventFilter(watched, event)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        line = self._chips.sizeHint().height()
        return min(self._chips.heightForWidth(width), MOST_LINES * line + (MOST_LINES - 1) * SPACING)

    def sizeHint(self) -> QSize:
        return self._chips.sizeHint()

    def minimumSizeHint(self) -> QSize:
        return self._chips.minimumSize()
