"""QActions made from the one table of commands: menus, buttons, shortcuts and the palette share them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from PySide6.QtCore import QCoreApplication, QObject, Signal
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from resources.words import shown
from studio.controllers.bindings import Bindings, once
from studio.session.command import MENUS, Command
from studio.session.commands import ABOUT, COMMANDS, PREFERENCES, QUIT, START, command, shown_in
from studio.session.session import Session
from widgets.icons import set_icon

_ROLES = {
    QUIT: QAction.MenuRole.QuitRole,
    ABOUT: QAction.MenuRole.AboutRole,
    PREFERENCES: QAction.MenuRole.PreferencesRole,
}


class Bar(Protocol):
    """Shows buttons of actions."""

    def add_action(self, action: QAction, icon: str = "", role: str = "") -> object: ...


def command_text(text: str) -> str:
    """A title or help of the table in the language that holds now."""
    return QCoreApplication.translate("commands", text)


def menu_text(title: str) -> str:
    """The title of a menu of the bar, with its key: the first letter, as Qt writes it in each script."""
    text = command_text(title)
    return f"&{text}" if text[:1].isascii() else f"{text}(&{title[0]})"


class Actions(QObject):
    """One QAction for each command.

    ``not_handled`` is called before a command for which the window has no handler: it may add one.

    Args:
        session: carries out the commands that it handles, and knows when a command is possible.
        window: gets the shortcuts.
    """

    refused = Signal(str)

    def __init__(self, session: Session, window: QWidget) -> None:
        super().__init__(window)
        self._session = session
        self._handlers: dict[Command, Callable[[], Any]] = {}
        self.not_handled: Callable[[Command], object] = lambda which: None
        self._blocked: dict[Command, str] = {}
        self._actions: dict[Command, QAction] = {}
        self._explaining: set[Command] = set()
        self._explained: dict[Command, str] = {}
        self._bonds = Bindings()
        groups: dict[str, QActionGroup] = {}
        for which in COMMANDS:
            action = QAction(self)
            action.setObjectName(which.id)
            action.setMenuRole(_ROLES.get(which, QAction.MenuRole.NoRole))
            if which.icon:
                set_icon(action, which.icon)
            if which.choice:
                action.setCheckable(True)
                groups.setdefault(which.choice, QActionGroup(self)).addAction(action)
            action.triggered.connect(lambda _=False, which=which: self.trigger(which))
            window.addAction(action)
            self._actions[which] = action
        self._bonds.again(self.retranslate, now=True)
        self.use_keys_of("")

    def __getitem__(self, which: Command | str) -> QAction:
        return self._actions[command(which)]

    def handle(self, which: Command, handler: Callable[[], Any], explains: bool = False) -> None:
        """Let the window carry out a command: its own, or one of the session that needs a question first.

        ``handler`` returns why not, or nothing; with ``explains`` it is called while the command is not
        possible too, to show the user why. Raises ValueError where the command has a handler.
        """
        if which in self._handlers:
            raise ValueError(f"actions: {which.id} has a handler")
        self._handlers[which] = handler
        if explains:
            self._explaining.add(which)

    def handles(self, which: Command) -> bool:
        """Whether the window has a handler of the command."""
        return which in self._handlers

    def block(self, which: Command, reason: str) -> None:
        """Say why a command is not possible in this window now; an empty reason allows it again."""
        self._blocked[which] = reason
        self.refresh()

    def trigger(self, which: Command | str, **arguments: Any) -> str:
        """Carry a command out; returns why not where it is not possible, and emits ``refused``."""
        found = command(which)
        reason = "" if found in self._explaining else self.reason(found)
        if reason:
            pass
        else:
            if found not in self._handlers:
                self.not_handled(found)
            if found in self._handlers:
                reason = shown(str(self._handlers[found]() or ""))
            else:
                reason = shown(self._session.execute(found, **arguments))
        if reason:
            self.refused.emit(reason)
        return reason

    def reason(self, which: Command) -> str:
        """Why a command is not possible now, in the language that holds now; empty where it is possible."""
        return self._blocked.get(which, "") or shown(self._session.blocked(which))

    def refresh(self) -> None:
        """Enable what is possible; the tooltip of the others says why not."""
        once(self._refresh)

    def _refresh(self) -> None:
        for which, action in self._actions.items():
            reason = self.reason(which)
            # Start stays pressable where only a setting is wrong: pressing it shows which one.
            fixable = which is START and not self._session.train.busy
            action.setEnabled(not reason or fixable)
            self._explain(action, which, reason)

    def use_keys_of(self, page: str) -> None:
        """Let the keys of the commands of ``page`` hold. A command of every page has none there while one of
        the page has the same: Qt would carry out neither of two enabled actions."""
        own = {which.keys for which in self._actions if page and which.on_page == page}
        for which, action in self._actions.items():
            holds = which.on_page == page if which.on_page else which.keys not in own
            keys = QKeySequence(which.keys if holds else "")
            if action.shortcut() != keys:
                action.setShortcut(keys)
                self._explained.pop(which, None)
        self.refresh()

    def _explain(self, action: QAction, which: Command, reason: str) -> None:
        if self._explained.get(which) == reason:
            return
        self._explained[which] = reason
        keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        help_text = command_text(which.help)
        if keys:
            help_text = self.tr("{0} ({1})").format(help_text, keys)
        text = self.tr("{0}: {1}").format(command_text(which.title), reason) if reason else help_text
        action.setToolTip(text)
        action.setStatusTip(text)

    def help_text(self, which: Command) -> str:
        """One sentence about a command, or why it is not possible now."""
        return self.reason(which) or command_text(which.help)

    def fill(self, menu: QMenu) -> dict[str, QMenu]:
        """Put all commands into submenus of ``menu``, as the table assigns them; returns those by title."""
        menu.clear()
        menus = {title: self._add_menu(menu, title, has_key=True) for title in MENUS}
        for title, each in menus.items():
            self.submenu(each, title)
        return menus

    def submenu(self, menu: QMenu, title: str) -> None:
        """Put the commands of one menu of the table into ``menu``."""
        menu.setToolTipsVisible(True)
        groups: dict[str, QMenu] = {"": menu}
        for which, action in self._actions.items():
            if which.menu == title:
                into = groups.get(which.group)
                if which.separate and (into or menu).actions():
                    (into or menu).addSeparator()
                if into is None:
                    into = groups[which.group] = self._add_menu(menu, which.group)
                    into.setToolTipsVisible(True)
                into.addAction(action)

    def _add_menu(self, menu: QMenu, title: str, has_key: bool = False) -> QMenu:
        text = menu_text if has_key else command_text
        added = menu.addMenu(text(title))
        self._bonds.again(lambda: added.setTitle(text(title)))
        return added

    def group(self, menu: QMenu, which: Command) -> QMenu:
        """The submenu of a filled ``menu`` that lists a command."""
        return next(each for each in menu.findChildren(QMenu) if self._actions[which] in each.actions())

    def fill_bar(self, bar: Bar, area: str) -> None:
        """Add a button for each command that the table shows in ``area``."""
        for which, position in shown_in(area):
            bar.add_action(self._actions[which], which.icon, "primary" if position.primary else "")

    def close(self) -> None:
        """Follow the language no longer."""
        self._bonds.release()

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        for which, action in self._actions.items():
            action.setText(command_text(which.title))
            # Set in any case: Qt's own is the text without the ellipsis.
            action.setIconText(command_text(which.button or which.title))
        self._explained.clear()
        self.refresh()
