"""Messages of the system for a window in the background: from the tray, else the window's task bar entry."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QSystemTrayIcon, QWidget

from widgets.icons import icon

# Platforms without a desktop, such as that of tests.
WITHOUT_DESKTOP = ("offscreen", "minimal", "linuxfb", "eglfs", "vnc")
SHOWN_MS = 10_000


def is_in_background(window: QWidget) -> bool:
    """Whether the user can't be looking at the window: it is minimized, or another application is active."""
    active = QGuiApplication.applicationState() == Qt.ApplicationState.ApplicationActive
    return window.isMinimized() or not active


class SystemNotifications(QObject):
    """Windows, macOS and most desktops of Linux show messages of a tray icon, which exists only meanwhile.

    Elsewhere the window's entry in the task bar asks for attention. ``clicked`` is a click on the message.
    """

    clicked = Signal()

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._tray: QSystemTrayIcon | None = None

    def show(self, title: str, text: str, is_problem: bool) -> None:
        """Show a message."""
        if QGuiApplication.platformName() in WITHOUT_DESKTOP:
            return
        if not (QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages()):
            QApplication.alert(self._window)
            return
        if self._tray is None:
            self._tray = QSystemTrayIcon(icon("chart", "accent"), self)
            self._tray.messageClicked.connect(self.clicked)
            self._tray.activated.connect(lambda _: self.clicked.emit())
            QGuiApplication.instance().applicationStateChanged.connect(self._hide)  # type: ignore[union-attr]
        icons = QSystemTrayIcon.MessageIcon
        self._tray.setToolTip(title)
        self._tray.show()  # a hidden icon shows no message
        self._tray.showMessage(title, text, icons.Warning if is_problem else icons.Information, SHOWN_MS)

    def _hide(self, state: Qt.ApplicationState) -> None:
        if state == Qt.ApplicationState.ApplicationActive and self._tray is not None:
            self._tray.hide()
