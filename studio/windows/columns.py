"""Cards next to each other, fewer in a row where there is less room."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize
from PySide6.QtWidgets import QWidget

from widgets import theme
from widgets.layouts import grid

NARROW = 560


class Columns(QWidget):
    """Cards next to each other, in ``shares`` of the width; ``narrow`` in a row where the page is narrow."""

    def __init__(self, *cards: QWidget, narrow: int = 1, shares: tuple[int, ...] = ()) -> None:
        super().__init__()
        self._shares = shares or (1,) * len(cards)
        self._cards, self._narrow = cards, narrow
        self._grid = grid(self, 0, theme.SPACE_M)
        self._in_a_row = 0
        self._arrange(len(cards))

    def _arrange(self, in_a_row: int) -> None:
        if in_a_row == self._in_a_row:
            return
        self._in_a_row = in_a_row
        for place, card in enumerate(self._cards):
            self._grid.addWidget(card, *divmod(place, in_a_row))
            self._grid.setColumnStretch(place, self._shares[place] if place < in_a_row else 0)

    def minimumSizeHint(self) -> QSize:
        widths = [card.minimumSizeHint().width() for card in self._cards]
        wide = self._narrow * max(widths) + (self._narrow - 1) * theme.SPACE_M
        return QSize(wide, super().minimumSizeHint().height())

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Show) and self.isVisible():
            self._arrange(self._narrow if self.width() < NARROW else len(self._cards))
        return super().event(event)
