"""The diagram in a thread: only while it can be seen, the newest request alone, and why there is none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from studio.session.graph import figures as figure
from studio.session.graph.coloring import Coloring
from studio.session.graph.diagram.texts import DiagramWords
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


class Later(FileThread):
    """A thread whose requests the test carries out, each where it wants."""

    def __init__(self) -> None:
        super().__init__("drawing", lambda: None)
        self.requests: list[tuple[Callable[[], Any], Callable[[Any], object]]] = []

    def do(self, work: Any, then: Any = None, key: str = "") -> None:
        self.requests.append((work, then))

    def carry_out(self, number: int, meanwhile: Callable[[], object] = lambda: None) -> None:
        work, then = self.requests[number]
        found = work()
        meanwhile()
        then(found)


def later() -> tuple[GraphViewModel, DiagramView, Later, list[Drawn]]:
    graph, thread = GraphViewModel(), Later()
    view, drawn = DiagramView(graph, Coloring(graph, thread), thread), []
    view.drawn.connect(drawn.append)
    graph.program = whole(PROGRAM)
    return graph, view, thread, drawn


def test_a_change_reaches_the_diagram_whichever_request_makes_it() -> None:
    _, view, thread, drawn = later()
    view.want(True)
    view.want(True)  # before the first one has made the diagram
    thread.carry_out(0)
    view.show_phases(["backward"])
    thread.carry_out(1)  # begins before it is replaced, and applies the change
    thread.carry_out(2)
    assert len(drawn) == 1
    assert set(drawn[0].scene.phases.tolist()) <= {0, 1}
    assert view.diagram is not None
    assert view.diagram.phases == frozenset({1})


def test_a_change_is_shown_though_its_layout_was_cancelled_by_colours() -> None:
    _, view, thread, drawn = later()
    view.want(True)
    thread.carry_out(0)
    view.show_phases(["backward"])
    view.draw(recolor=True)
    thread.carry_out(1)  # cancelled: there is a newer request
    thread.carry_out(2)
    assert len(drawn) == 2
    assert set(drawn[1].scene.phases.tolist()) <= {0, 1}


def test_nothing_is_drawn_after_the_program_is_gone() -> None:
    graph, view, thread, drawn = later()
    view.want(True)

    def gone() -> None:
        graph.program = {}
        view.draw()

    thread.carry_out(0, gone)
    assert (drawn, view.diagram, view.shown) == ([], None, None)


def test_other_words_keep_what_is_open_and_changes_that_wait() -> None:
    _, view, thread, drawn = later()
    view.want(True)
    thread.carry_out(0)
    view.show_phases(["backward"])
    view.use_words(DiagramWords(updates="更新"))
    thread.carry_out(2)
    assert view.diagram is not None
    assert view.diagram.phases == frozenset({1})
    assert [each.whole for each in drawn] == [True, False]


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
