"""The diagram in a thread: only while it can be seen, the newest request alone, and why there is none."""

from __future__ import annotations

from typing import Any

from studio.session.graph import figures as figure
from studio.session.graph.coloring import Coloring
from studio.session.graph.diagram_view import DiagramView, Drawn
from studio.session.graph.graph_view import GraphViewModel
from studio.session.selection import NOTHING
from studio.session.work.file_thread import FileThread
from tests.studio.session.graph.test_figures import ACT, FC, PROGRAM, cost, step


def views(threaded: bool = False) -> tuple[GraphViewModel, Coloring, DiagramView, list[Drawn]]:
    graph = GraphViewModel()
    thread = FileThread("drawing", lambda: None)
    coloring = Coloring(graph, thread)
    if threaded:
        thread.begin()
    view, drawn = DiagramView(graph, coloring, thread), []
    view.drawn.connect(drawn.append)
    return graph, coloring, view, drawn


def whole(program: dict[str, Any]) -> dict[str, Any]:
    return {**program, "inputs": ["x"], "outputs": ["d"]}


def test_nothing_is_laid_out_that_is_not_seen() -> None:
    graph, _, view, drawn = views()
    graph.program = whole(PROGRAM)
    view.draw()
    assert (drawn, view.diagram) == ([], None)
    view.want(True)
    assert len(drawn) == 1
    assert drawn[0].whole
    node = view.node_of(FC)
    assert node is not None
    assert view.place_of(node) == FC
    view.want(False)
    graph.program = {}
    view.want(True)
    assert view.diagram is None


def test_a_fused_kernel_is_marked_and_its_time_stays_outside_of_single_boxes() -> None:
    graph, coloring, view, drawn = views()
    graph.program = whole(PROGRAM)
    parts = (("forward", "fc", "matmul_v2"), ("forward", "act", "relu"))
    coloring.show_step(step(cost(3.0, *parts)), NOTHING)
    view.want(True)
    nodes = [view.node_of(place) for place in (FC, ACT)]
    shown = drawn[-1]
    assert [shown.values[node] for node in nodes if node in shown.values] == [None, None]
    assert {shown.fused[node] for node in nodes if node is not None} == {2}
    assert shown.apart == 3.0
    coloring.choose(figure.DTYPE)
    view.draw(recolor=True)
    assert drawn[-1].scene is shown.scene
    assert drawn[-1].figures is not None
    assert drawn[-1].figures.subject == figure.DTYPE


def test_only_the_newest_request_is_shown() -> None:
    graph, _, view, drawn = views(threaded=True)
    graph.program = whole(PROGRAM)
    for _ in range(5):
        view.want(True)
    for phases in (["forward", "backward"], ["forward"], ["backward"]):
        view.show_phases(phases)
    assert view._thread.wait(20)
    assert set(drawn[-1].scene.phases.tolist()) <= {0, 1}
    assert view.diagram is not None
    assert view.diagram.phases == frozenset({1})
    assert len(drawn) <= 2
    view._thread.end()


def test_a_new_program_is_shown_from_its_beginning_also_after_a_cancelled_layout() -> None:
    graph, _, view, drawn = views(threaded=True)
    for program in (PROGRAM, PROGRAM):
        graph.program = whole(program)
        for _ in range(3):
            view.want(True)
        assert view._thread.wait(20)
        assert drawn[-1].whole
        assert not any(each.whole for each in drawn[:-1])
        view.show_phases(["forward"])
        assert view._thread.wait(20)
        assert not drawn[-1].whole
        drawn.clear()
    view._thread.end()


def test_a_damaged_program_says_why() -> None:
    graph, _, view, drawn = views()
    reasons: list[str] = []
    view.failed.connect(reasons.append)
    graph.program = {"blocks": [{"idx": 0, "parent": -1, "vars": [], "ops": [{"type": "relu"}]}]}
    view.want(True)
    assert drawn == []
    assert "is not as Model Studio writes it" in reasons[0] == view.problem


def test_find_gives_nodes() -> None:
    graph, _, view, _ = views()
    found: list[list[int]] = []
    view.found.connect(found.append)
    view.find("relu")
    graph.program = whole(PROGRAM)
    view.want(True)
    view.find("  ")
    view.find("relu")
    assert found[:2] == [[], []]
    assert view.node_of(ACT) in found[2]


def test_boxes_keep_room_for_pictures_in_another_program() -> None:
    graph, _, view, drawn = views()
    view.give_room(True)
    for _ in range(2):
        graph.program = whole(PROGRAM)
        view.want(True)
        assert drawn[-1].scene.boxes[:, 3].max() == 104
    view.give_room(False)
    assert drawn[-1].scene.boxes[:, 3].max() < 104
