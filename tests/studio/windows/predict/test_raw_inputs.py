"""Predict for models of tables and sequences: a form with named fields, rows, files, numbers with units."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QComboBox, QFileDialog, QInputDialog, QLineEdit, QTableWidget
from pytestqt.qtbot import QtBot

from studio.session.predict.model_choice import ModelChoice
from studio.session.predict.model_info import ModelInfo
from studio.windows.graph.activations_panel import ActivationsPanel
from studio.windows.predict.input_editors import NumbersInput
from studio.windows.predict.row_editor import RowInput
from tests.raw_models import PRICES, WAVES, saved_model
from tests.studio.held_thread import HeldThread
from tests.studio.windows.conftest import Stage
from tests.studio.windows.dropping import drop_on

WAIT = 60_000
LEFT = Qt.MouseButton.LeftButton
ARROW, BUSY = Qt.CursorShape.ArrowCursor, Qt.CursorShape.BusyCursor


@pytest.fixture(scope="module")
def prices(tmp_path_factory: pytest.TempPathFactory) -> str:
    return saved_model("prices", tmp_path_factory.mktemp("prices"))


@pytest.fixture
def page(stage: Stage) -> Stage:
    import engine.training  # noqa: F401  (the window has it by then)

    stage.studio.frame.show_page("predict")
    return stage


def show(page: Stage, spec: object = PRICES) -> None:
    """Let a model of this data be there, without a process."""
    from engine.training.exporting.raw_inputs import RawInputs

    raw = RawInputs.of({"data_spec": spec.as_plain()})  # type: ignore[attr-defined]
    assert raw is not None
    inputs = ({"name": "x", "shape": [-1, *raw.spec.shape], "dtype": "float32"},)
    info = ModelInfo(ModelChoice("m"), "m", "m", inputs, raw.spec.classes, {}, {}, "", {}, raw=raw)
    page.session.predict.loaded(info)


def row_editor(page: Stage) -> RowInput:
    editor = page.studio.predict_page.editors[0]
    assert isinstance(editor, RowInput)
    return editor


def line(page: Stage, column: str) -> QLineEdit:
    control = row_editor(page).form.control(column)
    assert isinstance(control, QLineEdit)
    return control


def fed(page: Stage) -> list[float]:
    return page.session.predict.fed[0].tolist()


def test_a_row_is_typed_and_the_number_has_its_unit(page: Stage, qtbot: QtBot, prices: str) -> None:
    view, shown = page.session.predict, page.studio.predict_page
    page.studio.predict.load(prices)
    qtbot.waitUntil(lambda: view.numbers != (), timeout=WAIT)
    form = row_editor(page).form
    assert [form.label(column.name) for column in PRICES.inputs] == ["size", "colour", "rooms"]
    assert line(page, "size (m2)").placeholderText() == "80"
    assert ("Missing", "size (m2): 80, colour, rooms: 3") in shown.facts.rows()
    assert ("Target", "price [EUR]") in page.studio.model_panel.facts.rows()
    assert "Scaling" not in dict(page.studio.model_panel.facts.rows())
    assert page.studio.model_panel.many.folder_button.isHidden()
    qtbot.keyClicks(line(page, "size (m2)"), "75.5")
    qtbot.keyClicks(line(page, "rooms"), "2")
    box = form.control("colour")
    assert isinstance(box, QComboBox)
    assert [box.itemText(n) for n in range(box.count())] == ["not known", "blue", "green", "red"]
    qtbot.keyClicks(box, "r")
    assert fed(page) == [75.5, 3.0, 2.0]
    assert shown.row.rows() == [("size (m2)", "75.5"), ("colour", "red \u00b7 3"), ("rooms", "2")]
    assert shown.row.isVisible()
    qtbot.waitUntil(lambda: shown.row.height() == shown.row.sizeHint().height())
    qtbot.waitUntil(lambda: view.numbers == (("price", 75523.0, "EUR"),), timeout=WAIT)
    assert shown.answer.text() == "75\u2009523\u2009EUR"
    assert shown.detail.text().startswith("price \u00b7 ")
    assert shown.bars.isHidden()
    assert "Missing" not in dict(shown.facts.rows())


def test_a_wrong_text_takes_the_answer_away_until_it_is_corrected(page: Stage, qtbot: QtBot) -> None:
    show(page)
    qtbot.keyClicks(line(page, "rooms"), "2x")
    assert page.session.predict.fed == (None,)
    assert page.studio.predict_page.row.rows() == []
    assert row_editor(page).form.errors() == {"rooms": "Enter a number"}
    qtbot.keyClick(line(page, "rooms"), Qt.Key.Key_Backspace)
    assert fed(page) == [80.0, 0.0, 2.0]
    qtbot.mouseClick(row_editor(page).clear_button, LEFT)
    assert fed(page) == [80.0, 0.0, 3.0]
    assert line(page, "rooms").text() == ""


def test_a_row_is_pasted_with_its_header_or_without(page: Stage, qtbot: QtBot) -> None:
    show(page)
    editor = row_editor(page)
    for text, wanted in (
        ("rooms\tcolour\tsize (m2)\n2\tred\t75\n", [75.0, 3.0, 2.0]),
        ("60,5;green;1", [60.5, 2.0, 1.0]),
        ("size (m2),colour,rooms\n,pink,1\n", [80.0, 0.0, 1.0]),
    ):
        QGuiApplication.clipboard().setText(text)
        qtbot.mouseClick(editor.paste_button, LEFT)
        assert editor.problem.text() == ""
        assert fed(page) == wanted
    assert ("Unknown words", "colour") in page.studio.predict_page.facts.rows()
    assert (line(page, "size (m2)").text(), line(page, "rooms").text()) == ("", "1")
    QGuiApplication.clipboard().setText("rooms,colour\n1,red\n")
    qtbot.mouseClick(editor.paste_button, LEFT)
    assert "no column 'size (m2)'" in editor.problem.text()
    assert fed(page) == [80.0, 0.0, 1.0]


def test_a_chosen_row_of_a_file_is_loaded(
    page: Stage, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    show(page)
    path = tmp_path / "rows.csv"
    path.write_text("colour,rooms,size (m2)\nred,2,75\ngreen,4,90\n")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *words: (str(path), ""))
    asked = []
    monkeypatch.setattr(QInputDialog, "getInt", lambda *words: asked.append(words[2]) or (1, True))
    qtbot.mouseClick(row_editor(page).file_button, LEFT)
    assert asked == ["Row of rows.csv, from 0 to 1"]
    assert fed(page) == [90.0, 2.0, 4.0]
    assert line(page, "size (m2)").text() == "90"


def test_a_file_that_is_read_slowly_is_fed_unless_the_input_got_something_else(
    page: Stage, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    show(page)
    path, damaged = tmp_path / "rows.csv", tmp_path / "damaged.csv"
    path.write_text("colour,rooms,size (m2)\nred,2,75\n")
    damaged.write_text("colour\nred\n")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *words: (str(path), ""))
    all_rows: list[str] = []
    page.studio.predict.inputs.raw._predict_all = all_rows.append
    for typed in (False, True):
        held = HeldThread(page.session.files.reading)
        qtbot.mouseClick(row_editor(page).file_button, LEFT)
        assert (fed(page), page.studio.predict_page.cursor().shape()) == ([80, 0, 3], BUSY)
        if typed:
            qtbot.keyClicks(line(page, "rooms"), "9")
        held.finish()
        assert (fed(page), page.studio.predict_page.cursor().shape()) == (
            [80, 0, 9] if typed else [75, 3, 2],
            ARROW,
        )
        qtbot.mouseClick(row_editor(page).clear_button, LEFT)
    held = HeldThread(page.session.files.reading)
    drop_on(page.studio.predict_page, str(damaged))
    drop_on(page.studio.predict_page, str(path))
    held.finish()
    assert (fed(page), row_editor(page).problem.text(), all_rows) == ([75, 3, 2], "", [])
    held = HeldThread(page.session.files.reading)
    drop_on(page.studio.predict_page, str(damaged))
    show(page, WAVES)  # another model
    held.finish()
    editor = page.studio.predict_page.editors[0]
    assert isinstance(editor, NumbersInput)
    assert editor.problem.text() == ""


def texts(table: QTableWidget) -> list[list[str]]:
    """The titles and the rows of a table."""
    columns, rows = range(table.columnCount()), range(table.rowCount())
    titles = [table.horizontalHeaderItem(column).text() for column in columns]
    return [titles, *([table.item(row, column).text() for column in columns] for row in rows)]


def test_all_rows_of_a_dropped_file_are_predicted(
    page: Stage, qtbot: QtBot, prices: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page.studio.predict.load(prices)
    qtbot.waitUntil(lambda: page.session.predict.model is not None, timeout=WAIT)
    path, out = tmp_path / "rows.csv", tmp_path / "out.csv"
    path.write_text("colour,rooms,size (m2)\nred,2,75\npink,4,90\n")
    proposed = []
    monkeypatch.setattr(
        QFileDialog, "getSaveFileName", lambda *words: proposed.append(words[2]) or (str(out), "")
    )
    drop_on(page.studio.predict_page, path)
    assert proposed == [str(tmp_path / "rows-predictions.csv")]
    many = page.session.predict_models.many
    qtbot.waitUntil(lambda: many.view.progress.state == "done", timeout=WAIT)
    assert out.read_text().splitlines() == ["name,price [EUR],problem", "0,75023,", "1,90040,"]
    assert "Unknown words: 1" in page.studio.model_panel.many.words.text()
    results = page.studio.predict_page.results
    assert results.isVisible()
    assert not page.studio.predict_page.editors[0].isVisible()
    assert texts(results.table) == [
        ["Sample", "price [EUR]"],
        ["0", "75\u2009023"],
        ["1", "90\u2009040"],
    ]
    path.write_text("colour,rooms,size (m2),price [EUR]\nred,2,75,75000\nblue,4,90,\nred,2,80,80123\n")
    drop_on(page.studio.predict_page, path)
    qtbot.waitUntil(lambda: results.table.columnCount() == 4, timeout=WAIT)
    assert "price: MAE 61.50\u2009EUR over 2 samples." in results.summary.text()
    results.table.sortByColumn(3, Qt.SortOrder.AscendingOrder)
    assert texts(results.table) == [
        ["Sample", "price [EUR]", "True", "Error"],
        ["2", "80\u2009023", "80\u2009123", "\u2212100"],
        ["0", "75\u2009023", "75\u2009000", "23"],
        ["1", "90\u2009041", "", ""],
    ]
    qtbot.mouseClick(results.close_button, LEFT)
    assert row_editor(page).isVisible()
    path.write_text("colour,rooms,size (m2)\nred,1,50\n")
    drop_on(page.studio.predict_page, path)  # a single row goes into the form
    assert fed(page) == [50.0, 3.0, 1.0]
    (tmp_path / "project").mkdir()
    drop_on(page.studio.predict_page, tmp_path / "project")  # the window's
    assert row_editor(page).problem.text() == ""


def test_sequences_are_pasted_dropped_and_edited(page: Stage, qtbot: QtBot, tmp_path: Path) -> None:
    show(page, WAVES)
    editor = page.studio.predict_page.editors[0]
    assert isinstance(editor, NumbersInput)
    assert editor.table.values().shape == (4, 2)
    QGuiApplication.clipboard().setText("1\t2\n3\t4")
    qtbot.mouseClick(editor.paste_button, LEFT)
    assert editor.table.values().tolist() == [[1, 2], [3, 4]]
    padding = [[0, 0, 0], [0, 0, 0]]
    assert fed(page) == [[1, 2, 1], [3, 4, 1], *padding]
    index = editor.table.model().index(1, 0)
    editor.table.model().setData(index, "7", Qt.ItemDataRole.EditRole)
    assert fed(page) == [[1, 2, 1], [7, 4, 1], *padding]
    plot = page.studio.predict_page.sequence.plot
    assert plot is not None
    qtbot.waitUntil(plot.isVisible)
    assert [plot.series_data(key)[1].tolist() for key in plot.series_keys()] == [[1, 7], [2, 4]]
    np.save(tmp_path / "one.npy", np.array([[5.0, 6.0]]))
    drop_on(page.studio.predict_page, tmp_path / "one.npy")
    assert editor.table.values().tolist() == [[5, 6]]
    (tmp_path / "one.csv").write_text("8,9\n6,7\n")
    drop_on(page.studio.predict_page, tmp_path / "one.csv")
    assert editor.table.values().tolist() == [[8, 9], [6, 7]]
    np.save(tmp_path / "one.npy", np.zeros((9, 2)))
    drop_on(page.studio.predict_page, tmp_path / "one.npy")
    assert "a sequence of 9 steps: the model takes at most 4" in editor.problem.text()
    assert fed(page) == [[8, 9, 1], [6, 7, 1], *padding]


def test_a_test_sample_of_the_data_fills_the_form(page: Stage) -> None:
    show(page)
    inputs = page.studio.predict.inputs
    assert inputs.give_sample([np.array([60.8, 2.0, np.nan], np.float32)], lambda: "test sample") == ""
    assert line(page, "size (m2)").text() == "60.8"
    assert row_editor(page).form.value("colour") == "green"
    assert fed(page) == [pytest.approx(60.8), 2.0, 3.0]
    assert "does not accept" in inputs.give_sample([np.zeros(5, np.float32)], str)


def test_the_author_and_license_of_a_model_are_shown(page: Stage) -> None:
    about = {"author": "A. Author", "license": "MIT", "description": "x" * 999}
    page.session.predict.loaded(ModelInfo(ModelChoice("m.h5"), "m.h5", "m.h5", (), (), {}, {}, "", about))
    rows = dict(page.studio.model_panel.facts.rows())
    assert (rows["Author"], rows["License"], len(rows["Description"])) == ("A. Author", "MIT", 200)
    assert "Title" not in rows


def test_activations_lead_to_the_form_of_a_row(page: Stage, qtbot: QtBot) -> None:
    show(page)
    studio = page.studio
    studio.frame.show_page("graph")
    studio.graph_page.bar.activations_toggled.emit(True)
    panel = studio.inspector.layout().itemAt(0).widget()
    assert isinstance(panel, ActivationsPanel)
    assert not panel.pad.isVisible()
    page.session.explaining.activations.view.stopped = "input"
    assert panel.note.text() == "Enter the values on the page Predict, or choose a test sample."
    panel.edit_button.click()
    assert studio.window.current_page() == "predict"
    qtbot.waitUntil(lambda: page.window.focusWidget() is line(page, "size (m2)"))
