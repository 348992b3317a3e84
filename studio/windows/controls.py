"""Small parts that several pages use: buttons of actions, section labels, facts, scrolling columns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QAction, QContextMenuEvent, QGuiApplication, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QComboBox,
    QFrame,
    QLabel,
    QMenu,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QSlider,
    QStackedLayout,
    QWidget,
)

from widgets import theme
from widgets.cards import Card
from widgets.icons import set_icon
from widgets.labels import breakable, mute
from widgets.layouts import grid

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget as _Base
else:
    _Base = object  # of HighAsTexts: Qt allows one of its classes among the bases


class ActionButton(QPushButton):
    """A push button that follows a QAction: words, tooltip, enabled or not.

    A click leaves the keyboard where it is, and a button that is disabled while it has the keyboard gets it
    back: Qt would hand it to the next button, such as Stop, which the next Space then presses.
    """

    def __init__(self, action: QAction, icon: str = "", role: str = "", text: str = "") -> None:
        super().__init__()
        self._action = action
        self._own_text = text
        self._compact = self._had_focus = False
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        if role:
            self.setProperty("role", role)
        if icon:
            set_icon(self, icon, "on_accent" if role == "primary" else "text")
        self._has_icon = bool(icon)
        action.changed.connect(self._follow)
        self.clicked.connect(action.trigger)
        self._follow()

    def set_compact(self, compact: bool) -> None:
        """Only the icon, for narrow windows; the words are in the tooltip."""
        self._compact = compact and self._has_icon
        self._follow()

    def set_text(self, text: str) -> None:
        """Words of its own instead of the action's; empty for the action's."""
        self._own_text = text
        self._follow()

    def words(self) -> str:
        """What it says where it is not compact."""
        return self._own_text or self._action.iconText()

    def _follow(self) -> None:
        self.setText("" if self._compact else self.words())
        self.setAccessibleName(self._own_text or self._action.text())
        self.setToolTip(self._action.toolTip())
        self.setAccessibleDescription(self._action.toolTip())
        enabled = self._action.isEnabled()
        if not enabled and self.hasFocus():
            self._had_focus = True
            self.clearFocus()
        self.setEnabled(enabled)
        if enabled and self._had_focus:
            self._had_focus = False
            if self.window().focusWidget() in (None, self):
                self.setFocus()


class ValueLabel(QLabel):
    """A text that wraps anywhere a name can be broken, and is copied as it is."""

    def __init__(self, text: str = "", mono: bool = False) -> None:
        super().__init__()
        self._plain = ""
        self._mono = mono
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        self.setFont(theme.mono_font() if mono else theme.font())
        self.set_value(text)

    def set_value(self, text: str) -> None:
        """Show another text."""
        if text != self._plain or not text:
            self._plain = text
            self.setText(breakable(text))
            self.setAccessibleName(text)

    def value(self) -> str:
        """The text without the places where it may be broken."""
        return self._plain

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = QMenu(self)
        menu.addAction(self.tr("Copy"), lambda: QGuiApplication.clipboard().setText(self._plain))
        menu.exec(event.globalPos())
        menu.deleteLater()


class Facts(QWidget):
    """Names at the left, values at the right; a row without a value is not shown."""

    def __init__(self, mono: bool = False) -> None:
        super().__init__()
        self._mono = mono
        self._grid = grid(self, 0, spacing=None)
        self._grid.setHorizontalSpacing(theme.SPACE_M)
        self._grid.setVerticalSpacing(theme.SPACE_S)
        self._grid.setColumnMinimumWidth(0, 84)
        self._grid.setColumnStretch(1, 1)
        self._rows: list[tuple[QLabel, ValueLabel]] = []

    def set_rows(self, rows: Iterable[tuple[str, str]]) -> None:
        """Show these (name, value) pairs."""
        shown = [(name, value) for name, value in rows if value]
        while len(self._rows) < len(shown):
            name, value = mute(), ValueLabel(mono=self._mono)
            top = Qt.AlignmentFlag.AlignTop
            self._grid.addWidget(name, len(self._rows), 0, top)
            self._grid.addWidget(value, len(self._rows), 1)
            self._rows.append((name, value))
        for index, (name, value) in enumerate(self._rows):
            used = index < len(shown)
            name.setVisible(used)
            value.setVisible(used)
            name.setText(shown[index][0] if used else "")
            value.set_value(shown[index][1] if used else "")
            value.setAccessibleName(": ".join(shown[index]) if used else "")

    def rows(self) -> list[tuple[str, str]]:
        """What is shown."""
        return [(name.text(), value.value()) for name, value in self._rows if name.text()]


class PageCard(Card):
    """A card that takes the height it gets: that its title may wrap must not make the page ask for more."""

    def hasHeightForWidth(self) -> bool:
        return False


class HighAsTexts(_Base):
    """Mixin, the first base of a widget with a layout of texts that wrap: it asks for the least height at
    which they fit."""

    def minimumSizeHint(self) -> QSize:
        least, layout = super().minimumSizeHint(), self.layout()
        if layout is None or not self.width():
            return least
        # With the border of a card.
        return QSize(least.width(), max(least.height(), layout.totalMinimumHeightForWidth(self.width())))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()


class TextCard(HighAsTexts, PageCard):
    """A card of texts that wrap."""


class _OneOf(QStackedLayout):
    """Asks for the room of the page shown; Qt's own takes the greatest height of all for a width."""

    def sizeHint(self) -> QSize:
        page = self.currentWidget()
        return page.sizeHint() if page is not None else QSize()

    def minimumSize(self) -> QSize:
        page = self.currentWidget()
        return page.minimumSizeHint() if page is not None else QSize()

    def hasHeightForWidth(self) -> bool:
        page = self.currentWidget()
        return page is not None and page.hasHeightForWidth()

    def heightForWidth(self, width: int) -> int:
        page = self.currentWidget()
        return page.heightForWidth(width) if page is not None else -1


class Stack(QWidget):
    """Takes the room that the page shown needs; those behind it would only bring scroll bars."""

    def __init__(self, *pages: QWidget) -> None:
        super().__init__()
        self._layout = _OneOf(self)
        self._layout.currentChanged.connect(lambda _: self._layout.invalidate())
        for page in pages:
            self.addWidget(page)

    def addWidget(self, page: QWidget) -> None:
        """Another page behind the others."""
        self._layout.addWidget(page)

    def currentWidget(self) -> QWidget | None:
        """The page that is shown."""
        return self._layout.currentWidget()

    def currentIndex(self) -> int:
        """Its place."""
        return self._layout.currentIndex()

    def setCurrentWidget(self, page: QWidget) -> None:
        """Show a page."""
        self._layout.setCurrentWidget(page)

    def setCurrentIndex(self, index: int) -> None:
        """Show the page at a place."""
        self._layout.setCurrentIndex(index)


class _Holder(QWidget):
    """Asks for the least height at which its content fits.

    A scroll area would ask a content whose height depends on its width for the height that it likes best, and
    show a scroll bar where none is needed.
    """

    def __init__(self, content: QWidget) -> None:
        super().__init__()
        self._content = content
        content.setParent(self)

    def minimumSizeHint(self) -> QSize:
        least = self._content.minimumSizeHint()
        layout = self._content.layout()
        if layout is None or not layout.hasHeightForWidth():
            return least
        return QSize(least.width(), layout.minimumHeightForWidth(max(self.width(), least.width())))

    def sizeHint(self) -> QSize:
        return self._content.sizeHint()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._content.setGeometry(self.rect())
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().event(event)


class Scroll(QScrollArea):
    """A page or dock that scrolls where it doesn't fit, also with the pointer over a choice or a slider."""

    def __init__(self, content: QWidget) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        holder = _Holder(content)
        holder.setProperty("role", "page")
        self.setWidget(holder)
        for kind in (QComboBox, QAbstractSpinBox, QSlider):
            let_page_scroll(*content.findChildren(kind))

    def minimumSizeHint(self) -> QSize:
        return QSize(120, 80)


class _PageWheel(QObject):
    """The wheel scrolls the page under a control; it changes one only where that has the keyboard."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        unused = isinstance(watched, QWidget) and not watched.hasFocus()
        if event.type() == QEvent.Type.Wheel and unused:
            event.ignore()  # the page takes it
            return True
        return False


def let_page_scroll(*controls: QWidget) -> None:
    """Leave the wheel to the page while a choice, a spin box or a slider does not have the keyboard."""
    for control in controls:
        control.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        control.installEventFilter(_PageWheel(control))
