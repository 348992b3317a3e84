"""Card, key figure, chip and empty state."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QApplication, QHBoxLayout, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from widgets import theme
from widgets.cards import Card, Chip, EmptyState, KeyFigure
from widgets.flow import FlowLayout


def test_key_figure_keeps_its_width(qtbot: QtBot) -> None:
    figure = KeyFigure("Loss")
    qtbot.addWidget(figure)
    figure.set_value(123456.0, "img/s")
    wide = figure.minimumSizeHint().width()
    figure.set_value(1.0, "img/s")
    assert figure.text() == "1.000\u2009img/s"
    assert figure.minimumSizeHint().width() == wide
    assert figure.accessibleName() == "Loss: 1.000\u2009img/s"
    figure.clear()
    assert figure.text() == "\u2013"
    assert figure.minimumSizeHint().width() < wide


def test_card_without_title_has_no_header(qtbot: QtBot) -> None:
    card = Card()
    qtbot.addWidget(card)
    card.body.addWidget(QLabel("inside"))
    empty = card.sizeHint().height()
    card.set_title("Title", "and more")
    assert card.sizeHint().height() > empty
    assert card.accessibleName() == "Title"


def test_titles_of_cards_are_on_one_line_and_that_of_their_controls(qtbot: QtBot) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    row = QHBoxLayout(page)
    button, cards = QPushButton("Others"), [Card("Samples"), Card("Classes", "training + test")]
    button.setFixedHeight(theme.CONTROL_HEIGHT)
    cards[0].header.addWidget(button)
    for card in cards:
        card.body.addWidget(QWidget(), 1)
        row.addWidget(card)
    page.resize(640, 200)
    page.show()
    QApplication.processEvents()

    def middle(widget: QWidget) -> float:
        return widget.mapTo(page, QPointF(0, widget.height() / 2)).y()

    titles = [middle(card._title) for card in cards]
    assert titles[0] == titles[1]
    assert abs(middle(button) - titles[0]) <= 1
    assert abs(middle(cards[1]._subtitle) - titles[1]) <= 1


def test_chip_toggles_by_mouse_and_key(qtbot: QtBot) -> None:
    chip = Chip("train", color=0, checkable=True)
    qtbot.addWidget(chip)
    assert chip.isChecked()
    qtbot.mouseClick(chip, Qt.MouseButton.LeftButton)
    assert not chip.isChecked()
    qtbot.keyClick(chip, Qt.Key.Key_Space)
    assert chip.isChecked()
    assert chip.accessibleName() == "train"


def test_empty_state_offers_its_action(qtbot: QtBot) -> None:
    state = EmptyState("Runs come here", "Start a run", "chart")
    qtbot.addWidget(state)
    with qtbot.waitSignal(state.action_triggered):
        qtbot.mouseClick(state.button, Qt.MouseButton.LeftButton)
    state.set_text("Nothing to do")
    assert state.button.isHidden()


def test_flow_layout_wraps(qtbot: QtBot) -> None:
    box = QWidget()
    qtbot.addWidget(box)
    layout = FlowLayout(box, spacing=4)
    for _ in range(3):
        item = QWidget()
        item.setFixedSize(40, 10)
        layout.addWidget(item)
    assert layout.heightForWidth(128) == 10
    assert layout.heightForWidth(127) == 24
    assert layout.heightForWidth(50) == 38
