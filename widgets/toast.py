"""Toast: a message over the lower edge of a part of the window; it takes no focus and leaves by itself."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFontMetrics, QMouseEvent, QResizeEvent, QTextLayout, QTextOption
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QGraphicsDropShadowEffect,
    QLabel,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from widgets import theme
from widgets.icons import icon_pixmap, set_icon
from widgets.layouts import horizontal
from widgets.retranslated import Retranslated

LEVEL_ICONS = {
    "info": ("info", "accent"),
    "ok": ("check", "ok"),
    "warn": ("warning", "warn"),
    "bad": ("error", "bad"),
}
# Time to notice it, and to read it at about 15 characters a second.
NOTICE_MS, MS_PER_CHARACTER, LONGEST_MS = 4000, 65, 20_000
# What is left once the pointer or the focus has gone.
AFTER_USE_MS = 2000
WIDEST, MOST_LINES = 560, 4


class _Message(QLabel):
    """A text in a few lines at most, the last one cut where there is more."""

    def __init__(self) -> None:
        super().__init__()
        self._whole = ""
        self.cut = False
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setMinimumWidth(160)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def set_message(self, text: str) -> None:
        self._whole = text
        self._fit()

    def message(self) -> str:
        return self._whole

    def sizeHint(self) -> QSize:
        return QSize(240, super().sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        lines = first_lines(self._whole, self.fontMetrics(), max(self.width(), 160), MOST_LINES)
        self.cut = any(line.endswith("\u2026") for line in lines) and not self._whole.endswith("\u2026")
        shown = "\n".join(lines)
        if shown != self.text():
            self.setText(shown)


def first_lines(text: str, metrics: QFontMetrics, width: int, most: int) -> list[str]:
    """``text`` broken into lines of ``width`` pixels; where it has more than ``most`` the last one is cut."""
    lines: list[str] = []
    for paragraph in text.splitlines():
        layout = QTextLayout(paragraph, QApplication.font())
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        layout.beginLayout()
        while (line := layout.createLine()).isValid():
            line.setLineWidth(width)
            start, length = line.textStart(), line.textLength()
            if len(lines) == most - 1 and start + length < len(paragraph):
                rest = paragraph[start:]
                return [*lines, metrics.elidedText(rest, Qt.TextElideMode.ElideRight, width)]
            if len(lines) == most:
                last = lines[-1] + "\u2026"
                return [*lines[:-1], metrics.elidedText(last, Qt.TextElideMode.ElideRight, width)]
            lines.append(paragraph[start : start + length].rstrip())
        layout.endLayout()
    return lines


class Toast(Retranslated, QFrame):
    """A message over the lower edge of ``around``; `details_requested` says Details was pressed.

    It leaves at a click, and after a time by its length, an error too; while the pointer or the focus is on
    it, it stays. Its size is bounded: a long text is cut, and the whole of it is in the tooltip.

    Args:
        parent: the window.
        around: the part of it that the toast stays within; all of it unless given.
    """

    details_requested = Signal()

    def __init__(self, parent: QWidget, around: QWidget | None = None) -> None:
        super().__init__(parent)
        self._around = around or parent
        self.setProperty("role", "toast")
        self._level = "info"
        self._image, self._text = QLabel(), _Message()
        self.details = QPushButton()
        self.details.setProperty("role", "quiet")
        self.details.clicked.connect(self._details)
        self.close_button = QToolButton()
        set_icon(self.close_button, "cancel", "mute")
        self.close_button.clicked.connect(self.hide)
        layout = horizontal(self, (theme.SPACE_M, theme.SPACE_S, theme.SPACE_S, theme.SPACE_S), spacing=None)
        layout.addWidget(self._image)
        layout.addWidget(self._text, 1)
        layout.addWidget(self.details)
        layout.addWidget(self.close_button)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._leave)
        shadow = QGraphicsDropShadowEffect(self)
        shadow.setBlurRadius(24)
        shadow.setOffset(0, 4)
        shadow.setColor(QColor(0, 0, 0, 70))
        self.setGraphicsEffect(shadow)
        self._around.installEventFilter(self)
        theme.changed.connect(self._tint)
        self.retranslate()
        self.hide()

    def retranslate(self) -> None:
        """Set the words of the buttons anew."""
        self.details.setText(self.tr("Details"))
        self.details.setToolTip(self.tr("Show it in the list of problems"))
        self.close_button.setToolTip(self.tr("Close"))
        self.close_button.setAccessibleName(self.tr("Close the message"))

    def show_message(self, text: str, level: str = "info", details: bool = False) -> None:
        """Show a message; `level` is "info", "ok", "warn" or "bad"."""
        self._level = level
        self._text.set_message(text)
        self.details.setVisible(details)
        self.setAccessibleName(text)
        self._tint()
        self._place()
        self.show()
        self._place()  # the text has its width, and so its lines, only in a layout that is shown
        self.raise_()
        self._timer.start(min(NOTICE_MS + MS_PER_CHARACTER * len(text), LONGEST_MS))

    def text(self) -> str:
        """The whole message that is or was shown last."""
        return self._text.message()

    def _leave(self) -> None:
        focus = QApplication.focusWidget()
        if self.underMouse() or (focus is not None and self.isAncestorOf(focus)):
            self._timer.start(AFTER_USE_MS)
        else:
            self.hide()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self.hide()

    def _details(self) -> None:
        self.hide()
        self.details_requested.emit()

    def _tint(self) -> None:
        name, token = LEVEL_ICONS[self._level]
        color = getattr(theme.current(), token)
        self._image.setPixmap(icon_pixmap(name, color, scale=self.devicePixelRatioF()))

    def _place(self) -> None:
        parent = self.parentWidget()
        room = QRect(self._around.mapTo(parent, QPoint(0, 0)), self._around.size())
        width = max(min(240, room.width()), min(WIDEST, room.width() - 2 * theme.SPACE_XL))
        self.resize(width, self.height())
        self.layout().activate()
        height = min(self.sizeHint().height(), room.height())
        self.setGeometry(
            room.left() + (room.width() - width) // 2,
            max(room.top(), room.bottom() + 1 - height - theme.SPACE_L),
            width,
            height,
        )
        self._text.setToolTip(self._text.message() if self._text.cut else "")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Move) and self.isVisible():
            self._place()
        return False
