"""Legend: the chips of curves, in two lines at most; more are reached by scrolling, very many by a menu."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtWidgets import QFrame, QMenu, QScrollArea, QSizePolicy, QWidget

from widgets import theme
from widgets.cards import Chip
from widgets.color_choice import dot_icon
from widgets.flow import FlowLayout
from widgets.retranslated import Retranslated

SPACING = 6
MOST_LINES = 2
MOST_CHIPS = 24
"""Each one is laid out anew with every change of another one."""


@dataclass
class _Entry:
    label: str
    color: int | str
    dashed: bool
    shown: bool = True


class Legend(Retranslated, QScrollArea):
    """Many runs must not take the height of the chart that they are drawn in, nor its time.

    The first curves have ``chips``, and those in front; the others are in a menu. ``toggled`` carries the key
    of a curve and whether it is to be shown.
    """

    toggled = Signal(str, bool)

    def __init__(self) -> None:
        super().__init__()
        self.chips: dict[str, Chip] = {}
        self._entries: dict[str, _Entry] = {}
        self._front: Collection[str] = ()
        content = QWidget()
        content.setProperty("role", "page")
        self._flow = FlowLayout(content, spacing=SPACING)
        self.more = Chip()
        self.more.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.more.setCursor(Qt.CursorShape.PointingHandCursor)
        self.more.clicked.connect(self._show_menu)
        self.more.hide()
        self._flow.addWidget(self.more)
        self.setWidget(content)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.retranslate()

    # contents

    def count(self) -> int:
        """How many curves it has."""
        return len(self._entries)

    def add(self, key: str, label: str, color: int | str, dashed: bool) -> None:
        """Add a curve after all others."""
        self._entries[key] = _Entry(label, color, dashed)
        self._choose()

    def remove(self, key: str) -> None:
        """Remove a curve; nothing happens where there is none of this key."""
        if self._entries.pop(key, None) is not None:
            self._choose()

    def set_front(self, keys: Collection[str]) -> None:
        """Give these curves their chips, however many there are before them."""
        self._front = keys
        self._choose()

    def set_shown(self, key: str, shown: bool) -> None:
        """Say whether a curve is shown."""
        if key in self._entries:
            self._entries[key].shown = shown
        if key in self.chips:
            self.chips[key].setChecked(shown)

    def _choose(self) -> None:
        """Make the chips of the first curves and of those in front, and remove the others."""
        entries = self._entries
        chosen = set(entries)
        if len(entries) > MOST_CHIPS:
            front = [key for key in self._front if key in entries]
            chosen = set(list(dict.fromkeys((*front, *entries)))[:MOST_CHIPS])
        if chosen != self.chips.keys():
            for key in self.chips.keys() - chosen:
                chip = self.chips.pop(key)
                self._flow.removeWidget(chip)
                chip.hide()  # it is deleted when the event loop comes to it
                chip.deleteLater()
            before = list(self.chips)
            wanted = [key for key in entries if key in chosen]
            made = [key for key in wanted if key not in self.chips]
            self.chips = {key: self.chips[key] if key in self.chips else self._make(key) for key in wanted}
            self._arrange(made if [*before, *made] == wanted else wanted)
        self.more.setVisible(len(entries) > len(self.chips))
        self._name_more()

    def _make(self, key: str) -> Chip:
        entry = self._entries[key]
        chip = Chip(entry.label, checkable=True)
        chip.set_color(entry.color, entry.dashed)
        chip.setChecked(entry.shown)
        chip.toggled.connect(partial(self.toggled.emit, key))
        return chip

    def _arrange(self, keys: list[str]) -> None:
        """Put the chips of these curves after all others, and the number of the rest after them."""
        for chip in (*(self.chips[key] for key in keys), self.more):
            self._flow.removeWidget(chip)
            self._flow.addWidget(chip)

    def _name_more(self) -> None:
        self.more.setText(self.tr("\u2026 {0} more").format(len(self._entries) - len(self.chips)))

    # the menu

    def menu(self) -> QMenu:
        """The curves without a chip, to be shown and hidden."""
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        for key, entry in self._entries.items():
            if key not in self.chips:
                action = menu.addAction(dot_icon(theme.run_color(entry.color)), entry.label)
                action.setCheckable(True)
                action.setChecked(entry.shown)
                action.toggled.connect(partial(self.toggled.emit, key))
        return menu

    def _show_menu(self) -> None:
        menu = self.menu()
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self.more.mapToGlobal(self.more.rect().bottomLeft()))

    # layout

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:  # chips that are shown, hidden or renamed
            self.updateGeometry()
        return super().eventFilter(watched, event)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        line = self._flow.sizeHint().height()
        return min(self._flow.heightForWidth(width), MOST_LINES * line + (MOST_LINES - 1) * SPACING)

    def sizeHint(self) -> QSize:
        return self._flow.sizeHint()

    def minimumSizeHint(self) -> QSize:
        return self._flow.minimumSize()

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        self._name_more()
        self.more.setToolTip(self.tr("Show or hide the other curves"))
