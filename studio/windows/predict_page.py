"""The page Predict: the pad, the bars, and the picture that the model is really fed."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QSlider,
    QVBoxLayout,
    QWidget,
)

from studio.windows.controls import Facts, PageCard, mute
from widgets import theme
from widgets.bars import ProbabilityBars
from widgets.digit_pad import DigitPad, PixelView
from widgets.icons import set_icon

ANSWER_PX = 44
SIDE = 28
NARROW = 640


class _Frame(QWidget):
    """Room for a square widget. Without this its height would follow its width and push the page over the
    window's edge."""

    def __init__(self, square: QWidget, wanted: QSize, least: QSize, centred: bool = True) -> None:
        super().__init__()
        self._square, self._wanted, self._centred = square, wanted, centred
        square.setParent(self)
        self.setMinimumSize(least)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def sizeHint(self) -> QSize:
        return self._wanted

    def resizeEvent(self, event: QResizeEvent) -> None:
        side = min(self.width(), self.height())
        if not self._centred:
            side -= side % SIDE  # whole pixels of the screen for each of the picture's
        left, top = (self.width() - side) // 2, (self.height() - side) // 2
        self._square.setGeometry(left if self._centred else 0, top if self._centred else 0, side, side)


class PredictPage(QWidget):
    """Filled by its controller; the pad tells of drawings and of dropped files."""

    open_image_requested = Signal()
    cancel_requested = Signal()
    again_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.pad, self.fed, self.bars = DigitPad(), PixelView(), ProbabilityBars()
        self.clear_button, self.undo_button, self.image_button = QPushButton(), QPushButton(), QPushButton()
        set_icon(self.clear_button, "clear")
        set_icon(self.undo_button, "undo")
        set_icon(self.image_button, "image")
        self.cancel_button, self.again_button = QPushButton(), QPushButton()
        self.brush = QSlider(Qt.Orientation.Horizontal)
        self._brush_label = QLabel()
        self._brush_label.setProperty("role", "mute")
        self._brush_label.setFont(theme.font())
        self._brush_label.setBuddy(self.brush)
        self.answer, self.detail = QLabel(), mute(wrap=True)
        self.answer.setFont(theme.font(ANSWER_PX, bold=True))
        self.detail.setFont(theme.font())
        self.facts = Facts()
        self._draw_card, self._answer_card, self._fed_card = PageCard(), PageCard(), PageCard()
        self._grid = QGridLayout(self)
        self._stacked: bool | None = None
        self._build()
        self.retranslate()
        self.show_answer("", "")

    def _build(self) -> None:
        self.brush.setRange(8, 48)
        self.brush.setFixedWidth(80)
        self.brush.valueChanged.connect(self._brush_changed)
        tools = QHBoxLayout()
        tools.setSpacing(theme.SPACE_S)
        for button in (self.clear_button, self.undo_button, self.image_button):
            tools.addWidget(button)
        tools.addStretch(1)
        for widget in (self._brush_label, self.brush):
            self._draw_card.header.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)
        self._draw_card.body.addWidget(_Frame(self.pad, QSize(320, 320), QSize(180, 180)), 1)
        self._draw_card.body.addLayout(tools)
        self.clear_button.clicked.connect(self.pad.clear)
        self.undo_button.clicked.connect(self.pad.undo)
        self.image_button.clicked.connect(self.open_image_requested)
        head = QHBoxLayout()
        head.setSpacing(theme.SPACE_M)
        head.addWidget(self.answer)
        head.addWidget(self.detail, 1, Qt.AlignmentFlag.AlignBottom)
        for button, asked in (
            (self.cancel_button, self.cancel_requested), (self.again_button, self.again_requested),
        ):  # fmt: skip
            button.hide()
            button.clicked.connect(asked)
            head.addWidget(button, 0, Qt.AlignmentFlag.AlignBottom)
        self.answer.setMinimumWidth(36)
        self.detail.setContentsMargins(0, 0, 0, 9)
        self._answer_card.body.addLayout(head)
        self._answer_card.body.addWidget(self.bars, 1)
        fed = QHBoxLayout()
        fed.setSpacing(theme.SPACE_L)
        fed.addWidget(_Frame(self.fed, QSize(200, 200), QSize(112, 112), centred=False), 2)
        side = QVBoxLayout()
        side.addWidget(self.facts)
        side.addStretch(1)
        fed.addLayout(side, 3)
        self._fed_card.body.addLayout(fed, 1)
        self._grid.setContentsMargins(*[theme.PAGE_PADDING] * 4)
        self._grid.setSpacing(theme.SPACE_M)
        self._arrange(False)
        self.brush.setValue(round(self.pad.brush()))
        self._brush_changed(self.brush.value())

    def _arrange(self, stacked: bool) -> None:
        if stacked == self._stacked:
            return
        self._stacked = stacked
        self._grid.addWidget(self._draw_card, 0, 0)
        self._grid.addWidget(self._answer_card, 1 if stacked else 0, 0 if stacked else 1)
        self._grid.addWidget(self._fed_card, 2 if stacked else 1, 0, 1, 1 if stacked else 2)
        for column, share in enumerate((1, 0) if stacked else (1, 1)):
            self._grid.setColumnStretch(column, share)
        for row, share in enumerate((4, 4, 3) if stacked else (8, 5, 0)):
            self._grid.setRowStretch(row, share)

    def minimumSizeHint(self) -> QSize:
        cards = (self._draw_card, self._answer_card, self._fed_card)
        wide = max(card.minimumSizeHint().width() for card in cards)
        return QSize(wide + 2 * theme.PAGE_PADDING, super().minimumSizeHint().height())

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Show) and self.isVisible():
            self._arrange(self.width() < NARROW)
        return super().event(event)

    def _brush_changed(self, width: int) -> None:
        self.pad.set_brush(width)
        self._brush_label.setText(self.tr("brush {0}").format(width))

    # contents

    def show_answer(self, answer: str, detail: str) -> None:
        """The class and what stands beside it; without a class the detail says what to do."""
        self.answer.setText(answer)
        self.answer.setVisible(bool(answer))
        self.detail.setText(detail)
        self.answer.setAccessibleName(self.tr("Prediction: {0}").format(answer) if answer else "")

    def offer(self, cancel: bool, again: str) -> None:
        """Show the button that cancels, or the one with the text ``again``."""
        self.cancel_button.setVisible(cancel)
        self.again_button.setText(again)
        self.again_button.setVisible(bool(again))

    def set_ranking(self, ranking: list[tuple[str, float]]) -> None:
        """Class and probability, the likeliest first; none empties the bars."""
        if ranking:
            self.bars.set_probabilities([share for _, share in ranking], [name for name, _ in ranking])
        else:
            self.bars.clear()

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr = self.tr
        self._draw_card.set_title(tr("Draw"))
        self._answer_card.set_title(tr("Prediction"))
        self._fed_card.set_title(tr("What the model sees"), tr("28 \u00d7 28, centred"))
        self.clear_button.setText(tr("Clear"))
        self.undo_button.setText(tr("Undo"))
        self.image_button.setText(tr("Image..."))
        self.cancel_button.setText(tr("Cancel"))
        self.cancel_button.setToolTip(tr("End what the model does; its process is started again when needed"))
        self.image_button.setToolTip(tr("Open a picture of a digit; it can also be dropped on the pad"))
        self.brush.setAccessibleName(tr("Width of the brush"))
        self.bars.setAccessibleName(tr("Probabilities"))

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()
        super().changeEvent(event)
