"""What the page Graph learns of a run or a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from engine.quantization.report import QuantizationReport
from studio.session.graph import figures as figure
from studio.session.session import Session
from tests.studio.quantized import report
from tests.studio.session.graph.test_figures import operator, variable

PROGRAM: dict[str, Any] = {
    "inputs": ["x"],
    "outputs": ["b"],
    "blocks": [
        {
            "idx": 0,
            "parent": -1,
            "vars": [
                variable("x", [-1, 8]),
                variable("conv1.w_0", [8, 4], parameter=True),
                variable("a", [-1, 4]),
                variable("b", [-1, 4]),
            ],
            "ops": [
                operator("conv2d", "conv1", ["x", "conv1.w_0"], "a"),
                operator("relu", "relu", ["a"], "b"),
            ],
        }
    ],
}


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(runs_folder=tmp_path / "runs")


def test_the_report_that_is_shown_colours_its_program(session: Session) -> None:
    coloring = session.graph_tools.coloring
    session.graph.show_saved("p", "lenet", PROGRAM, "text")
    assert coloring.why_not(figure.QUANTIZATION)
    session.quantization.view.prefix = "p"
    session.quantization.view.report = TypeAdapter(QuantizationReport).validate_python(report())
    assert coloring.why_not(figure.QUANTIZATION) == ""
    coloring.choose(figure.QUANTIZATION)
    assert coloring.shown.values == {(0, 0): 0.0002}


def test_a_layer_that_was_asked_for_is_selected(session: Session) -> None:
    found: list[tuple[int, int]] = []
    session.graph_tools.layer_shown.connect(found.append)
    session.graph.show_saved("", "lenet", PROGRAM, "text")
    session.graph.subject = type(session.graph.subject)()
    session.graph_tools.show_layer("", "relu #2")
    assert session.graph.selected == (0, 1)
    session.graph_tools.show_layer("", "conv1.weight")
    assert session.graph.selected == (0, 0)
    session.graph_tools.show_layer("", "absent.weight")
    assert found == [(0, 1), (0, 0)]


def test_a_saved_model_is_not_measured(session: Session) -> None:
    session.graph.show_saved("p", "lenet", PROGRAM, "text")
    assert "does not train" in session.execute("measure_step")
    assert session.execute("stop_measuring_step") == "No step is being measured."
