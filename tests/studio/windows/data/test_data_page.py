"""The page Data under real clicks and keys; what its child process would tell is put in by the test."""

from __future__ import annotations

from fnmatch import fnmatchcase

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from resources.settings import RUN_SETTINGS, Setting
from studio.session.data.data_job import BrowseData, ComparePreparation, ShowSamples, StopCheck
from studio.session.work.job import Request
from tests.studio.windows.dropping import drop_on

FACTS = {
    "name": "digits",
    "kind": "digits",
    "is_image": True,
    "raw": [28, 28, 1],
    "fed": [1, 28, 28],
    "classes": ["zero", "one"],
    "columns": [],
    "train": 30,
    "test": 8,
    "own_split": False,
    "unlabelled": 0,
    "train_balance": [20, 10],
    "test_balance": [5, 3],
}


def requests(worker):
    return [each for each in worker.commands if isinstance(each, Request)]


def opened(stage, **changes):
    """Show the page and let the child tell that the data is there."""
    QTest.keyClick(stage.window, Qt.Key.Key_1, Qt.KeyboardModifier.ControlModifier)
    worker = stage.worker
    number = requests(worker)[-1].number
    stage.tell("data_opened", number=number, **{**FACTS, **changes})
    if changes:
        return worker, number
    images = [np.full((28, 28), 80 * place, np.uint8) for place in range(3)]
    stage.tell(
        "data_samples",
        number=number,
        split="train",
        label=-1,
        page=0,
        of=30,
        labels=[0, 1, 0],
        places=["a.png", "b.png", "c.png"],
        broken=[False, False, True],
        values=images,
    )
    stage.tell("data_compared", number=number, before=images, after=images, ranges=[[0, 1]] * 3)
    return worker, number


def test_ctrl_1_opens_the_chosen_data(stage, qtbot):
    page = stage.studio.data_page
    worker, number = opened(stage)
    assert stage.window.current_page() == "data"
    assert worker.job == BrowseData()
    assert requests(worker)[0].config["data"] == "digits"
    qtbot.waitUntil(lambda: page.samples.tiles.count() == 3)
    assert [page.samples.tiles.item(place).text() for place in range(3)] == ["zero", "one", "unreadable"]
    assert page.samples.tiles.item(1).toolTip() == "b.png"
    assert page.balance.rows() == [("zero", 20, 5), ("one", 10, 3)]
    assert [figure.text() for figure in page.figures.values()] == ["30", "8", "2", "1 \u00d7 28 \u00d7 28"]
    assert all(page.isAncestorOf(figure) and figure.isVisible() for figure in page.figures.values())
    assert "fed as numbers from 0 to 1" in page.pair_note.text()
    stage.tell("data_checked", number=number - 1, done=38, total=38, problems=[])  # of data before
    stage.tell("data_checked", number=number, done=10, total=38, problems=[])
    qtbot.waitUntil(lambda: page.problems.state.text() == "Checked 10 of 38")


def test_samples_are_filtered_by_split_and_class(stage, qtbot):
    worker, _ = opened(stage)
    page = stage.studio.data_page
    qtbot.waitUntil(lambda: page.filter.count() == 3)
    page.filter.setFocus()
    QTest.keyClick(page.filter, Qt.Key.Key_End)
    page.filter.activated.emit(page.filter.currentIndex())
    page.split.setCurrentIndex(1)
    page.split.activated.emit(1)
    qtbot.mouseClick(page.other, Qt.MouseButton.LeftButton)
    asked = [each for each in requests(worker) if isinstance(each, ShowSamples)][-1]
    assert (asked.split, asked.label, asked.page) == ("test", 1, 1)
    qtbot.mouseClick(page.other_pairs, Qt.MouseButton.LeftButton)
    assert requests(worker)[-1] == ComparePreparation(1)


def test_problems_are_counted_named_and_say_what_to_do(stage, qtbot):
    worker, number = opened(stage)
    problems = stage.studio.data_page.problems
    found = [
        {"kind": "unreadable", "count": 2, "places": ["x.png", "y.png"]},
        {"kind": "shared", "count": 300, "places": ["z.png"]},
    ]
    stage.tell("data_checked", number=number, done=20, total=38, problems=found)
    qtbot.waitUntil(lambda: len(problems.rows()) == 2)
    first, second = problems.rows()
    assert (first.title, first.places) == ("Can't be read: 2", ("x.png", "y.png"))
    assert second.places == ("z.png", "and 299 more")
    assert "Replace or remove" in problems.remedy.text()
    problems.tree.setFocus()
    QTest.keyClick(problems.tree, Qt.Key.Key_Down)
    assert "inflate the test accuracy" in problems.remedy.text()
    qtbot.mouseClick(problems.stop, Qt.MouseButton.LeftButton)
    assert requests(worker)[-1] == StopCheck()
    stage.tell("data_check_stopped", number=number)
    qtbot.waitUntil(lambda: problems.state.text() == "Stopped: 20 of 38 were checked")


def test_unreadable_files_of_a_folder_are_excluded_by_a_click(stage, qtbot):
    _, number = opened(stage, kind="images", name="/data/pets")
    problems = stage.studio.data_page.problems
    found = [
        {"kind": "unreadable", "count": 2, "places": ["cat/a 1,[x].png", "dog/b.png"]},
        {"kind": "few", "count": 1, "places": ["dog"]},
    ]
    stage.tell("data_checked", number=number, done=20, total=38, problems=found)
    qtbot.waitUntil(lambda: len(problems.rows()) == 2)
    problems.tree.setFocus()
    QTest.keyClick(problems.tree, Qt.Key.Key_Down)
    assert problems.exclude.isHidden()
    QTest.keyClick(problems.tree, Qt.Key.Key_Up)
    qtbot.mouseClick(problems.exclude, Qt.MouseButton.LeftButton)
    patterns = stage.studio.session.train.settings.exclude
    assert patterns == ("cat/a?1?[[]x].png", "dog/b.png")
    assert fnmatchcase("cat/a 1,[x].png", patterns[0])
    assert RUN_SETTINGS["exclude"].parse(Setting.write(patterns)) == patterns


def test_a_setting_that_is_typed_reads_the_data_again(stage, qtbot):
    worker, number = opened(stage)
    form = stage.studio.data_panel.form
    resize = form.control("resize")
    qtbot.waitUntil(resize.isVisible)
    resize.selectAll()
    QTest.keyClicks(resize, "32")
    QTest.keyClick(resize, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: [each.number for each in requests(worker)][-1] == number + 1)
    assert requests(worker)[-1].config["resize"] == 32
    assert stage.session.train.settings.resize == 32


def test_a_dropped_folder_becomes_the_data(stage, qtbot, tmp_path):
    opened(stage)
    page = stage.studio.data_page
    assert drop_on(page, tmp_path)
    assert stage.session.train.settings.data == str(tmp_path)
    assert stage.studio.data_panel.path.value() == str(tmp_path)
    assert requests(stage.worker)[-1].config["data"] == str(tmp_path)


def test_errors_appear_in_the_page_and_cancel_ends_the_reading(stage, qtbot):
    page = stage.studio.data_page
    QTest.keyClick(stage.window, Qt.Key.Key_1, Qt.KeyboardModifier.ControlModifier)
    worker = stage.worker
    qtbot.waitUntil(page.cancel.isVisible)
    number = requests(worker)[-1].number
    stage.tell("data_waiting", number=number, message="Downloading train-images: 10 %")
    qtbot.waitUntil(lambda: "10 %" in page.waiting.accessibleName())
    qtbot.mouseClick(page.cancel, Qt.MouseButton.LeftButton)
    assert worker.killed
    assert "cancelled" in page.waiting.accessibleName()
    stage.studio.data.choose("mnist")
    other = stage.worker
    assert other is not worker
    number = requests(other)[-1].number
    stage.tell("data_failed", number=number, message="MNIST: the files were not found; put them into /x")
    qtbot.waitUntil(lambda: "put them into /x" in page.waiting.accessibleName())
    assert not page.cancel.isVisible()


def test_rows_of_numbers_are_a_table(stage, qtbot):
    page = stage.studio.data_page
    _, number = opened(stage, kind="csv", is_image=False, raw=[2], fed=[2], columns=["width", "height"])
    stage.tell(
        "data_samples",
        number=number,
        split="train",
        label=-1,
        page=1,
        of=30,
        labels=[1],
        places=["row 7"],
        broken=[False],
        values=[np.array([1.5, -2.0], np.float32)],
    )
    table = page.samples.table
    qtbot.waitUntil(lambda: table.isVisible() and table.rowCount() == 1)
    assert [table.item(0, column).text() for column in range(3)] == ["one", "1.5", "\u22122"]
    assert table.horizontalHeaderItem(2).text() == "height"
    form = stage.studio.data_panel.form
    assert form.control("label_name").isVisible()
    assert not form.control("rotate").isVisible()


def test_data_dropped_anywhere_opens_the_page(stage, qtbot, tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n1,0\n2,1\n")
    for path in (tmp_path, tmp_path / "t.csv"):
        stage.studio.frame.show_page("train")
        stage.window.files_dropped.emit([str(path)])
        assert stage.window.current_page() == "data"
        assert stage.session.train.settings.data == str(path)
        assert requests(stage.worker)[-1].config["data"] == str(path)


def test_the_shape_of_own_data_is_exported(stage, qtbot):
    stage.studio.frame.show_page("export")
    form = stage.studio.export_page.input_form
    export, line = stage.session.export, form.control("input_shape")
    export.choose_run("/runs/own", (3, 8, 8))
    assert line.placeholderText() == "None, 3, 8, 8"
    line.setText("none, 3, ?, 8")
    assert export.settings.input_shape == (-1, 3, -1, 8)
    line.setText("None, a")
    assert form.errors()["input_shape"] == "Enter sizes such as None, 1, 28, 28"
    assert export.settings.input_shape == (-1, 3, -1, 8)
    export.choose_run("/runs/of-an-earlier-version")
    assert line.placeholderText() == "as the run's data"
    export.choose_run("/runs/same", (3, 8, 8))
    assert export.settings.input_shape == (-1, 3, -1, 8)
    export.choose_run("/runs/other", (1, 28, 28))
    assert (export.settings.input_shape, line.text()) == (None, ""), "of other data"


def test_collected_images_are_offered_as_data(stage, qtbot):
    source = stage.studio.data_panel.source
    stage.session.collected.collect(np.zeros((28, 28), np.uint8), 3, "drawn")
    opened(stage)
    place = source.findText("Collected images")
    assert place == 3
    source.setCurrentIndex(place)
    source.activated.emit(place)
    assert stage.session.train.settings.data == str(stage.session.collected.folder)
    assert source.currentText() == "Collected images"
    stage.studio.data.choose("digits")
    assert source.currentText() == "Digits (built in)"
