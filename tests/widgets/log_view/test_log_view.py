"""Log lines and problems: levels, bounds, copies, and the change of the theme."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from widgets import theme
from widgets.log_view import LogView, ProblemData, ProblemList
from widgets.log_view.log import clock_text


@pytest.fixture
def log(qtbot: QtBot) -> LogView:
    widget = LogView(limit=50)
    qtbot.addWidget(widget)
    widget.resize(400, 200)
    widget.show()
    return widget


def shown(log: LogView) -> list[str]:
    log.flush()
    return log.text().split("\n")


def test_lines_show_time_level_and_text(log: LogView) -> None:
    log.append("epoch 1", time=1_700_000_000.0)
    assert shown(log) == [f"{clock_text(1_700_000_000.0)}  info    epoch 1"]
    with pytest.raises(ValueError, match="unknown level: 'loud'"):
        log.append("x", "loud")


def test_lines_come_in_batches(log: LogView, qtbot: QtBot) -> None:
    log.append("one")
    log.append("two")
    assert log.text() == ""
    qtbot.waitUntil(lambda: log.text().count("\n") == 1, timeout=1000)


def test_levels_filter_without_forgetting(log: LogView) -> None:
    for level in ("debug", "info", "warning", "error"):
        log.append(f"a {level}", level)
    assert [line.rsplit(" ", 1)[1] for line in shown(log)] == ["info", "warning", "error"]
    log.set_level("error")
    assert [line.rsplit(" ", 1)[1] for line in shown(log)] == ["error"]
    log.append("late", "info")
    assert len(shown(log)) == 1
    log.set_level("debug")
    assert len(shown(log)) == 5


def test_memory_is_bounded(log: LogView) -> None:
    for number in range(500):
        log.append(f"line {number}\nsecond")
    assert len(shown(log)) <= 50
    assert len(log.lines()) == 50
    assert log.text().endswith("line 499\nsecond")


def test_the_end_stays_in_view_until_scrolled_up(log: LogView) -> None:
    for number in range(40):
        log.append(f"line {number}")
    log.flush()
    bar = log._text.verticalScrollBar()
    assert bar.value() == bar.maximum() > 0
    bar.setValue(3)
    log.append("more")
    log.flush()
    assert bar.value() == 3


def test_copy_takes_all_or_the_selection(log: LogView) -> None:
    log.append("first")
    log.append("second")
    log.flush()
    log.copy()
    assert QGuiApplication.clipboard().text() == log.text()
    cursor = log._text.textCursor()
    cursor.movePosition(cursor.MoveOperation.End)
    cursor.select(cursor.SelectionType.WordUnderCursor)
    log._text.setTextCursor(cursor)
    log.copy()
    assert QGuiApplication.clipboard().text() == "second"


def test_colours_follow_the_theme(log: LogView, qapp: QApplication) -> None:
    log.append("broken", "error")
    log.flush()
    theme.apply_theme(qapp, "dark")
    colors, fragment = set(), log._text.document().firstBlock().begin()
    while not fragment.atEnd():
        colors.add(fragment.fragment().charFormat().foreground().color().name().upper())
        fragment += 1
    assert colors == {theme.DARK.mute, theme.DARK.bad, theme.DARK.text}


@pytest.fixture
def problems(qtbot: QtBot) -> ProblemList:
    widget = ProblemList()
    qtbot.addWidget(widget)
    widget.resize(400, 300)
    widget.show()
    return widget


def test_newest_problem_is_on_top_with_its_details(problems: ProblemList, qtbot: QtBot) -> None:
    assert problems._empty.isVisible()
    problems.add_problem("disk: nearly full", level="warning", time=1.0)
    assert not problems._details.isVisible()
    with qtbot.waitSignal(problems.count_changed) as signal:
        problems.add_problem("lenet.py:14: shapes differ", "Traceback ...", time=2.0)
    assert signal.args == [2]
    assert problems.problems()[0] == ProblemData("lenet.py:14: shapes differ", "Traceback ...", "error", 2.0)
    assert problems._details.toPlainText() == "Traceback ..."
    assert problems._title.text() == "2 problems"
    with qtbot.waitSignal(problems.activated) as signal:
        problems._list.itemActivated.emit(problems._list.item(1))
    assert signal.args[0].text == "disk: nearly full"
    with pytest.raises(ValueError, match="unknown level: 'info'"):
        problems.add_problem("x", level="info")


def test_report_holds_everything(problems: ProblemList) -> None:
    problems.add_problem("first", "its details\n", time=1.0)
    problems.add_problem("second", level="warning", time=2.0)
    problems.copy_report()
    lines = QGuiApplication.clipboard().text().split("\n")
    assert lines[0].endswith("warning: second")
    assert lines[2].endswith("error: first")
    assert lines[3] == "its details"


def test_problems_are_bounded_and_cleared(problems: ProblemList) -> None:
    for number in range(205):
        problems.add_problem(str(number), time=0.0)
    assert [len(problems.problems()), problems._list.count()] == [200, 200]
    assert problems.problems()[-1].text == "5"
    problems.clear()
    assert problems._empty.isVisible()
    assert problems.report() == ""
