"""Tables and sequences on the page Data under real clicks: the question for the target, roles, histograms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tests.studio.windows.data.test_data_page import FACTS, requests


def column(name, role="input", type="number", **more):
    return {
        "name": name,
        "role": role,
        "type": type,
        "reason": "",
        "words": [],
        "fill": 0.0,
        "missing": 0,
        "distinct": 9,
        "unit": "",
        **more,
    }


def spec(kind="table", task="numbers", **more):
    return {
        "kind": kind,
        "task": task,
        "shape": [2],
        "classes": [],
        "targets": ["price"],
        "columns": [],
        "masked": False,
        "samples": 30,
        "kind_reason": "a CSV file is a table",
        "task_reason": "price has fractions",
        **more,
    }


TABLE = [
    column("id", "excluded", reason="differs in nearly every row"),
    column("size", missing=2, unit="m2"),
    column("colour", type="word", words=["blue", "red"]),
    column("price", "target"),
]
PRICE = {"name": "price", "low": 1.5, "high": 9.5, "mean": 4.0, "counts": [3, 1], "edges": [1.5, 5.5, 9.5]}


def show(stage, **changes):
    QTest.keyClick(stage.window, Qt.Key.Key_1, Qt.KeyboardModifier.ControlModifier)
    number = requests(stage.worker)[-1].number
    facts = {**FACTS, "kind": "csv", "is_image": False, "raw": [2], "fed": [2], "classes": []}
    facts |= {"columns": ["size", "colour"], "train_balance": [], "test_balance": []}
    stage.tell("data_opened", number=number, **{**facts, **changes})
    return number


def samples(stage, number, values, **more):
    count = len(values)
    stage.tell(
        "data_samples",
        number=number,
        split="train",
        label=-1,
        page=0,
        of=30,
        labels=[0] * count,
        places=[f"row {place}" for place in range(count)],
        broken=[False] * count,
        values=values,
        **more,
    )


def test_the_page_asks_for_the_target_and_opens_the_data_with_it(stage, qtbot):
    page, session, reasons = stage.studio.data_page, stage.session, stage.studio.data_panel.reasons
    session.data.facts = replace(session.data.facts, name="digits", spec={"kind_reason": "image files"})
    assert reasons["kind"].text() == "image files"
    stage.studio.data.choose("houses.csv")
    QTest.keyClick(stage.window, Qt.Key.Key_1, Qt.KeyboardModifier.ControlModifier)
    number = requests(stage.worker)[-1].number
    columns = [column("id"), column("built", type="date"), column("price", missing=1)]
    stage.tell("data_needs_target", number=number, message="which column?", columns=columns)
    assert page.question.isVisible()
    assert page.question.text() == "Which column is to be predicted?"
    assert reasons["kind"].text() == "", "that of the data before"
    table = page.choices.table
    assert [table.item(row, 0).text() for row in range(3)] == ["id", "built", "price"]
    assert table.item(1, 1).text() == "dates"
    assert table.item(2, 3).text() == "9 different, 1 missing"
    place = table.visualItemRect(table.item(2, 0)).center()
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert session.train.settings.label_name == "price"
    qtbot.waitUntil(lambda: requests(stage.worker)[-1].config["label_name"] == "price")
    session.execute("undo")
    assert session.train.settings.label_name == ""


def test_return_chooses_the_target(stage, qtbot):
    QTest.keyClick(stage.window, Qt.Key.Key_1, Qt.KeyboardModifier.ControlModifier)
    number = requests(stage.worker)[-1].number
    stage.tell("data_needs_target", number=number, message="?", columns=[column("id"), column("y2")])
    table = stage.studio.data_page.choices.table
    table.setFocus()
    table.setCurrentCell(1, 0)
    QTest.keyClick(table, Qt.Key.Key_Return)
    assert stage.session.train.settings.label_name == "y2"


def test_columns_have_roles_with_reasons_and_a_role_changes_the_settings(stage, qtbot):
    page, session = stage.studio.data_page, stage.session
    show(stage, spec=spec(columns=TABLE), targets=[PRICE])
    assert page.columns.isVisible()
    assert not page.cards["pairs"].isVisible()
    rows = {row.name: row for row in page.columns.rows()}
    assert rows["id"].reason == "differs in nearly every row"
    assert rows["size"].type == "numbers [m2]"
    assert rows["colour"].reason == "blue, red"
    assert not page.columns.role_box("price").isEnabled()  # the only target
    box = page.columns.role_box("size")
    qtbot.keyClick(box, Qt.Key.Key_End)
    box.activated.emit(box.currentIndex())
    assert list(session.train.settings.exclude) == ["size"]
    box = page.columns.role_box("id")
    box.setCurrentIndex(0)
    box.activated.emit(0)
    assert list(session.train.settings.include) == ["id"]
    session.execute("undo")
    assert list(session.train.settings.include) == []
    assert list(session.train.settings.exclude) == ["size"]


def test_numbers_have_a_histogram_and_their_values_in_the_list(stage, qtbot):
    page, panel = stage.studio.data_page, stage.studio.data_panel
    number = show(stage, spec=spec(columns=TABLE), targets=[PRICE])
    samples(stage, number, [np.array([1.5, 2.0]), np.array([np.nan, 0.0])], targets=[[7.25], [8.0]])
    histogram = page.targets.histograms[0]
    assert histogram.isVisible()
    assert histogram.counts() == (3, 1)
    assert not page.filter.isVisible()
    assert not page.balance.isVisible()
    table = page.samples.table
    assert table.horizontalHeaderItem(0).text() == "price"
    shown = [[table.item(row, place).text() for place in range(3)] for row in range(2)]
    assert shown == [["7.25", "1.5", "red"], ["8", "\u2013", "\u2013"]]
    assert panel.reasons["task"].text() == "price has fractions"
    assert panel.form.control("exclude").isVisible()
    assert not panel.form.control("resize").isVisible()


def test_sequences_are_curves(stage, qtbot):
    page = stage.studio.data_page
    number = show(
        stage,
        kind="npz",
        classes=["a", "b"],
        train_balance=[1, 1],
        test_balance=[1, 1],
        raw=[5, 2],
        spec=spec("sequences", "classes", shape=[5, 2], targets=[]),
    )
    wave = np.stack([np.linspace(0, 1, 5), np.linspace(1, 0, 5)], 1).astype(np.float32)
    wave[2, 1] = np.nan
    samples(stage, number, [wave, wave])
    stage.tell("data_compared", number=number, before=[wave], after=[wave], ranges=[[0, 1]])
    assert page.samples.tiles.count() == 2
    icon = page.samples.tiles.item(0).icon().pixmap(64, 64).toImage()
    assert any(icon.pixelColor(x, y).alpha() for x in range(20) for y in range(icon.height()))
    assert page.cards["pairs"].isVisible()
    assert page.balance.isVisible()


def test_other_data_begins_without_the_settings_of_the_data_before(stage):
    session = stage.session
    session.change_settings({"label_name": "price", "exclude": ("id",)}, "Test")
    stage.studio.data.choose("/elsewhere/other.csv")
    assert session.train.settings.label_name == ""
    assert list(session.train.settings.exclude) == []
    session.execute("undo")
    assert session.train.settings.label_name == "price"
    assert session.train.settings.data == "digits"
