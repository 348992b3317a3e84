"""Comparing numbers in the window: what is entered, the verdict, the tables, and the page Graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from resources.compared_numbers import ComparedRow, UnmatchedRow
from studio.controllers.compare.compare_numbers import CompareNumbersController
from studio.session import commands
from studio.session.compare.compare_job import CompareNumbers
from studio.session.project.code_agreement import CodeCheck
from studio.session.runs.runs_folder import Run
from tests.studio.windows.command_place import CommandPlace

CONV = ComparedRow(
    "forward", "conv2d", "features.0", "/x/net.py", 12, "a", (4, 3, 8, 8), "float32", 0.5, 0.25,
    False, True, True,
)  # fmt: skip
RELU = replace(
    CONV, type="relu", layer="features.1", absolute=0.0, relative=0.0, bitwise=True, diverges=False
)
BACK = replace(CONV, part="backward", absolute=2.0, relative=None, inputs_agree=False)
ROWS = [RELU, CONV, BACK]
ALONE = [
    UnmatchedRow("B", "dropout", "drop", "/x/net.py", 14, (4, 10)),
    UnmatchedRow("A", "add", "", "", 0, (), "fused"),
]
VERDICT = "`conv2d` of `features.0`, net.py:12: inputs equal, results differ by 0.3; the weights differ"


def run_at(path: str) -> Run:
    return Run(path, Path(path).name, "finished", {}, 0.0, 10, 10, 1, 0.5, f"{path}/step.h5", 10)


class Place(CommandPlace):
    """The dialog, opened by its command, over runs whose code needs no agreement."""

    def __init__(self, folder: Path, window: QWidget, chosen: list[str]) -> None:
        super().__init__(folder, window)
        session: Any = self.session
        session.runs = [run_at("/runs/one"), run_at("/runs/two")]
        session.preferences.recent_models = ["/models/small.h5"]
        session.check_agreement_of = lambda folder, then: then(CodeCheck(digest=f"digest of {folder}"))
        self.shown: list[str] = []
        self.actions.handle(commands.PAGE_GRAPH, lambda: self.shown.append("graph"))
        self.controller = CompareNumbersController(session, window, self.actions, lambda: chosen)
        assert self.actions.trigger("compare_numbers") == ""
        assert self.controller.dialog is not None
        self.dialog = self.controller.dialog

    def answer(self, **changes: Any) -> None:
        """Do what the worker would do."""
        values: dict[str, Any] = {
            "a": "one@10", "b": "two@10", "verdict": VERDICT, "equal": False, "notes": [], "rows": ROWS,
            "unmatched": ALONE, "total": 3, "first": 1, "first_unmatched": -1,
        }  # fmt: skip
        self.worker.tell("numbers_compared", **{**values, **changes})
        self.end()


@pytest.fixture
def window(qtbot: QtBot) -> QWidget:
    found = QWidget()
    qtbot.addWidget(found)
    return found


@pytest.fixture
def place(window: QWidget, tmp_path: Path) -> Iterator[Place]:
    found = Place(tmp_path / "runs", window, ["/runs/two", "/runs/one"])
    yield found
    found.dialog.close()
    found.controller.close()
    found.session.close()


def click(qtbot: QtBot, button: Any) -> None:
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def test_two_chosen_runs_are_compared_with_their_agreements(place: Place, qtbot: QtBot) -> None:
    dialog = place.dialog
    assert (dialog.chosen_pair(), dialog.chosen()) == ("two", ("/runs/one", "/runs/two"))
    dialog.batch.setValue(2)
    dialog.steps[1].setValue(7)
    click(qtbot, dialog.compare)
    assert place.worker.job == CompareNumbers(
        "/runs/one", "/runs/two", "two", -1, 7, 2, 0.0, "gpu",
        "digest of /runs/one", "digest of /runs/two",
    )  # fmt: skip
    assert (dialog.text(), dialog.stop.text(), dialog.compare.isEnabled()) == ("Comparing…", "Cancel", False)
    place.tell("compare_progress", message="Computing both sides...")
    assert dialog.text() == "Computing both sides..."
    place.answer()
    assert dialog.text() == VERDICT
    assert dialog.tabs.tabText(0) == "Operators (3)"
    assert dialog.tabs.tabText(1) == "Without counterpart (2)"
    rows = dialog.rows
    assert rows.row_keys() == ["0", "1", "2"]
    assert rows.chosen() == ["1"], "the first that diverges"
    assert [rows.text("1", c) for c in rows.columns()] == [
        "Forward", "conv2d", "features.0", "net.py:12", "4×3×8×8", "float32", "0.5", "0.25",
    ]  # fmt: skip
    assert rows.text("2", "relative") == "∞"
    assert dialog.alone.text("1", "type") == "add, within fused"
    click(qtbot, dialog.copy)
    copied = QApplication.clipboard().text()
    assert copied.startswith(f"{VERDICT}\nA: one@10, B: two@10\n\npart\toperator\t")
    assert copied.endswith("B\tdropout\tdrop\tnet.py:14\t4×10\nA\tadd (within fused)\t\t\t")
    dialog.steps[1].setValue(8)
    assert (dialog.text(), dialog.tabs.isVisible()) == ("", False), "the result of another comparison"


def test_rows_are_sorted_and_filtered(place: Place, qtbot: QtBot) -> None:
    click(qtbot, place.dialog.compare)
    place.answer()
    dialog = place.dialog
    dialog.rows.sort_requested.emit("relative", False)
    assert dialog.rows.row_keys() == ["2", "1", "0"]
    dialog.rows.sort_requested.emit("relative", False)
    assert dialog.rows.row_keys() == ["0", "1", "2"]
    dialog.rows.sort_requested.emit("relative", False)
    dialog.only.setChecked(True)
    assert dialog.rows.row_keys() == ["1", "2"]
    qtbot.keyClicks(dialog.filter, "back CONV")
    assert dialog.rows.row_keys() == ["2"]
    assert dialog._count.text() == "1 of 3"


def program() -> dict[str, Any]:
    def op(kind: str, layer: str) -> dict[str, Any]:
        return {
            "type": kind, "layer": layer, "inputs": {}, "outputs": {}, "attrs": {}, "regions": [],
            "file": "/x/net.py", "line": 12,
        }  # fmt: skip

    ops = [op("conv2d", "features.0"), op("relu", "features.1"), op("relu", "")]
    return {"blocks": [{"idx": 0, "parent": -1, "vars": [], "ops": ops}]}


def test_a_row_selects_its_operator_on_the_page_graph(place: Place, qtbot: QtBot) -> None:
    click(qtbot, place.dialog.compare)
    place.answer()
    graph = place.session.graph
    place.dialog.rows.chosen_changed.emit(["0"])
    assert place.session.selection.item.path == "/runs/one"
    assert graph.selected is None, "its Program has not come yet"
    graph.program = program()
    assert graph.selected == (0, 1)
    place.dialog.rows.chosen_changed.emit(["1"])
    assert graph.selected == (0, 0)
    place.dialog.rows.opened.emit("1")
    assert place.shown == ["graph"]
    place.dialog.alone.chosen_changed.emit(["0"])
    assert place.session.selection.item.path == "/runs/two"


def test_differences_colour_the_page_graph(place: Place, qtbot: QtBot) -> None:
    click(qtbot, place.dialog.compare)
    place.answer()
    click(qtbot, place.dialog.colors)
    assert place.shown == ["graph"]
    coloring = place.session.graph_tools.coloring
    assert coloring.subject != "difference", "its Program has not come yet"
    place.session.graph.program = program()
    assert coloring.subject == "difference"
    figures = coloring.figures()
    assert figures is not None
    assert [figures.of([(0, n)]) for n in range(3)] == [0.25, 0.0, None]


@pytest.mark.parametrize(
    ("pair", "paths", "reason"),
    [
        ("two", ("/runs/one", "/models/small.h5"), "Choose two runs or two models"),
        ("eager-static", ("/models/small.h5",), "A saved model has no code"),
    ],
)
def test_two_of_different_kinds_are_refused_with_the_reason(
    place: Place, pair: str, paths: tuple[str, ...], reason: str
) -> None:
    place.dialog.choose(pair, paths)
    assert place.dialog.text().startswith(reason)
    assert not place.dialog.compare.isEnabled()
    assert place.dialog.compare.toolTip() == place.dialog.text()


def test_a_tolerance_must_be_a_number(place: Place, qtbot: QtBot) -> None:
    qtbot.keyClicks(place.dialog.tolerance, "a lot")
    assert place.dialog.text() == "Tolerance must be a number of at least 0, such as 1e-3: got 'a lot'."
    place.dialog.tolerance.setText("1e-3")
    assert place.dialog.text() == ""
    click(qtbot, place.dialog.compare)
    assert place.worker.job.tolerance == 1e-3


def test_a_failure_and_a_cancelled_comparison_are_said(place: Place, qtbot: QtBot) -> None:
    click(qtbot, place.dialog.compare)
    place.tell(
        "failed", step=0, error="ArgumentError", message="compare: the inputs differ", file="", line=0,
        where="compare", what="the inputs differ", do="", traceback="", checkpoint="",
    )  # fmt: skip
    place.end()
    assert place.dialog.text() == "compare: the inputs differ"
    click(qtbot, place.dialog.compare)
    click(qtbot, place.dialog.stop)
    place.tell("worker_ended", clean=False, killed=True, exit_code=-9, message="", details="")
    assert place.dialog.text() == "Cancelled."


def test_the_pair_follows_what_is_selected(window: QWidget, tmp_path: Path) -> None:
    place = Place(tmp_path / "runs", window, [])
    place.session.selection.select_run("/runs/two")
    place.controller.open()
    assert (place.dialog.chosen_pair(), place.dialog.chosen()) == ("eager-static", ("/runs/two", ""))
    assert not place.dialog.subjects[1].isVisibleTo(place.dialog)
    place.session.selection.select_model("/models/small.h5")
    place.controller.open()
    assert (place.dialog.chosen_pair(), place.dialog.chosen()) == ("passes", ("/models/small.h5", ""))
    place.dialog.close()
    place.controller.close()
    place.session.close()
