"""The table of the page Runs under real clicks and keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QToolButton

from studio.session.runs.table.choices import TableChoices
from tests.studio.windows.runs.run_folders import make_run
from widgets import theme

LEFT = Qt.MouseButton.LeftButton
CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
NONE = Qt.KeyboardModifier.NoModifier


@pytest.fixture
def page(stage: Any, tmp_path: Path) -> Any:
    """Four runs of different rates and batches on the page Runs."""
    folder = tmp_path / "runs"
    for number, (rate, batch, accuracy) in enumerate(
        ((0.1, 32, 0.9), (0.01, 32, 0.95), (0.001, 64, 0.97), (0.003, 64, 0.92)), 1
    ):
        make_run(
            folder / f"lenet-static-00{number}",
            started=float(number),
            accuracy=accuracy,
            loss=1 - accuracy,
            learning_rate=rate,
            batch_size=batch,
        )
    stage.session.refresh_runs()
    stage.window.resize(1280, 800)
    stage.window.activateWindow()
    stage.studio.actions.trigger("page_runs")
    return stage.studio.runs_page


def shown(page: Any) -> list[str]:
    """The rows from top to bottom, by the numbers of their folders."""
    return [key[-1] for key in page.table.row_keys()]


def click_row(page: Any, number: int, keys: Qt.KeyboardModifier = NONE) -> None:
    table = page.table
    row = shown(page).index(str(number))
    at = QPoint(table.columnViewportPosition(0) + 60, table.rowViewportPosition(row) + 8)
    QTest.mouseClick(table.viewport(), LEFT, keys, at)


def click_header(page: Any, name: str, keys: Qt.KeyboardModifier = NONE) -> None:
    table = page.table
    column = [each.name for each in table._rows.columns].index(name)
    table.horizontalScrollBar().setValue(0)
    at = QPoint(table.columnViewportPosition(column) + 12, table.header.height() // 2)
    QTest.mouseClick(table.header.viewport(), LEFT, keys, at)


def type_filter(page: Any, text: str) -> None:
    box = page.filter.box
    box.clear()
    QTest.keyClicks(box, text)
    QTest.keyClick(box, Qt.Key.Key_Escape)  # closes the completion
    QTest.keyClick(box, Qt.Key.Key_Return)


def test_the_table_shows_differing_settings_and_the_difference_to_the_best(page: Any) -> None:
    table = page.table
    assert shown(page) == ["4", "3", "2", "1"]
    columns = table.columns()
    assert columns[:5] == ["name", "state", "curve", "accuracy", "accuracy_to_best"]
    assert {"learning_rate", "batch_size"} <= set(columns)
    assert "optimizer" not in columns
    best, second = table.row_keys()[1], table.row_keys()[2]
    assert table.text(best, "accuracy_to_best") == "best"
    assert table.text(second, "accuracy_to_best") == "\u22122.00\u2009pp"
    assert table.text(second, "learning_rate") == "0.01"


def test_a_click_sorts_and_shift_adds_a_second_column(page: Any) -> None:
    click_header(page, "accuracy")
    assert shown(page) == ["3", "2", "4", "1"]
    click_header(page, "accuracy")
    assert shown(page) == ["1", "4", "2", "3"]
    click_header(page, "batch_size")
    click_header(page, "accuracy", SHIFT)
    assert shown(page) == ["2", "1", "3", "4"]
    assert page.table._rows.title(3) == "Accuracy \u2193\u00b2"


def test_the_filter_finds_runs_and_turns_red_where_it_is_wrong(page: Any, stage: Any) -> None:
    type_filter(page, "lr < 0.01 and accuracy > 90 %")
    assert shown(page) == ["4", "3"]
    assert page.card._subtitle.text() == "2 of 4"
    type_filter(page, "lr < 0.01 and speed > 3")
    assert page.filter.box.property("invalid") is True
    assert page.filter.error().startswith("position 15: no run has a column 'speed'")
    assert shown(page) == ["4", "3"]  # the last one that can be used still applies
    QTest.mouseClick(page.filter.reason, LEFT)
    assert page.filter.box.selectedText() == "speed"
    type_filter(page, "batch in (32) or lr = 0.003")
    assert not page.filter.error()
    assert page.filter.box.property("invalid") is False
    assert shown(page) == ["4", "2", "1"]


def test_the_filter_is_next_to_the_title_and_an_error_moves_neither(page: Any, stage: Any) -> None:
    stage.window.resize(1900, 900)
    QTest.qWait(0)

    def at(widget: Any) -> QPoint:
        return widget.mapTo(page, QPoint(0, 0))  # type: ignore[no-any-return]

    words = page.card._subtitle
    gap = at(page.filter).x() - at(words).x() - words.width()
    assert 0 <= gap <= 2 * theme.SPACE_M
    middle = at(page.card._title).y() + page.card._title.height() / 2
    assert abs(middle - at(page.filter.box).y() - page.filter.box.height() / 2) <= 1
    before = at(page.card._title), at(page.filter.box)
    type_filter(page, "speed > 3")
    QTest.qWait(0)
    assert page.filter.reason.isVisible()
    assert at(page.filter.reason).y() >= at(page.filter).y() + page.filter.height()
    assert (at(page.card._title), at(page.filter.box)) == before


def test_a_filter_that_is_too_long_is_reported_and_stays_whole(page: Any, stage: Any) -> None:
    type_filter(page, "lr < 0.01")
    QGuiApplication.clipboard().setText("lr < 0.01 or " * 770)
    box = page.filter.box
    box.clear()
    QTest.keyClick(box, Qt.Key.Key_V, CTRL)
    QTest.keyClick(box, Qt.Key.Key_Return)
    assert len(box.text()) == 13 * 770
    assert page.filter.error().startswith("position 2001: the filter is too long: 10010 characters")
    assert shown(page) == ["4", "3"]
    choices = stage.session.runs_table.choices
    assert TableChoices.model_validate_json(choices.model_dump_json()) == choices


def test_a_restored_filter_has_its_clear_button(page: Any, stage: Any, qtbot: Any) -> None:
    clear = page.filter.box.findChild(QToolButton)
    assert not clear.property("opacity")
    stage.session.runs_table.set_filter("lr < 0.01")
    assert page.filter.box.text() == "lr < 0.01"
    qtbot.waitUntil(lambda: clear.property("opacity") == 1.0)
    QTest.mouseClick(clear, LEFT)
    qtbot.waitUntil(lambda: len(shown(page)) == 4)


def test_names_of_columns_are_completed(page: Any) -> None:
    box = page.filter.box
    QTest.keyClicks(box, "lr < 1 and accu")
    assert page.filter.completer.popup().isVisible()
    QTest.keyClick(page.filter.completer.popup(), Qt.Key.Key_Down)
    QTest.keyClick(page.filter.completer.popup(), Qt.Key.Key_Return)
    assert box.text() == "lr < 1 and accuracy"


def test_rows_are_selected_everywhere(page: Any, stage: Any, qtbot: Any) -> None:
    click_row(page, 3)
    qtbot.waitUntil(lambda: stage.session.selected_run.endswith("3"))
    click_row(page, 1, SHIFT)
    listed = stage.window.project.runs
    qtbot.waitUntil(lambda: len(listed.chosen()) == 3)
    assert {folder[-1] for folder in stage.session.runs_selection.folders} == {"1", "2", "3"}
    click_row(page, 2, CTRL)
    qtbot.waitUntil(lambda: {key[-1] for key in listed.chosen()} == {"1", "3"})
    QTest.mouseClick(listed.viewport(), LEFT, NONE, listed.place_of(page.table.row_keys()[0]).center())
    assert [key[-1] for key in page.table.chosen()] == ["4"]  # the list chooses in the table too
    QTest.keyClick(page.table, Qt.Key.Key_Return)
    assert stage.window.current_page() == "train"


def test_a_cleared_selection_leaves_the_selected_run_in_the_list(page: Any, stage: Any, qtbot: Any) -> None:
    click_row(page, 3)
    click_row(page, 1, SHIFT)
    listed = stage.window.project.runs
    qtbot.waitUntil(lambda: len(listed.chosen()) == 3)
    selected = stage.session.selected_run
    QTest.mouseClick(stage.studio.diagrams.panel.clear, LEFT)
    qtbot.waitUntil(lambda: listed.chosen() == [selected])
    assert page.table.chosen() == [selected]
    assert stage.session.selected_run == selected


def test_columns_are_chosen_found_moved_and_hidden(page: Any, stage: Any) -> None:
    panel = page.columns
    QTest.keyClicks(panel.box, "momentum batch")
    assert all(panel.list.item(row).isHidden() for row in range(panel.list.count()))
    panel.box.clear()
    QTest.keyClicks(panel.box, "optimizer")
    item = panel.item("optimizer")
    assert not item.isHidden()
    assert panel.item("accuracy").isHidden()
    item.setCheckState(Qt.CheckState.Checked)
    assert page.table.columns()[-1] == "optimizer"
    header = page.table.header
    header.moveSection(header.visualIndex(3), 1)
    assert stage.session.runs_table.choices.columns[:2] == ("name", "accuracy")
    stage.session.runs_table.toggle_column("state", False)
    assert "state" not in page.table.columns()
    assert panel.item("state").checkState() == Qt.CheckState.Unchecked
    QTest.mouseClick(panel.reset, LEFT)
    assert stage.session.runs_table.choices.columns is None


def test_selected_rows_are_copied_with_all_digits(page: Any) -> None:
    click_row(page, 2)
    QTest.keyClick(page.table, Qt.Key.Key_C, CTRL)
    lines = QGuiApplication.clipboard().text().splitlines()
    assert len(lines) == 2
    row = dict(zip(lines[0].split("\t"), lines[1].split("\t"), strict=True))
    assert row["accuracy"] == "0.95"
    assert row["accuracy_to_best"] == str(0.95 - 0.97)
    assert row["learning_rate"] == "0.01"
    assert "curve" not in row


def test_a_missing_folder_and_a_damaged_journal_are_shown_in_their_rows(
    page: Any, stage: Any, tmp_path: Path, qtbot: Any
) -> None:
    journal = tmp_path / "runs" / "lenet-static-002" / "journal.jsonl"
    journal.write_bytes(b"\x00\xff{\n" + journal.read_bytes())
    stage.session.refresh_runs()
    row = page.table.row_keys()[2]
    assert "1 damaged line was skipped" in page.table.text(row, "problem")
    rows = {each.key: each.detail for each in stage.window.project.runs.rows()}
    assert "1 damaged line was skipped" in rows[str(journal.parent)]
    assert shown(page) == ["4", "3", "2", "1"]
    journal = tmp_path / "runs" / "lenet-static-001" / "journal.jsonl"
    journal.rename(journal.with_name("elsewhere"))
    stage.studio.runs_table._read_curves()
    curve = page.table.text(page.table.row_keys()[3], "curve")
    assert curve == "journal.jsonl: not read: No such file or directory"


def test_a_row_without_its_folder_says_so_and_is_removed(page: Any, stage: Any, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "lenet-static-002"
    folder.rename(tmp_path / "elsewhere")
    stage.session.refresh_runs()
    row = page.table.row_keys()[2]
    assert row == str(folder)
    assert page.table.text(row, "state") == "folder missing"
    assert (
        page.table.text(row, "problem")
        == "its folder has disappeared: put it back, or choose Remove from list"
    )
    click_row(page, 2)
    QTest.keyClick(page.table, Qt.Key.Key_Delete)
    assert shown(page) == ["4", "3", "1"]
    assert (tmp_path / "elsewhere" / "journal.jsonl").is_file()
