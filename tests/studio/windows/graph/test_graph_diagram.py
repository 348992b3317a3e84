"""The page Graph through clicks: diagram, colours, search, the shared selection, files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QPushButton
from pytestqt.qtbot import QtBot

from engine.profiler.training import parts_of, profile
from engine.training.config import TrainingConfig
from engine.training.network.describe import program_event
from engine.training.network.training_step import step_event
from studio.session.graph import figures as figure
from studio.session.graph.measured_step import digest_of
from studio.session.selection import Selected
from studio.windows.graph.graph_page import DIAGRAM, TEXT, TREE
from tests.studio.conftest import bars  # noqa: F401  (the fixture)


@pytest.fixture(scope="module")
def answers(bars: Path) -> dict[str, Any]:  # noqa: F811
    """What the child processes report of LeNet."""
    config = TrainingConfig.from_dict({"data": str(bars), "model": "lenet", "batch_size": 4})
    stepper = parts_of(config, None, ()).stepper
    forward, step = program_event(stepper.network, config), step_event(stepper, config)
    found = profile(config, steps=1, look=True)
    assert found.layers is not None
    measured = {
        "seconds": found.seconds, "unrecorded": found.unrecorded, "batch_size": 4, "static": True,
        "device": "cpu", "threads": 1, "peak": 100.0, "source": digest_of(forward["source"]),
        "costs": [cost.plain() for cost in found.costs],
        "look": {"step": 0, "epoch": 0, "parameters": found.layers.parameters, "units": found.layers.units},
    }  # fmt: skip
    return {"forward": dict(forward), "step": dict(step), "measured": measured}


def tell(stage: Any, event: dict[str, Any]) -> None:
    stage.tell("program", **{name: value for name, value in event.items() if name not in ("event", "time")})
    stage.tell("worker_ended", clean=True, killed=False, exit_code=0, details="", message="")


@pytest.fixture
def page(stage: Any, answers: dict[str, Any]) -> Any:
    """The page with LeNet's Program as a diagram."""
    stage.window.resize(1280, 800)
    stage.studio.frame.show_page("graph")
    stage.studio.actions.trigger("show_graph")
    tell(stage, answers["forward"])
    page = stage.studio.graph_page
    QTest.mouseClick(page.tabs[DIAGRAM], Qt.MouseButton.LeftButton)
    settle(stage)
    return page


def settle(stage: Any) -> None:
    """Take what the thread has laid out."""
    assert stage.session.files.drawing.wait(20)


def node_named(stage: Any, title: str) -> int:
    scene = stage.session.graph_tools.diagram.shown.scene
    return int(scene.ids[list(scene.titles).index(title)])


def click_box(page: Any, node: int, toggle: bool = False) -> None:
    page.diagram.ensure_visible(node)
    rect = page.diagram.toggle_rect(node) if toggle else page.diagram.box_rect(node)
    at = rect.center().toPoint()
    QTest.mouseClick(page.diagram, Qt.MouseButton.LeftButton, pos=at)


def measure(stage: Any, answers: dict[str, Any]) -> None:
    assert stage.studio.actions.trigger("measure_step") == ""
    assert stage.worker.job_name == "measure_step"
    stage.tell("step_measured", **answers["measured"])
    stage.tell("worker_ended", clean=True, killed=False, exit_code=0, details="", message="")
    settle(stage)


def test_groups_are_calls_of_layers_and_open_in_place(stage: Any, page: Any) -> None:
    titles = list(stage.session.graph_tools.diagram.shown.scene.titles)
    assert {"conv1", "linear1"} <= set(titles)
    assert "Groups: calls of layers" in page._note.text()
    node = node_named(stage, "conv1")
    click_box(page, node, toggle=True)
    settle(stage)
    scene = stage.session.graph_tools.diagram.shown.scene
    assert len(scene.titles) > len(titles)
    assert bool(scene.opened[list(scene.ids).index(node)])
    click_box(page, node, toggle=True)
    settle(stage)
    assert list(stage.session.graph_tools.diagram.shown.scene.titles) == titles


def test_the_selection_is_that_of_tree_text_and_source(stage: Any, page: Any) -> None:
    graph = stage.session.graph
    click_box(page, node_named(stage, "max_pool1 · pool2d"))
    selected = graph.selected_operator()
    assert selected["type"] == "pool2d"
    assert page.tree.selected_operator() == graph.selected
    assert selected["line"] in page.source.marked_lines()
    line = next(op["line"] for op in graph.program["blocks"][0]["ops"] if op.get("layer") == "linear2")
    page.line_chosen.emit(line)
    assert page.diagram.selection() == [node_named(stage, "linear2")]  # the closed group around it
    page.tree.select_operator(0, 0)
    assert page.diagram.selection() == [node_named(stage, "conv1")]


def test_a_group_stays_selected_when_it_opens_and_closes(stage: Any, page: Any) -> None:
    click_box(page, node_named(stage, "relu"))
    group = node_named(stage, "linear1")
    click_box(page, group)
    count = len(page.diagram.scene().ids)
    for opened in (True, False):
        QTest.keyClick(page.diagram, Qt.Key.Key_Return)
        settle(stage)
        assert (len(page.diagram.scene().ids) > count) == opened
        assert page.diagram.selection() == [group]
    assert stage.session.graph.selected is not None


def test_arrow_keys_walk_along_edges(stage: Any, page: Any) -> None:
    click_box(page, node_named(stage, "max_pool1 · pool2d"))
    before = page.diagram.current()
    QTest.keyClick(page.diagram, Qt.Key.Key_Down)
    assert page.diagram.current() != before
    QTest.keyClick(page.diagram, Qt.Key.Key_Up)
    assert page.diagram.current() == before


def test_search_opens_the_groups_around_a_hit(stage: Any, page: Any) -> None:
    stage.studio.actions.trigger("find")
    assert stage.window.focusWidget() is page.search.field
    QTest.keyClicks(page.search.field, "matmul")
    QTest.keyClick(page.search.field, Qt.Key.Key_Return)
    settle(stage)
    assert page.search.count.text() == "1 of 3"
    assert stage.session.graph.selected_operator()["layer"] == "linear1"
    assert page.diagram.current() is not None
    QTest.keyClick(page.search.field, Qt.Key.Key_Return)
    settle(stage)
    assert page.search.count.text() == "2 of 3"
    assert stage.session.graph.selected_operator()["layer"] == "linear2"
    QTest.mouseClick(page.search.previous, Qt.MouseButton.LeftButton)
    settle(stage)
    assert page.search.count.text() == "1 of 3"


def test_the_text_is_searched_too(stage: Any, page: Any) -> None:
    QTest.mouseClick(page.tabs[TEXT], Qt.MouseButton.LeftButton)
    page.search.field.setText("conv2d")
    QTest.keyClick(page.search.field, Qt.Key.Key_Return)
    assert page.text.textCursor().selectedText() == "conv2d"


def test_a_line_of_the_text_selects_its_operator(stage: Any, page: Any) -> None:
    stage.session.graph.select(0, 5)
    QTest.mouseClick(page.tabs[TEXT], Qt.MouseButton.LeftButton)
    lines = page.text.toPlainText().split("\n")
    assert len(page.text.extraSelections()) == 1
    marked = lines[page.text.textCursor().blockNumber()]
    assert f"= {stage.session.graph.selected_operator()['type']}(" in marked
    line = next(n for n, text in enumerate(lines) if "= flatten_contiguous_range(" in text)
    cursor = page.text.textCursor()
    cursor.setPosition(page.text.document().findBlockByNumber(line).position())
    page.text.setTextCursor(cursor)
    assert stage.session.graph.selected_operator()["type"] == "flatten_contiguous_range"


def test_a_measured_step_colours_tree_and_diagram(stage: Any, page: Any, answers: dict[str, Any]) -> None:
    measure(stage, answers)
    drawn = stage.session.graph_tools.diagram.shown
    assert drawn.values[node_named(stage, "max_pool1 · pool2d")] > 0
    assert "A step takes" in page._note.text()
    assert page.bar.colors.currentText() == "Time"
    assert any(page.tree.value_text(0, place) for place in range(10))
    stage.session.graph.select(0, 2)
    labels = [label for label, _ in stage.studio.inspector.rows()]
    assert {"Time", "Calls", "Bytes moved"} <= set(labels)
    stage.session.graph.source += "\n# changed"
    stage.session.graph_tools.coloring.painted.emit()
    assert "measure again" in page._note.text()


def test_other_colours_need_no_measurement(stage: Any, page: Any, answers: dict[str, Any]) -> None:
    places = {page.bar.colors.itemText(place): place for place in range(page.bar.colors.count())}
    for title in ("Parameters", "dtype", "Memory of results"):
        page.bar.colors.setCurrentIndex(places[title])
        page.bar.colors.activated.emit(places[title])
        settle(stage)
        values = stage.session.graph_tools.diagram.shown.values
        assert values[node_named(stage, "conv1")] is not None, title
    assert page.tree.value_text(0, 0) == "1.2 MB" or page.tree.value_text(0, 0).endswith("B")
    measure(stage, answers)
    page.bar.colors.activated.emit(places["Gradient norm"])
    settle(stage)
    assert stage.session.graph_tools.diagram.shown.values[node_named(stage, "conv1")] > 0
    assert page.bar.looks.isVisible()


def test_a_whole_step_has_phases_to_hide(stage: Any, page: Any, answers: dict[str, Any]) -> None:
    QTest.mouseClick(page.bar.step, Qt.MouseButton.LeftButton)
    assert stage.worker.job_name == "trace_model"
    assert stage.worker.job.step
    tell(stage, answers["step"])
    settle(stage)
    assert page.bar.step.isChecked()
    assert all(chip.isVisible() for chip in page.bar.phases)
    view = stage.session.graph_tools.diagram
    assert set(view.shown.scene.phases.tolist()) == {0, 1, 2}
    for chip in page.bar.phases[1:]:
        QTest.mouseClick(chip, Qt.MouseButton.LeftButton)
        settle(stage)
    assert set(view.shown.scene.phases.tolist()) == {0}
    measure(stage, answers)
    assert stage.session.graph_tools.coloring.why_not(figure.BACKWARD_TIME) == ""
    updates = [place for key, place in _keys(stage) if key.phase == "update"]
    found = stage.session.graph_tools.coloring.figures()
    assert found.of(updates) > 0
    assert found.shared_at(updates[0])[1] == len(updates)


def _keys(stage: Any) -> list[Any]:
    from resources.operator_keys import numbered

    return [(key, (block, at)) for block, at, key, _ in numbered(stage.session.graph.program)]


def test_a_saved_model_has_neither_step_nor_measurement(
    stage: Any, page: Any, answers: dict[str, Any]
) -> None:
    stage.session.selection.select_model("model")
    stage.session.graph.show_saved("model", "model", answers["forward"]["program"], "text")
    settle(stage)
    assert stage.session.graph.subject == Selected("model", "model")
    assert not page.bar.step.isEnabled()
    assert "saved model" in stage.studio.actions.trigger("measure_step")


def test_a_saved_model_first_shown_enables_the_commands_of_its_diagram(
    stage: Any, answers: dict[str, Any]
) -> None:
    stage.studio.frame.show_page("graph")
    save = stage.studio.actions["save_diagram"]
    assert not save.isEnabled()
    stage.session.graph.show_saved("model", "model", answers["forward"]["program"], "text")
    assert save.isEnabled()


def test_kernel_and_gradient_rule_are_shown(stage: Any, page: Any) -> None:
    stage.session.graph.select(0, 0)
    kernel, *rules = stage.studio.inspector.code()
    assert "def convolution(" in kernel
    assert rules


@pytest.mark.parametrize("suffix", [".svg", ".png"])
@pytest.mark.parametrize("whole", [True, False], ids=["whole", "view"])
def test_the_diagram_is_saved(
    stage: Any,
    page: Any,
    qtbot: QtBot,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    suffix: str,
    whole: bool,
) -> None:
    path = tmp_path / f"diagram{suffix}"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))
    assert stage.studio.actions.trigger("save_diagram") == ""
    answer = stage.window.findChild(QPushButton, "yes" if whole else "instead")
    QTest.mouseClick(answer, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not page.diagram.is_making_png, timeout=20_000)
    assert stage.session.files.writing.wait(20)
    content = path.read_bytes()
    assert content.startswith(b"<?xml" if suffix == ".svg" else b"\x89PNG")
    if suffix == ".svg":
        assert (b"linear3" in content) == whole
        assert b"conv1" in content


def test_zoom_and_groups_are_commands(stage: Any, page: Any) -> None:
    actions, view = stage.studio.actions, stage.session.graph_tools.diagram
    before = page.diagram.view().zoom
    actions.trigger("zoom_in")
    assert page.diagram.view().zoom > before
    actions.trigger("fit_diagram")
    count = len(view.shown.scene.ids)
    actions.trigger("open_groups")
    settle(stage)
    assert len(view.shown.scene.ids) > count
    QTest.mouseClick(page.tabs[TREE], Qt.MouseButton.LeftButton)
    actions.trigger("close_groups")
    assert page.current_view() == DIAGRAM
    settle(stage)
    assert len(view.shown.scene.ids) == count


def test_an_alert_leads_to_its_layer(stage: Any, answers: dict[str, Any]) -> None:
    stage.start()
    worker = stage.worker
    message = "linear2.weight (lenet.py:32), step 3: the gradient vanishes"
    stage.tell(
        "layer_alert", step=3, epoch=1, layer="linear2.weight", kind="vanishing", value=0.0, message=message,
        file="lenet.py", line=32,
    )  # fmt: skip
    problems = stage.window.output.problems
    assert problems.problems()[0].text == message
    problems.activated.emit(problems.problems()[0])
    assert stage.window.current_page() == "graph"
    event = answers["forward"]
    worker.tell("program", **{key: value for key, value in event.items() if key not in ("event", "time")})
    stage.session.pump()
    settle(stage)
    assert stage.session.graph.selected_operator()["layer"] == "linear2"
    panel = stage.studio.train_page.curves.layers
    stage.session.graph.select(0, 0)
    panel.layer_asked.emit("linear3")
    assert stage.session.graph.selected_operator()["layer"] == "linear3"


def test_the_inspector_shows_what_a_selected_group_holds(
    stage: Any, page: Any, answers: dict[str, Any]
) -> None:
    click_box(page, node_named(stage, "linear1"))
    settle(stage)
    rows = dict(stage.studio.inspector.rows())
    assert (rows["Operators"], rows["matmul_v2"], rows["elementwise_add"]) == ("2", "1", "1")
    shapes = [
        each["shape"] for each in answers["forward"]["program"]["blocks"][0]["vars"] if each["parameter"]
    ]
    weight = next(shape for shape in shapes if len(shape) == 2 and shape[1] == 120)
    assert rows["Numbers in parameters"].replace("\u2009", "") == str(weight[0] * 120 + 120)
    assert "Time" not in rows
    measure(stage, answers)
    click_box(page, node_named(stage, "linear2"))
    settle(stage)
    assert "Time" in dict(stage.studio.inspector.rows())
