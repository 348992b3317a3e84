"""Two sources side by side: numbers, colours, scrolling, the way from one difference to the next."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from widgets import theme
from widgets.code_view.side_by_side import SideBySide, SideLine


@pytest.fixture
def shown(qtbot: QtBot) -> SideBySide:
    made = SideBySide()
    qtbot.addWidget(made)
    same = [SideLine(n, f"x{n} = {n}") for n in range(1, 101)]
    left = [
        SideLine(0, "net.py", heading=True),
        *same,
        SideLine(101, "b = 2", "bad", ((4, 5),)),
        SideLine(0, ""),
    ]
    right = [
        SideLine(0, "net.py", heading=True),
        *same,
        SideLine(101, "b = 3", "ok"),
        SideLine(102, "c", "ok"),
    ]
    left[11], right[11] = SideLine(11, "old", "bad"), SideLine(0, "")
    made.set_lines(left, right)
    made.resize(600, 200)
    made.show()
    return made


def test_each_side_has_its_own_numbers(shown: SideBySide) -> None:
    assert [shown.left.number_text(n) for n in (1, 2, 103)] == ["", "1", ""]
    assert [shown.right.number_text(n) for n in (12, 103)] == ["", "102"]


def test_both_sides_scroll_together(shown: SideBySide) -> None:
    shown.left.verticalScrollBar().setValue(40)
    assert shown.right.verticalScrollBar().value() == 40
    shown.right.verticalScrollBar().setValue(7)
    assert shown.left.verticalScrollBar().value() == 7


def test_the_keys_go_from_one_difference_to_the_next(shown: SideBySide) -> None:
    assert shown.places == 2  # two lines in a row are one
    lines = []
    for modifier in (Qt.KeyboardModifier.NoModifier,) * 3 + (Qt.KeyboardModifier.ShiftModifier,):
        QTest.keyClick(shown.left, Qt.Key.Key_F7, modifier)
        lines.append(shown.right.textCursor().blockNumber())
    assert lines == [11, 101, 11, 101]


def test_changed_characters_are_stronger_than_their_line(shown: SideBySide) -> None:
    tokens = theme.current()
    selections = shown.left.extraSelections()  # their cursors live as long as the list
    colors = [each.format.background().color().name() for each in selections]
    weak, strong = (theme.mix(tokens.code, tokens.bad, share).name() for share in (0.14, 0.4))
    assert colors == [tokens.line.lower(), weak, weak, strong]
    assert selections[-1].cursor.selectedText() == "2"


def test_sides_of_other_lengths_are_refused(shown: SideBySide) -> None:
    with pytest.raises(ValueError, match="as many lines"):
        shown.set_lines([SideLine(1, "a")], [])


def test_sources_without_a_difference_have_no_place_to_go(shown: SideBySide) -> None:
    shown.set_lines([], [])
    shown.step(1)
    assert shown.places == 0
