"""The bar at the top: the menu, the pages, and at the right the actions of the page that is shown."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QLabel,
    QMenu,
    QMenuBar,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from studio.windows.controls import ActionButton
from widgets import theme
from widgets.layouts import horizontal
from widgets.retranslated import Retranslated

MOST = 600
ROOM_OF_ACTIONS = 440  # what the widest page needs, so that its actions don't push the menus behind a button


class PageActions(QWidget):
    """What stands at the right of the bar for one page: a chip or two, a reason, buttons of actions."""

    def __init__(self) -> None:
        super().__init__()
        self._layout = horizontal(self, 0, 6)
        self.buttons: dict[str, ActionButton] = {}
        self._pressed: QObject | None = None

    def add(self, widget: QWidget) -> None:
        """Put a chip or a label next to the right end."""
        self._layout.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)

    def add_action(self, action: QAction, icon: str = "", role: str = "") -> ActionButton:
        """A button for an action, known by the action's object name."""
        button = ActionButton(action, icon, role)
        self.buttons[action.objectName()] = button
        button.installEventFilter(self)
        self.add(button)
        return button

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """An action may put another button below the pointer (after Start: to the queue); the second click of
        a double click was not meant for that one."""
        if event.type() == QEvent.Type.MouseButtonPress:
            self._pressed = watched
        return event.type() == QEvent.Type.MouseButtonDblClick and watched is not self._pressed

    def show_only(self, *names: str) -> None:
        """Show these buttons and hide the others."""
        for name, button in self.buttons.items():
            button.setVisible(name in names)

    def set_compact(self, compact: bool) -> None:
        """Icons only, where the window is narrow."""
        for button in self.buttons.values():
            button.set_compact(compact)

    def set_narrow(self, narrow: bool) -> None:
        """Without chips and labels: what they say stands in the status bar too, or in a tooltip."""
        for index in range(self._layout.count()):
            item = self._layout.itemAt(index)
            widget = item.widget() if item is not None else None
            if widget is not None and not isinstance(widget, ActionButton):
                # Whether they are shown at all is for the page to say.
                widget.setMaximumWidth(0 if narrow else MOST)


class TopBar(Retranslated, QFrame):
    """Never wider than the window: a wide one has the menus side by side, another one behind a button.

    Where the actions don't fit all the same, their words go first, then the chips next to them, then the tabs
    of other pages: the menu and the keys lead to those.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self.setObjectName("topBar")
        self.menu = QMenu(self)
        self.menu_bar = QMenuBar()
        self.menu_bar.setSizePolicy(QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Preferred)
        self.menu_button = QToolButton()
        self.menu_button.setProperty("role", "brand")
        self.menu_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.menu_button.setMenu(self.menu)
        self.menu_button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._pages: dict[str, QToolButton] = {}
        self._group = QButtonGroup(self)
        self._group.setExclusive(True)
        self._actions: dict[str, PageActions] = {}
        self._shown = ""
        self._layout = horizontal(self, (theme.SPACE_XS, 5, theme.SPACE_M, 5), theme.SPACE_XS)
        self._layout.addWidget(self.menu_bar, 0, Qt.AlignmentFlag.AlignVCenter)
        self._layout.addWidget(self.menu_button)
        self._layout.addSpacing(theme.SPACE_XS)
        self._gap = QLabel()
        self._gap.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._layout.addWidget(self._gap, 1)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.retranslate()

    def show_menus(self) -> None:
        """Put the submenus of ``menu`` side by side too."""
        self.menu_bar.clear()
        self.menu_bar.addActions(self.menu.actions())
        self._fit()

    def add_page(self, page: str, action: QAction) -> PageActions:
        """A tab for a page, opened by ``action``; returns the place of the page's actions."""
        button = QToolButton()
        button.setProperty("role", "page")
        button.setCheckable(True)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.clicked.connect(action.trigger)

        def follow() -> None:
            button.setText(action.text())
            button.setAccessibleName(action.text())
            button.setToolTip(action.toolTip())

        action.changed.connect(follow)
        follow()
        self._pages[page] = button
        self._group.addButton(button)
        self._layout.insertWidget(self._layout.indexOf(self._gap), button)
        actions = PageActions()
        actions.hide()
        self._actions[page] = actions
        self._layout.addWidget(actions)
        return actions

    def show_page(self, page: str) -> None:
        """Check the tab of a page and show its actions."""
        self._shown = page
        self._pages[page].setChecked(True)
        for name, actions in self._actions.items():
            actions.setVisible(name == page)
        self._fit()

    def tab(self, page: str) -> QToolButton:
        """The tab of a page."""
        return self._pages[page]

    def sizeHint(self) -> QSize:
        return QSize(400, self._layout.sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(320, self._layout.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def event(self, event: QEvent) -> bool:
        handled = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return handled

    def _fit(self) -> None:
        """Leave out words until all fits; measured from what is wanted, so that it can't flip to and fro."""
        actions = self._actions.get(self._shown)
        if actions is None:
            return
        margins = self._layout.contentsMargins()
        room = self.width() - margins.left() - margins.right() - theme.SPACE_L
        tabs = sum(tab.sizeHint().width() + theme.SPACE_XS for tab in self._pages.values())
        wide = room >= self.menu_bar.sizeHint().width() + tabs + ROOM_OF_ACTIONS
        self.menu_bar.setVisible(wide)
        self.menu_button.setVisible(not wide)
        menus = (self.menu_bar if wide else self.menu_button).sizeHint().width() + theme.SPACE_S
        words = sum(_full_width(button) for button in actions.buttons.values() if not button.isHidden())
        compact = menus + tabs + words + _others(actions) > room
        actions.set_compact(compact)
        buttons = sum(
            button.sizeHint().width() + 6 for button in actions.buttons.values() if not button.isHidden()
        )
        actions.set_narrow(compact and menus + tabs + buttons + _others(actions) > room)
        crowded = menus + tabs + buttons > room
        for name, tab in self._pages.items():
            tab.setVisible(name == self._shown or not crowded)

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        self.menu_bar.setAccessibleName(self.tr("Menus"))
        self.menu_button.setText("\u2630 " + self.tr("Menu"))
        self.menu_button.setAccessibleName(self.tr("Menu"))
        self.menu_button.setToolTip(self.tr("All commands; Ctrl+Shift+P finds one by its name"))


def _full_width(button: ActionButton) -> int:
    return button.fontMetrics().horizontalAdvance(button.words()) + 54


def _others(actions: PageActions) -> int:
    """The room of chips and labels next to the buttons."""
    layout = actions.layout()
    width = 0
    for index in range(layout.count()):
        item = layout.itemAt(index)
        widget = item.widget() if item is not None else None
        if widget is not None and not isinstance(widget, ActionButton) and not widget.isHidden():
            width += widget.sizeHint().width() + layout.spacing()
    return width
