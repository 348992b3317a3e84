"""The line at the bottom: pause and stop, the run that trains, its figures, other tasks, the problems."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QEvent, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QAction, QColor, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QStatusBar, QWidget

from studio.windows.controls import ActionButton
from studio.windows.top_bar import PageActions
from widgets import theme
from widgets.elided import ElidedButton, ElidedLabel
from widgets.icons import clear_icon, set_icon
from widgets.retranslated import Retranslated

FIELDS = ("run", "state", "step", "left", "speed", "device", "kernels", "memory", "task")
BUTTONS = ("run", "task")
WIDTH = 30  # of a button without words
OF_RUN = ("state", "step", "left")  # a click on these leads to the run too
OMITTED = ("memory", "kernels", "device", "speed", "step")  # in a narrow window, in this order


class Dot(QWidget):
    """A coloured dot; what it means always stands next to it in words."""

    def __init__(self, token: str = "mute") -> None:
        super().__init__()
        self._token = token
        self.setFixedSize(10, 16)
        theme.changed.connect(self.update)

    def set_token(self, token: str) -> None:
        """Another colour of the theme."""
        self._token = token
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(10, 16)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QColor(0, 0, 0, 0))
        painter.setBrush(QColor(getattr(theme.current(), self._token)))
        painter.drawEllipse(QPointF(5, 8.5), 4, 4)


class _Actions(PageActions):
    """Small buttons without words."""

    def add_action(self, action: QAction, icon: str = "", role: str = "") -> ActionButton:
        button = super().add_action(action, icon, "status")
        button.set_compact(True)
        button.setFixedWidth(WIDTH)
        return button


class StatusBar(Retranslated, QStatusBar):
    """Fields that are empty take no room; a narrow window omits the less important ones.

    ``run_requested`` and ``task_requested`` are clicks on the run and on the other tasks.
    """

    problems_requested = Signal()
    run_requested = Signal()
    task_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._filling = self._unfit = False
        self.setSizeGripEnabled(False)
        self.setContentsMargins(theme.SPACE_S, 0, theme.SPACE_M, 0)
        self.actions_bar, self.dot = _Actions(), Dot()
        self.addWidget(self.actions_bar)
        self.addWidget(self.dot)
        self._fields: dict[str, ElidedLabel | ElidedButton] = {}
        for name in FIELDS:
            field = self._button() if name in BUTTONS else ElidedLabel()
            field.setFont(theme.font(theme.BODY_PX - 1))
            field.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
            field.hide()
            self.addWidget(field)
            self._fields[name] = field
            if isinstance(field, ElidedLabel):
                field.setContentsMargins(0, 0, theme.SPACE_S, 0)
                field.clicked.connect(self.run_requested)
        self.run, self.task = self._fields["run"], self._fields["task"]
        self.run.clicked.connect(self.run_requested)
        self.task.clicked.connect(self.task_requested)
        self.problems = QPushButton()
        self.problems.setProperty("role", "status")
        self.problems.setFont(theme.font(theme.BODY_PX - 1))
        self.problems.clicked.connect(self.problems_requested)
        self.addPermanentWidget(self.problems)
        self._count = 0
        self.retranslate()

    @staticmethod
    def _button() -> ElidedButton:
        button = ElidedButton()
        button.setProperty("role", "status")
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        return button

    def set_field(self, name: str, text: str, tip: str = "") -> None:
        """Show a field; an empty text hides it."""
        field = self._fields[name]
        if field.text() != text:
            field.setText(text)
            field.setAccessibleName(text)
            self._fit()
        if field.toolTip() != tip:
            field.setToolTip(tip)

    @contextmanager
    def filling(self) -> Iterator[None]:
        """Lay the fields out once for all that is shown in the block."""
        self._filling, self._unfit = True, False
        try:
            yield
        finally:
            self._filling = False
        if self._unfit:
            self._fit()

    def set_leads(self, leads: bool) -> None:
        """Whether there is a run to which a click on its figures leads."""
        for name in OF_RUN:
            field = self._fields[name]
            assert isinstance(field, ElidedLabel)
            field.set_leads(leads)

    def label(self, name: str) -> QWidget:
        """The widget of a field, for measuring when it is painted."""
        return self._fields[name]

    def field(self, name: str) -> str:
        """The text of a field."""
        return self._fields[name].text()

    def _fit(self) -> None:
        """Show the fields that have a text and room; the rest shrinks."""
        if self._filling:
            self._unfit = True
            return
        margins, gap = self.contentsMargins(), self.layout().spacing()
        fixed = (self.actions_bar, self.dot, self.problems)
        room = self.width() - margins.left() - margins.right()
        room -= sum(widget.sizeHint().width() + gap for widget in fixed)
        shown = [name for name in FIELDS if self._fields[name].text()]
        wanted = {name: self._fields[name].sizeHint().width() + gap for name in shown}
        for name in OMITTED:
            if sum(wanted.values()) > room:
                wanted.pop(name, None)
        for name, field in self._fields.items():
            field.setVisible(name in wanted)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.StyleChange, QEvent.Type.FontChange):
            self._fit()
        return super().event(event)

    def set_problems(self, count: int) -> None:
        """How many problems there are; the button opens them."""
        self._count = count
        if count:
            set_icon(self.problems, "warning", "warn")
        else:
            clear_icon(self.problems)
        self.retranslate()

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        words = self.tr("No problems")
        if self._count:
            words = self.tr("1 problem") if self._count == 1 else self.tr("{0} problems").format(self._count)
        self.problems.setText(words)
        self.problems.setAccessibleName(words)
        self.problems.setToolTip(self.tr("Show the list of problems"))
        for name, tip in (("run", self.tr("Show this run on the page Train")), ("task", self.tr("Show it"))):
            self._fields[name].setAccessibleDescription(tip)
        self._fit()
