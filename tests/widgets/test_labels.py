"""Labels have the roles of the style sheet."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtWidgets import QLabel

from widgets.elided import ElidedComboBox
from widgets.labels import heading, mute, section


@pytest.mark.parametrize(
    ("label", "role", "wraps"),
    [
        (lambda: mute("a"), "mute", False),
        (lambda: mute("a", wrap=True), "mute", True),
        (lambda: heading("a"), "title", False),
        (lambda: section("a"), "section", False),
    ],
)
def test_a_label_has_its_text_role_and_wrapping(qtbot: Any, label: Any, role: str, wraps: bool) -> None:
    made: QLabel = label()
    qtbot.addWidget(made)
    assert (made.text(), made.property("role"), made.wordWrap()) == ("a", role, wraps)


def test_a_choice_wider_than_its_list_ends_in_an_ellipsis(qtbot: Any) -> None:
    box = ElidedComboBox()
    qtbot.addWidget(box)
    box.addItems(["Time per sample of the best trial", "R²"])
    box.setFixedWidth(120)
    box.show()
    assert "…" in box.shown_text()
    assert box.fontMetrics().horizontalAdvance(box.shown_text()) < 120
    box.setCurrentIndex(1)
    assert box.shown_text() == "R²"
