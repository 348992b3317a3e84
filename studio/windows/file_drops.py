"""FileDrops: the window opens files that are dropped anywhere on it, and says so while they are dragged."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, TypeGuard

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QDragMoveEvent,
    QDropEvent,
    QGuiApplication,
    QPainter,
    QPaintEvent,
    QPen,
    QWindow,
)
from PySide6.QtWidgets import QApplication, QDockWidget, QWidget
from shiboken6 import isValid

from widgets import theme
from widgets.dropping import accept_copy, local_paths

SHADE = 26  # of 255: what is below the hint stays readable
_OVER = (QEvent.Type.DragEnter, QEvent.Type.DragMove)
_DRAGS = (*_OVER, QEvent.Type.DragLeave, QEvent.Type.Drop)


class TakesFiles(Protocol):
    """A part of the window that handles some files itself."""

    def file_hint(self, paths: list[str]) -> str:
        """What a drop of these files does here; empty where it is left to the window."""

    def take_file(self, path: str) -> None:
        """The first one was dropped."""


class DropHint(QWidget):
    """A frame over all of a window, and a line of text in its middle."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.text = ""
        self.setGeometry(window.rect())

    def set_text(self, text: str) -> None:
        """Show another text."""
        if self.text != text:
            self.text = text
            self.setAccessibleName(text)
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, tokens = QPainter(self), theme.current()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        accent = QColor(tokens.accent)
        shade = QColor(accent)
        shade.setAlpha(SHADE)
        painter.fillRect(self.rect(), shade)
        painter.setPen(QPen(accent, 3))
        painter.drawRect(self.rect().adjusted(1, 1, -2, -2))
        painter.setFont(theme.font(theme.FIGURE_PX, bold=True))
        room = self.width() - 4 * theme.SPACE_XL
        words = painter.fontMetrics().elidedText(self.text, Qt.TextElideMode.ElideMiddle, room)
        box = painter.fontMetrics().boundingRect(words)
        box.adjust(-theme.SPACE_L, -theme.SPACE_M, theme.SPACE_L, theme.SPACE_M)
        box.moveCenter(self.rect().center())
        painter.setBrush(QColor(tokens.panel))
        painter.setPen(QPen(accent, 1))
        painter.drawRoundedRect(box, theme.RADIUS_CARD, theme.RADIUS_CARD)
        painter.setPen(QColor(tokens.text))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, words)


class FileDrops(QObject):
    """Follows the drags over the main window, floating docks and dialogs.

    Drags of files are taken from the window of the system, before a text field gets them as text. A modal
    dialog takes files only where it has a use for them; meanwhile the other windows take none.

    ``dropped`` carries the paths of what was dropped for the window to open; ``ignored`` the number of
    further ones, where a part of the window took the first.
    """

    dropped = Signal(list)
    ignored = Signal(int)

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._hint: DropHint | None = None
        application = QGuiApplication.instance()
        assert isinstance(application, QGuiApplication)
        application.focusWindowChanged.connect(self._follow)

    @property
    def hint(self) -> DropHint | None:
        """What is shown while files are dragged; None otherwise, and once its window was closed."""
        return self._hint if self._hint is not None and isValid(self._hint) else None

    def _show_hint(self, top: QWidget, text: str) -> None:
        hint = self.hint
        if not text or hint is None or hint.parentWidget() is not top:
            if hint is not None:
                hint.hide()
                hint.deleteLater()
            self._hint = hint = DropHint(top) if text else None
            if hint is not None:
                hint.show()
                hint.raise_()
        if hint is not None:
            hint.set_text(text)

    def follow(self, top: QWidget) -> None:
        """Take the files that are dragged over a window of the application, which is shown."""
        handle = top.windowHandle()
        if handle is not None:
            top.setAcceptDrops(True)
            handle.installEventFilter(self)

    def follow_dock(self, dock: QDockWidget) -> None:
        """Follow a dock whenever it floats."""
        dock.installEventFilter(self)

    def _follow(self, handle: QWindow | None) -> None:
        top = None if handle is None else _top_of(handle)
        if top is not None and self._belongs(top):
            self.follow(top)

    def _belongs(self, top: QWidget) -> bool:
        widget: QWidget | None = top
        while widget is not None and widget is not self._window:
            widget = widget.parentWidget()
        return widget is not None

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if kind not in _DRAGS:
            if kind == QEvent.Type.Show and isinstance(watched, QDockWidget) and watched.isWindow():
                self.follow(watched)
            return False
        if not isinstance(watched, QWindow):
            return False
        if kind == QEvent.Type.DragLeave:
            self._show_hint(self._window, "")
            return False
        if not isinstance(event, QDropEvent):
            return False
        paths, top = local_paths(event.mimeData()), _top_of(watched)
        if not paths or top is None:
            return False
        self._take(event, top, paths)
        return True

    def _take(self, event: QDropEvent | QDragMoveEvent, top: QWidget, paths: list[str]) -> None:
        taker, hint = self._taker(top, event.position().toPoint(), paths)
        self._show_hint(top, hint if event.type() in _OVER else "")
        if not hint:
            event.ignore()
            return
        accept_copy(event)
        if event.type() in _OVER:
            return
        if taker is None:
            self.dropped.emit(paths)
        else:
            taker.take_file(paths[0])
            if len(paths) > 1:
                self.ignored.emit(len(paths) - 1)

    def _taker(self, top: QWidget, at: QPoint, paths: list[str]) -> tuple[TakesFiles | None, str]:
        """The part of the window that takes the files there, None for the window itself, and the hint; an
        empty one where they are not taken."""
        modal = QApplication.activeModalWidget()
        if modal is not None and modal is not top:
            return None, ""
        widget: QWidget | None = top.childAt(at) or top
        while widget is not None:
            if _takes_files(widget) and (hint := widget.file_hint(paths)):
                return widget, hint
            if widget is top:
                break
            widget = widget.parentWidget()
        return None, "" if modal is not None else self._words(paths)

    def _words(self, paths: list[str]) -> str:
        if len(paths) > 1:
            return self.tr("Drop to open {0}, the first of {1}").format(Path(paths[0]).name, len(paths))
        return self.tr("Drop to open {0}").format(Path(paths[0]).name)


def _takes_files(widget: object) -> TypeGuard[TakesFiles]:
    return hasattr(widget, "file_hint")


def _top_of(handle: QWindow) -> QWidget | None:
    """The widget that is this window of the system."""
    return next((each for each in QApplication.topLevelWidgets() if each.windowHandle() == handle), None)
