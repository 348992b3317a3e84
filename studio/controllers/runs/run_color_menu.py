"""The menu in which the colour of runs is chosen."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from widgets import theme
from widgets.color_choice import ask_color, color_names, dot_icon


class RunColorMenu(QMenu):
    """The run colours, the default, and any other colour by a dialog.

    Args:
        color: the colour now.
        chosen: the one that was chosen for the run, None for the default.
        take: called with the new choice.
    """

    def __init__(
        self,
        window: QWidget,
        color: int | str,
        chosen: int | str | None,
        take: Callable[[int | str | None], object],
    ) -> None:
        super().__init__(window)
        self.setTitle(self.tr("Colour"))
        self.setIcon(dot_icon(color, self.devicePixelRatioF()))
        for place, name in zip(range(len(theme.current().runs)), color_names(self._word), strict=True):
            action = self.addAction(dot_icon(place, self.devicePixelRatioF()), name)
            action.triggered.connect(lambda _=False, place=place: take(place))
            self._check(action, chosen == place)
        self.addSeparator()
        default = self.addAction(self.tr("Default colour"))
        default.triggered.connect(lambda: take(None))
        self._check(default, chosen is None)
        other = self.addAction(self.tr("Other colour…"))
        other.triggered.connect(lambda: ask_color(window.window(), color, take))
        self._check(other, isinstance(chosen, str))

    @staticmethod
    def _check(action: QAction, checked: bool) -> None:
        action.setCheckable(True)
        action.setChecked(checked)

    def _word(self, text: str) -> str:
        return self.tr(text)
