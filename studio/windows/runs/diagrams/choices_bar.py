"""What can be chosen above a diagram: columns in lists, switches, and the axes of parallel coordinates."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QPushButton, QSizePolicy, QWidget

from widgets import theme
from widgets.elided import ElidedComboBox
from widgets.flow import FlowLayout
from widgets.labels import mute
from widgets.layouts import horizontal

LONGEST = 160  # pixels of a list; a longer title ends in an ellipsis, and is shown whole by the tool tip


class ColumnChoice(QWidget):
    """A label and a list of columns; ``chosen`` carries the name of the one that the user chose."""

    chosen = Signal(str)

    def __init__(self, words: Callable[[], str]) -> None:
        super().__init__()
        self._words, self._columns = words, list[tuple[str, str]]()
        self.label, self.list = mute(), ElidedComboBox()
        self.label.setBuddy(self.list)
        self.list.setFixedWidth(LONGEST)
        self.list.activated.connect(lambda place: self.chosen.emit(self._columns[place][0]))
        layout = horizontal(self, 0, theme.SPACE_XS)
        layout.addWidget(self.label)
        layout.addWidget(self.list)
        self.retranslate()

    def set_columns(self, columns: Sequence[tuple[str, str]], current: str) -> None:
        """Offer columns of a name and a title each."""
        blocker = QSignalBlocker(self.list)
        if list(columns) != self._columns:
            self._columns = list(columns)
            self.list.clear()
            self.list.addItems([title for _, title in columns])
        names = [name for name, _ in self._columns]
        self.list.setCurrentIndex(names.index(current) if current in names else -1)
        self.list.setEnabled(bool(names))
        self.list.setToolTip(self.list.currentText())
        widest = max((self.list.fontMetrics().horizontalAdvance(title) for _, title in columns), default=0)
        self.list.view().setMinimumWidth(min(widest, 400) + 3 * theme.SPACE_M)
        blocker.unblock()

    def retranslate(self) -> None:
        """Set the label, in the current language."""
        self.label.setText(self._words())
        self.list.setAccessibleName(self._words())


class AxesMenu(QPushButton):
    """Which columns are axes; ``chosen`` carries all names that are checked, those added at the end."""

    chosen = Signal(list)

    def __init__(self) -> None:
        super().__init__()
        self._axes: list[str] = []
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setMenu(QMenu(self))

    def set_columns(self, columns: Sequence[tuple[str, str]], axes: Sequence[str]) -> None:
        """Offer columns of a name and a title each, those in ``axes`` checked."""
        self._axes = list(axes)
        menu = self.menu()
        menu.clear()
        for name, title in columns:
            action = menu.addAction(title.replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(name in axes)
            action.triggered.connect(lambda on, name=name: self._toggle(name, on))
        self.setEnabled(bool(columns))

    def _toggle(self, name: str, on: bool) -> None:
        axes = [each for each in self._axes if each != name]
        self.chosen.emit([*axes, name] if on else axes)


class FrontMenu(QPushButton):
    """Whether the Pareto front is shown, and what is better of each axis.

    ``shown`` carries whether it is; ``better_chosen`` the axis (0 across, 1 up) and more or less.
    """

    shown = Signal(bool)
    better_chosen = Signal(int, str)

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        menu = QMenu(self)
        self.setMenu(menu)
        self.show_front = menu.addAction("")
        self.show_front.setCheckable(True)
        self.show_front.triggered.connect(self.shown)
        self.directions: list[dict[str, QAction]] = []
        self._titles = ("", "")
        for axis in (0, 1):
            menu.addSeparator()
            group = QActionGroup(menu)
            actions = {better: menu.addAction("") for better in ("more", "less")}
            for better, action in actions.items():
                action.setCheckable(True)
                group.addAction(action)
                action.triggered.connect(
                    lambda _=False, axis=axis, better=better: self.better_chosen.emit(axis, better)
                )
            self.directions.append(actions)
        self.retranslate()

    def set_state(self, shown: bool, titles: tuple[str, str], better: tuple[str, str]) -> None:
        """Show whether the front is shown, and what is better of the columns across and up."""
        self.show_front.setChecked(shown)
        self._titles = titles
        for actions, which in zip(self.directions, better, strict=True):
            for name, action in actions.items():
                action.setChecked(name == which)
        self.retranslate()

    def retranslate(self) -> None:
        """Set all words, in the current language."""
        self.setText(self.tr("Pareto front"))
        self.show_front.setText(self.tr("Show the Pareto front"))
        for actions, title in zip(self.directions, self._titles, strict=True):
            title = title.replace("&", "&&")
            actions["more"].setText(self.tr("{0}: more is better").format(title))
            actions["less"].setText(self.tr("{0}: less is better").format(title))


class ChoiceBar(QWidget):
    """Widgets in a line that wraps where it is narrow."""

    def __init__(self, *widgets: QWidget) -> None:
        super().__init__()
        self._flow = FlowLayout(self, theme.SPACE_M, theme.SPACE_XS)
        for widget in widgets:
            self._flow.addWidget(widget)

    def wrapped(self, width: int) -> int:
        """The height of the lines after the first one at a width."""
        return max(0, self._flow.heightForWidth(width) - self._flow.minimumSize().height())
