"""Numbers of operators and groups: what is summed up, and what is not divided."""

from __future__ import annotations

from typing import Any

import pytest

from resources.operator_keys import BACKWARD, FORWARD, UPDATE, OperatorKey
from studio.session.graph import figures as figure
from studio.session.graph.figures import FigureMaker, Figures, Source, bits_of, layer_name
from studio.session.graph.measured_step import MeasuredStep, OperatorCost
from studio.session.train.layers_view import LayerRow, LayerSnapshot


def operator(kind: str, layer: str, inputs: list[str], output: str, role: int = 0) -> dict[str, Any]:
    notes = {"attrs": {"op_role": role}} if role else {}
    return {
        "type": kind, "layer": layer, "inputs": {"X": inputs}, "outputs": {"Out": [output]},
        "attrs": {}, "regions": [], "notes": notes, "file": None, "line": None,
    }  # fmt: skip


def variable(name: str, shape: list[int], dtype: str = "float32", parameter: bool = False) -> dict[str, Any]:
    return {
        "name": name, "shape": shape, "dtype": dtype, "parameter": parameter, "persistable": parameter,
        "stop_gradient": False,
    }  # fmt: skip


PROGRAM = {
    "blocks": [
        {
            "idx": 0,
            "parent": -1,
            "vars": [
                variable("x", [-1, 8]),
                variable("w", [8, 4], parameter=True),
                variable("a", [-1, 4]),
                variable("b", [-1, 4]),
                variable("c", [-1, 4], "float16"),
                variable("d", [-1, -1]),
            ],
            "ops": [
                operator("matmul_v2", "fc", ["x", "w"], "a"),
                operator("relu", "act", ["a"], "b"),
                operator("cast", "act#2", ["b", "w"], "c"),
                operator("reshape2", "", ["c"], "d"),
                operator("relu_grad", "act", ["b"], "a", role=1),
                operator("sgd", "fc", ["w"], "w", role=2),
            ],
        }
    ]
}
FC, ACT, CAST, RESHAPE, GRAD, SGD = [(0, n) for n in range(6)]


def cost(seconds: float, *keys: tuple[str, str, str], phase: str = FORWARD, **more: Any) -> OperatorCost:
    parts = tuple(OperatorKey(*key, 0) for key in keys)
    values = {"bytes": 10.0, "gflops": None} | more
    return OperatorCost(phase, "", "k", parts, parts, len(parts), 0, 1.0, seconds, **values)


def step(*costs: OperatorCost, peak: float = 100.0) -> MeasuredStep:
    return MeasuredStep(costs, 1.0, 1.0, 4, True, "cpu", 1, peak, "", None)


def test_a_fused_operator_counts_where_all_its_parts_are() -> None:
    both = cost(3.0, (FORWARD, "fc", "matmul_v2"), (FORWARD, "act", "relu"))
    alone = cost(1.0, (FORWARD, "act#2", "cast"))
    found = FigureMaker(PROGRAM).measured(figure.TIME, step(both, alone))
    assert found.of([FC]) is None
    assert found.of([FC, ACT]) == 3.0
    assert found.of([FC, ACT, CAST]) == 4.0
    assert found.of([RESHAPE]) is None
    assert found.shared_at(FC) == (3.0, 2)
    assert found.shared_at(CAST) is None
    assert found.by_operator() == {CAST: 1.0}


def test_each_phase_has_its_own_time() -> None:
    costs = (
        cost(1.0, (FORWARD, "act", "relu")),
        cost(2.0, (BACKWARD, "act", "relu_grad"), phase=BACKWARD),
        cost(4.0, phase=UPDATE),
        cost(8.0, (FORWARD, "(loss)", "mean")),
    )
    maker = FigureMaker(PROGRAM, planned=True)
    everything = [FC, ACT, CAST, RESHAPE, GRAD, SGD]
    values = {
        subject: maker.measured(subject, step(*costs)).of(everything)
        for subject in (figure.TIME, figure.FORWARD_TIME, figure.BACKWARD_TIME, figure.UPDATE_TIME)
    }
    assert values == {"time": 7.0, "forward": 1.0, "backward": 2.0, "update": 4.0}
    assert maker.measured(figure.TIME, step(*costs)).of([SGD]) == 4.0  # the only update of the one call
    assert maker.measured(figure.TIME, step(*costs)).rest == 8.0


def test_rates_are_means_over_time_and_their_share_is_of_the_peak() -> None:
    costs = (
        cost(1.0, (FORWARD, "fc", "matmul_v2"), gflops=50.0),
        cost(3.0, (FORWARD, "act", "relu"), gflops=10.0),
        cost(5.0, (FORWARD, "act#2", "cast")),
    )
    maker = FigureMaker(PROGRAM)
    assert maker.measured(figure.RATE, step(*costs)).of([FC, ACT, CAST]) == pytest.approx(80 / 4)
    assert maker.measured(figure.PEAK, step(*costs)).of([FC]) == pytest.approx(0.5)
    assert maker.measured(figure.PEAK, step(*costs, peak=0.0)).of([FC]) is None
    assert maker.measured(figure.BYTES, step(*costs)).of([FC, ACT]) == 20.0


def test_memory_is_that_of_results_which_are_no_views() -> None:
    found = FigureMaker(PROGRAM, batch=2, is_view=lambda kind: kind == "reshape2").memory()
    assert found.by_operator() == {FC: 32.0, ACT: 32.0, CAST: 16.0, GRAD: 32.0}
    assert FigureMaker(PROGRAM).memory().of([FC]) is None  # a batch of unknown size
    assert FigureMaker(PROGRAM, batch=2).memory().of([RESHAPE]) is None  # a further open size


def test_a_parameter_counts_once_in_a_group() -> None:
    found = FigureMaker(PROGRAM).parameters()
    assert (found.of([FC]), found.of([CAST]), found.of([FC, CAST])) == (32.0, 32.0, 32.0)
    assert found.of([ACT]) is None


def test_a_group_has_a_dtype_where_it_is_the_same() -> None:
    found = FigureMaker(PROGRAM).dtypes()
    assert found.labels == ("float32", "float16")
    assert (found.of([FC, ACT]), found.of([CAST]), found.of([FC, CAST])) == (0.0, 1.0, None)


def test_a_look_is_about_all_calls_of_a_layer() -> None:
    rows = (LayerRow("fc", 32, 0.1, 3.0), LayerRow("act", dead=0.5), LayerRow("gone", 1, 0.2, 4.0))
    look = LayerSnapshot(5, 1, rows)
    maker = FigureMaker(PROGRAM)
    assert maker.look(figure.GRADIENT, look).by_operator() == {FC: 3.0, SGD: 3.0}
    assert maker.look(figure.DEAD, look).of([CAST]) == 0.5
    assert maker.look(figure.RATIO, look).of([FC, ACT]) == 0.1


def test_joined_numbers() -> None:
    sources = (Source(3.0, frozenset((FC,))), Source(4.0, frozenset((ACT,))))
    values = [Figures("x", sources, together).of([FC, ACT]) for together in ("sum", "norm", "largest")]
    assert values == [7.0, 5.0, 4.0]


def test_names_and_bits() -> None:
    assert layer_name("layer1.0.relu#2") == "layer1.0.relu"
    assert layer_name("a#3.b#2") == "a.b"
    kinds = ("float32", "float16", "bfloat16", "int8", "bool", "complex64")
    assert [bits_of(kind) for kind in kinds] == [32, 16, 16, 8, 8, 64]
