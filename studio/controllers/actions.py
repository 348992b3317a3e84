"""QActions made from the one table of commands: menus, buttons, shortcuts and the palette share them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from PySide6.QtCore import QCoreApplication, QObject, Signal
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from studio.session.commands import COMMANDS, Command
from studio.session.session import Session
from widgets.icons import set_icon

MENUS = ("File", "Edit", "Run", "View", "Help")
# Before these a menu draws a line.
APART = {
    "open_folder",
    "preferences",
    "quit",
    "resume_run",
    "show_graph",
    "find",
    "theme_system",
    "reset_layout",
    "about",
}
THEMES = ("theme_system", "theme_light", "theme_dark")


def command_text(text: str) -> str:
    """A title or help of the table in the language that holds now."""
    return QCoreApplication.translate("commands", text)


class Actions(QObject):
    """One QAction for each command that can be carried out here.

    Args:
        session: carries out the commands that it owns, and knows why not.
        window: gets the shortcuts.
        offered: the window's own commands that it can carry out; others are left out. Each gets its handler
            through ``handle``.
    """

    refused = Signal(str, str)

    def __init__(self, session: Session, window: QWidget, offered: Collection[str]) -> None:
        super().__init__(window)
        self._session = session
        self._handlers: dict[str, Callable[[], Any]] = {}
        self._blocked: dict[str, str] = {}
        self._actions: dict[str, QAction] = {}
        self._commands: dict[str, Command] = {}
        themes = QActionGroup(self)
        for command in COMMANDS:
            if command.owner == "window" and command.id not in offered:
                continue
            action = QAction(self)
            action.setObjectName(command.id)
            action.setCheckable(command.checkable)
            action.setMenuRole(_role(command.id))
            if command.shortcut:
                action.setShortcut(QKeySequence(command.shortcut))
            if command.icon:
                set_icon(action, command.icon)
            if command.id in THEMES:
                themes.addAction(action)
            action.triggered.connect(lambda _=False, which=command.id: self.trigger(which))
            window.addAction(action)
            self._actions[command.id], self._commands[command.id] = action, command
        self.retranslate()

    def __getitem__(self, command_id: str) -> QAction:
        return self._actions[command_id]

    def ids(self) -> list[str]:
        """The commands that there are, in the order of the table."""
        return list(self._actions)

    def handle(self, command_id: str, handler: Callable[[], Any]) -> None:
        """Let the window carry out a command: its own, or one of the session that needs a question first."""
        self._handlers[command_id] = handler

    def block(self, command_id: str, reason: str) -> None:
        """Say why a command of the window can't be given now; an empty reason takes it back."""
        self._blocked[command_id] = reason
        self.refresh()

    def trigger(self, command_id: str, **arguments: Any) -> str:
        """Carry a command out; returns why not where it is blocked, and ``refused`` tells it."""
        reason = self._blocked.get(command_id, "")
        if reason:
            pass
        elif command_id in self._handlers:
            reason = str(self._handlers[command_id]() or "")
        else:
            reason = self._session.execute(command_id, **arguments)
        if reason:
            self.refused.emit(command_id, reason)
        return reason

    def reason(self, command_id: str) -> str:
        """Why a command can't be given now; empty where it can."""
        return self._blocked.get(command_id, "") or self._session.blocked(command_id)

    def refresh(self) -> None:
        """Enable what can be given; the tooltip of the others says why not."""
        for command_id, action in self._actions.items():
            reason = self.reason(command_id)
            # Start stays pressable where only a setting is wrong: pressing it shows which one.
            fixable = command_id == "start" and not self._session.train.busy
            action.setEnabled(not reason or fixable)
            self._explain(action, self._commands[command_id], reason)

    def _explain(self, action: QAction, command: Command, reason: str) -> None:
        keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        help_text = command_text(command.help) + (f" ({keys})" if keys else "")
        text = f"{command_text(command.title)}: {reason}" if reason else help_text
        action.setToolTip(text)
        action.setStatusTip(text)

    def help_text(self, command_id: str) -> str:
        """One sentence about a command, or why it can't be given now."""
        return self.reason(command_id) or command_text(self._commands[command_id].help)

    def fill(self, menu: QMenu) -> dict[str, QMenu]:
        """Put all commands into submenus of ``menu``, as the table assigns them; returns those by title."""
        menu.clear()
        menus = {title: menu.addMenu(f"&{command_text(title)}") for title in MENUS}
        for title, each in menus.items():
            self.submenu(each, title)
        return menus

    def submenu(self, menu: QMenu, title: str) -> None:
        """Put the commands of one menu of the table into ``menu``."""
        menu.setToolTipsVisible(True)
        for command_id, command in self._commands.items():
            if command.menu == title:
                if command_id in APART and menu.actions():
                    menu.addSeparator()
                menu.addAction(self._actions[command_id])

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        for command_id, action in self._actions.items():
            action.setText(command_text(self._commands[command_id].title))
        self.refresh()


def _role(command_id: str) -> QAction.MenuRole:
    roles = QAction.MenuRole
    return {"quit": roles.QuitRole, "about": roles.AboutRole, "preferences": roles.PreferencesRole}.get(
        command_id, roles.NoRole
    )
