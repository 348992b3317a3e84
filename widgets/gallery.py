"""`python -m widgets.gallery`: controls, cards, chips, empty state and toast under the theme."""

from __future__ import annotations

import sys

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QRadioButton,
    QSlider,
    QSpinBox,
    QTabBar,
    QVBoxLayout,
    QWidget,
)

from widgets import theme
from widgets.cards import Card, Chip, EmptyState, KeyFigure
from widgets.demo import run_demo
from widgets.icons import set_icon
from widgets.labels import section
from widgets.toast import Toast


def _figures() -> QHBoxLayout:
    row = QHBoxLayout()
    for label, value, unit in (
        ("Loss", 0.0812, ""),
        ("Validation accuracy", 97.84, "%"),
        ("Throughput", 91200.0, "img/s"),
        ("Time left", theme.format_duration(14), ""),
    ):
        figure = KeyFigure(label)
        figure.set_value(value, unit)
        row.addWidget(figure)
    return row


def _buttons() -> QHBoxLayout:
    row = QHBoxLayout()
    for text, role, icon in (
        ("Start", "primary", "play"),
        ("Pause", "", "pause"),
        ("Stop early", "", "stop"),
        ("Details", "quiet", ""),
    ):
        button = QPushButton(text)
        if role:
            button.setProperty("role", role)
        if icon:
            set_icon(button, icon, "on_accent" if role == "primary" else "text")
        row.addWidget(button)
    off = QPushButton("Cancel")
    set_icon(off, "cancel")
    off.setEnabled(False)
    row.addWidget(off)
    for words, color, checkable in (("Epoch 2 of 5", None, False), ("train", 0, True), ("log", None, True)):
        row.addWidget(Chip(words, color, checkable))
    row.addStretch()
    return row


def _controls() -> QGridLayout:
    grid = QGridLayout()
    choices, number, text = QComboBox(), QSpinBox(), QLineEdit()
    choices.addItems(["Adam", "SGD"])
    number.setValue(64)
    number.lineEdit().setTextMargins(6, 0, 0, 0)
    text.setPlaceholderText("Name of the model")
    slider, bar = QSlider(Qt.Orientation.Horizontal), QProgressBar()
    slider.setValue(60)
    bar.setValue(38)
    checked, radio = QCheckBox("Static"), QRadioButton("Follow the system")
    checked.setChecked(True)
    radio.setChecked(True)
    off = QCheckBox("Not now")
    off.setEnabled(False)
    tabs = QTabBar()
    for name in ("Log", "Problems", "Tasks"):
        tabs.addTab(name)
    for place, widget in enumerate((choices, number, text, slider, bar, checked, radio, off, tabs)):
        grid.addWidget(widget, place // 3, place % 3)
    return grid


def make() -> QWidget:
    """One page of everything."""
    page = QWidget()
    layout = QVBoxLayout(page)
    layout.setSpacing(theme.SPACE_M)
    layout.addLayout(_figures())
    layout.addLayout(_buttons())
    controls = Card("Controls", "as Fusion wears them")
    controls.body.addLayout(_controls())
    layout.addWidget(controls)
    card = Card("Runs")
    card.body.addWidget(
        EmptyState("Runs come here. Train the first one in under a minute.", "New run", "chart")
    )
    card.header.addWidget(section("Section"))
    layout.addWidget(card, 1)
    toast = Toast(page)
    words = "lenet.py:14: the shapes don't fit: [64, 400] and [256, 120]; change linear1"
    QTimer.singleShot(100, lambda: toast.show_message(words, "bad", details=True))
    return page


if __name__ == "__main__":
    sys.exit(run_demo(make, "Gallery", (860, 560)))
