"""What can be coloured by, and when a measurement is stale."""

from __future__ import annotations

from typing import Any

from resources.operator_keys import FORWARD, OperatorKey
from studio.session.graph import figures as figure
from studio.session.graph.coloring import NO_LOOK, NOT_MEASURED, Coloring
from studio.session.graph.graph_view import GraphViewModel
from studio.session.graph.measured_step import MeasuredStep, OperatorCost, digest_of
from studio.session.selection import NOTHING, Selected
from studio.session.work.file_thread import FileThread
from tests.studio.session.graph.test_figures import ACT, CAST, FC, PROGRAM


def shown() -> tuple[GraphViewModel, Coloring, list[int]]:
    graph = GraphViewModel()
    graph.program, graph.source = PROGRAM, "text"
    coloring, changes = Coloring(graph, FileThread("drawing", lambda: None)), []
    coloring.changed.connect(lambda: changes.append(1))
    return graph, coloring, changes


def step(source: str = "text") -> MeasuredStep:
    parts = (OperatorKey(FORWARD, "fc", "matmul_v2", 0),)
    costs = OperatorCost(FORWARD, "fc", "k", parts, parts, 1, 0, 1, 2.0, 1, None)
    return MeasuredStep((costs,), 1.0, 1.0, 4, True, "cpu", 1, 10.0, digest_of(source), None)


def look(at: int, norm: float) -> dict[str, Any]:
    spread = {"low": 0.0, "high": 1.0, "counts": [1], "bad": 0}
    state = {"name": "fc.weight", "size": 32, "matrix": True, "norm": 1.0, "ratio": 0.1}
    state |= {"gradient_norm": norm, "weights": spread, "gradients": spread}
    return {
        "event": "layers", "step": at, "epoch": 1, "units": [],
        "parameters": [state],
    }  # fmt: skip


def test_a_measurement_colours_by_time_and_says_when_the_source_is_another_one() -> None:
    graph, coloring, changes = shown()
    assert coloring.why_not(figure.TIME) == NOT_MEASURED
    assert coloring.figures() is None
    coloring.show_step(step(), NOTHING)
    assert (coloring.subject, coloring.why_not(figure.TIME), coloring.is_stale) == (figure.TIME, "", False)
    found = coloring.figures()
    assert found is not None
    assert found.by_operator() == {(0, 0): 2.0}
    assert [each.seconds for each in coloring.costs_at(FC)] == [2.0]
    graph.source = "other"
    assert coloring.is_stale
    coloring.choose(figure.DTYPE)
    assert not coloring.is_stale
    assert len(changes) == 2


def test_a_step_of_another_subject_is_not_shown() -> None:
    graph, coloring, _ = shown()
    coloring.show_step(step(), Selected("run", "a"))
    assert coloring.measured_step is None
    graph.subject = Selected("run", "a")
    assert coloring.measured_step is not None
    graph.subject = Selected("run", "b")
    coloring.forget()
    assert coloring.step is None


def test_looks_can_be_gone_through() -> None:
    _, coloring, _ = shown()
    assert coloring.why_not(figure.GRADIENT) == NO_LOOK
    coloring.show_looks([look(5, 1.0), look(10, 2.0)])
    coloring.choose(figure.GRADIENT)
    values = []
    for place in (0, 1):
        coloring.choose_look(place)
        found = coloring.figures()
        assert found is not None
        values.append(found.of([FC]))
    assert values == [1.0, 2.0]
    coloring.take_look(look(15, 3.0))  # the newest look was shown, and is followed
    assert coloring.look == 2
    coloring.choose_look(0)
    coloring.take_look(look(20, 4.0))
    assert coloring.look == 0


def test_differences_are_handed_over_by_key() -> None:
    _, coloring, _ = shown()
    absent = OperatorKey(FORWARD, "z", "y", 0)
    coloring.show_differences({OperatorKey(FORWARD, "act", "relu", 0): 0.25, absent: 1.0})
    found = coloring.figures()
    assert found is not None
    assert (coloring.subject, found.by_operator(), found.of([ACT, CAST])) == ("difference", {ACT: 0.25}, 0.25)
    coloring.show_differences({})
    assert coloring.subject == ""


def test_quantized_layers_have_their_noise() -> None:
    _, coloring, _ = shown()
    coloring.show_quantization({FC: 0.002})
    coloring.choose(figure.QUANTIZATION)
    found = coloring.figures()
    assert found is not None
    assert (found.by_operator(), found.unit, found.of([FC, ACT])) == ({FC: 0.002}, "share", 0.002)
