"""Pages with content in another language: what was put in, opened and chosen stays, and its words follow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from studio.windows.graph.graph_page import DIAGRAM
from studio.windows.predict.input_editors import UnsupportedInput
from tests.studio.conftest import bars  # noqa: F401  (the fixture)
from tests.studio.language.marked import OPEN, Language
from tests.studio.language.untranslated import cut_off, foreign
from tests.studio.language.untranslated import settle as in_place
from tests.studio.windows.conftest import Stage
from tests.studio.windows.debug.test_debug_page import FILE, Desk
from tests.studio.windows.graph.test_graph_diagram import (
    answers,  # noqa: F401  (the fixture)
    click_box,
    node_named,
    settle,
    tell,
)
from tests.studio.windows.predict.test_inputs import show
from tests.studio.windows.predict.test_raw_inputs import line, row_editor
from tests.studio.windows.predict.test_raw_inputs import show as show_table

SMALL = 1000, 650


@pytest.fixture
def switch(stage: Any) -> Iterator[Language]:
    yield Language()
    Language.english()


@pytest.fixture
def page(stage: Stage) -> Stage:
    import engine.training  # noqa: F401  (the window has it by then)

    stage.studio.frame.show_page("predict")
    return stage


def test_drawings_and_typed_rows_stay(page: Stage, qtbot: QtBot, switch: Language) -> None:
    shown, view = page.studio.predict_page, page.session.predict
    drawing = view.inputs[0]
    assert drawing.form == "digit"
    page.studio.predict.inputs.draw(_square())
    fed = view.fed[0]
    switch.marked()
    assert view.fed[0] is fed
    assert shown.facts.rows()
    assert not foreign(" ".join(map(" ".join, shown.facts.rows())), ("MNIST",))
    switch.english()
    assert ("From", "drawing") in shown.facts.rows()
    show_table(page)
    qtbot.keyClicks(line(page, "rooms"), "2")
    switch.marked()
    assert line(page, "rooms").text() == "2"
    assert view.fed[0].tolist() == [80.0, 0.0, 2.0]
    texts = row_editor(page).form.control("colour")
    assert [texts.itemText(n) for n in range(4)][1:] == ["blue", "green", "red"]  # type: ignore[attr-defined]
    assert OPEN in texts.itemText(0)  # type: ignore[attr-defined]


@pytest.mark.styled
def test_the_reason_of_an_unsupported_input_follows(page: Stage, switch: Language) -> None:
    page.window.resize(*SMALL)
    show(page, ("wave", [-1, 9], "complex64"))
    shown = page.studio.predict_page
    switch.marked()
    editor = shown.editors[0]
    assert isinstance(editor, UnsupportedInput)
    assert OPEN in editor.line.text()
    in_place()
    assert list(cut_off(page.window)) == []
    assert not foreign(shown.detail.text(), ("wave",))
    switch.english()
    assert editor.line.text().startswith("it takes complex64")


def test_boxes_and_facts_of_a_program_follow_and_stay_open(
    stage: Any,
    answers: dict[str, Any],  # noqa: F811
    switch: Language,
) -> None:
    stage.studio.frame.show_page("graph")
    stage.studio.actions.trigger("show_graph")
    tell(stage, answers["forward"])
    page, view = stage.studio.graph_page, stage.session.graph_tools.diagram
    page.show_view(DIAGRAM)
    settle(stage)
    node = node_named(stage, "conv1")
    view.toggle(node)
    settle(stage)
    group = node_named(stage, "linear1")
    click_box(page, group)
    scene = view.shown.scene
    inspector = stage.studio.inspector
    rows = inspector.rows()
    assert rows
    switch.marked()
    settle(stage)
    assert view.diagram.is_open(node)
    assert page.diagram.selection() == [group]
    assert view.words.tensors.startswith("{0}" + OPEN)
    assert view.shown.scene is not scene
    assert [foreign(name, ("matmul_v2", "elementwise_add")) for name, _ in inspector.rows()] == [[]] * len(
        rows
    )
    switch.english()
    settle(stage)
    assert list(view.shown.scene.titles) == list(scene.titles)
    assert inspector.rows() == rows


@pytest.mark.styled
def test_a_refused_breakpoint_says_why_in_the_language(stage: Any, qtbot: QtBot, switch: Language) -> None:
    from studio.session.debug.breakpoints import Breakpoint

    stage.window.resize(*SMALL)
    desk = Desk(stage, qtbot)
    desk.session.debugging.toggle_breakpoint(Breakpoint("line", file=FILE, line=90))
    desk.start()
    why = "debug: net.py:90: no operator comes from this line or a later one"
    desk.stop(0, "begin", breakpoints=[{"text": "", "line": 0, "hit": 0, "refused": why}])
    desk.panel.breakpoints.setCurrentRow(0)
    switch.marked()
    assert OPEN in desk.panel.breakpoints.item(0).toolTip()
    in_place()
    assert list(cut_off(stage.window)) == []
    switch.english()
    assert desk.panel.breakpoints.item(0).toolTip() == why


def _square() -> Any:
    import numpy as np

    image = np.zeros((28, 28), np.float32)
    image[8:20, 8:20] = 1.0
    return image
