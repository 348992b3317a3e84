"""The surfaces of a page: card, key figure, chip and empty state."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QAbstractButton,
    QFrame,
    QLabel,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from resources import quantities
from widgets import theme
from widgets.elided import ElidedLabel, shows_whole_text
from widgets.flow import FlowLayout
from widgets.icons import icon_pixmap
from widgets.labels import heading, mute
from widgets.layouts import horizontal, vertical


def set_role(widget: QWidget, role: str) -> None:
    """Give a widget a role of the style sheet and let it show at once."""
    widget.setProperty("role", role)
    widget.style().unpolish(widget)
    widget.style().polish(widget)


class Card(QFrame):
    """A panel with a title; put content into `body`, controls of the card into `header` (at its end)."""

    def __init__(self, title: str = "", subtitle: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        self._title, self._subtitle = heading(), ElidedLabel()
        self._subtitle.setProperty("role", "mute")
        # The subtitle goes below the title where the card is narrow.
        words = QWidget()
        flow = FlowLayout(words, theme.SPACE_S, theme.SPACE_XS)
        flow.addWidget(self._title)
        flow.addWidget(self._subtitle)
        self._header_box = QWidget(self)
        # Titles of cards next to each other are on one line, whether there are controls or not.
        self._header_box.setMinimumHeight(theme.CONTROL_HEIGHT)
        self.header = horizontal(self._header_box, 0, theme.SPACE_S)
        self.header.addWidget(words, 1, Qt.AlignmentFlag.AlignVCenter)
        self.body = vertical(None, 0, theme.SPACE_S)
        outer = vertical(self, (theme.SPACE_M, theme.SPACE_S, theme.SPACE_M, theme.SPACE_M))
        outer.addWidget(self._header_box)
        outer.addLayout(self.body, 1)
        self.set_title(title, subtitle)

    def set_title(self, title: str, subtitle: str = "") -> None:
        """Change the words at the top; a card without a title has no header line."""
        self._title.setText(title)
        self._subtitle.setText(subtitle)
        self._subtitle.setVisible(bool(subtitle))
        self._header_box.setVisible(bool(title or subtitle))
        self.setAccessibleName(title)


class KeyFigure(QFrame):
    """A label above one large number whose place doesn't move when the number does."""

    def __init__(self, label: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        self._label, self._value, self._note = QLabel(label), QLabel(), QLabel()
        for quiet in (self._label, self._note):
            quiet.setProperty("role", "mute")
        self._label.setWordWrap(True)
        self._note.setFont(theme.font(theme.SECTION_PX))
        # A long note takes more lines; it does not make the card wider.
        self._note.setWordWrap(True)
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self._note.setSizePolicy(policy)
        self._value.setFont(theme.font(theme.FIGURE_PX, bold=True))
        # A page with too little height scrolls; it does not cut the number through.
        self._value.setMinimumHeight(self._value.fontMetrics().height())
        self._value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        layout = vertical(self, (theme.SPACE_M, 10, theme.SPACE_M, 10), 2)
        for part in (self._label, self._value, self._note):
            layout.addWidget(part)
        layout.addStretch(1)  # next to a card with a longer note
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.clear()

    def set_label(self, label: str) -> None:
        """Change the words above the number."""
        self._label.setText(label)
        self._describe()

    def set_value(self, value: str | float, unit: str = "") -> None:
        """Show a number (formatted with trailing zeros, so that its width is stable) or a text as it is."""
        text = value if isinstance(value, str) else quantities.loss(value, unit)
        if text == self._value.text():
            return
        self._value.setText(text)
        # The widest text so far sets the width: the neighbours never move back and forth.
        self._value.setMinimumWidth(max(self._value.minimumWidth(), self._value.sizeHint().width()))
        self._describe()

    def set_note(self, note: str) -> None:
        """Say below the number which one it is."""
        if note == self._note.text() == self._note.toolTip():
            return
        self._note.setText(note)
        self._note.setToolTip(note)
        self._describe()

    def note(self) -> str:
        """What is said below the number."""
        return self._note.text()

    def clear(self) -> None:
        """Back to the dash of a figure that isn't known yet."""
        self._value.setMinimumWidth(0)
        self.set_note("")
        self.set_value("\u2013")

    def text(self) -> str:
        """The number as shown."""
        return self._value.text()

    def _describe(self) -> None:
        self._value.setAccessibleName(self._label.text())
        self._value.setAccessibleDescription(self._value.text())
        note = f", {self._note.text()}" if self._note.text() else ""
        self.setAccessibleName(f"{self._label.text()}: {self._value.text()}{note}")


class Chip(QAbstractButton):
    """A pill with an optional coloured dot; checkable chips toggle something, others state a fact."""

    def __init__(
        self,
        text: str = "",
        color: int | str | None = None,
        checkable: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._color = color
        self._dashed = False
        self.setText(text)
        self.setCheckable(checkable)
        self.setChecked(checkable)
        self.setFont(theme.font(theme.BODY_PX - 1))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus if checkable else Qt.FocusPolicy.NoFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        if checkable:
            self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def setText(self, text: str) -> None:
        super().setText(text)
        self.setAccessibleName(text)
        self.updateGeometry()

    def set_color(self, color: int | str | None, dashed: bool = False) -> None:
        """The dot: a run colour by number, a colour, or None; dashed draws it as a broken line."""
        self._color, self._dashed = color, dashed
        self.updateGeometry()
        self.update()

    def _mark_width(self) -> int:
        return 0 if self._color is None else 20 if self._dashed else 14

    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        return QSize(metrics.horizontalAdvance(self.text()) + self._mark_width() + 20, metrics.height() + 8)

    def minimumSizeHint(self) -> QSize:
        return QSize(min(self.sizeHint().width(), 80), self.sizeHint().height())

    def event(self, event: QEvent) -> bool:
        shown = shows_whole_text(self, event, lambda: self.width() < self.sizeHint().width())
        return shown or super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        tokens = theme.current()
        on = self.isChecked() or not self.isCheckable()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        ground = QColor(tokens.hover) if self.underMouse() and self.isCheckable() else QColor(tokens.panel)
        if on and self.isCheckable() and self._color is None:
            ground = QColor(tokens.selection)
        ring = self.hasFocus()
        painter.setPen(QPen(QColor(tokens.accent if ring else tokens.line), 2 if ring else 1))
        painter.setBrush(ground)
        painter.drawRoundedRect(box, box.height() / 2, box.height() / 2)
        left = box.left() + 9
        if self._color is not None:
            color = QColor(theme.run_color(self._color)) if on else QColor(tokens.disabled)
            middle = box.center().y()
            if self._dashed:
                painter.setPen(QPen(color, 2, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
                for start in (0.0, 8.0):
                    painter.drawLine(QPointF(left + start, middle), QPointF(left + start + 4, middle))
            else:
                painter.setPen(QPen(color, 1.5))
                painter.setBrush(color if on else Qt.BrushStyle.NoBrush)
                painter.drawEllipse(QPointF(left + 4, middle), 3.5, 3.5)
            left += self._mark_width()
        painter.setPen(QColor(tokens.text if on else tokens.mute))
        if not self.isEnabled():
            painter.setPen(QColor(tokens.disabled))
        area = QRectF(left, box.top(), box.right() - 9 - left, box.height())
        text = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideMiddle, int(area.width()) + 1)
        painter.drawText(area, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)


class EmptyState(QWidget):
    """Says what will come here and offers the action that brings it."""

    action_triggered = Signal()

    def __init__(self, text: str, action: str = "", icon: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._icon_name = icon
        self._image, self._text, self.button = QLabel(), mute(text, wrap=True), QPushButton(action)
        self._text.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._image.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._image.setVisible(bool(icon))
        self.button.clicked.connect(self.action_triggered)
        layout = QVBoxLayout(self)
        layout.setSpacing(theme.SPACE_M)
        layout.addStretch(1)
        layout.addWidget(self._image)
        layout.addWidget(self._text)
        layout.addWidget(self.button, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addStretch(1)
        self.set_text(text, action)
        theme.changed.connect(self._tint)
        self._tint()

    def set_text(self, text: str, action: str = "") -> None:
        """Change the text; the button is hidden if ``action`` is empty."""
        self._text.setText(text)
        self.setAccessibleName(text)
        self.button.setText(action)
        self.button.setVisible(bool(action))

    def _tint(self) -> None:
        if self._icon_name:
            scale = self.devicePixelRatioF()
            self._image.setPixmap(icon_pixmap(self._icon_name, theme.current().mute, 32, scale))
