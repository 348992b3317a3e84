"""Activations on the page Graph: what is asked, and which replies belong to the Program that is shown."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import pytest

from engine.explain import Activation
from studio.session.explain import explained_model
from studio.session.explain.activations import MOST_WANTED, Activations
from studio.session.explain.explain_client import ActivationsReply, ExplainFailed, ViewReply
from studio.session.graph.graph_view import GraphViewModel
from studio.session.predict.predict_view import PredictViewModel
from studio.session.selection import Selected
from studio.session.work.running_tasks import RunningTasks
from tests.studio.session.explain.fake_client import FakeClient, info

IMAGE = np.linspace(0, 1, 784, dtype=np.float32).reshape(28, 28)
TASKS = RunningTasks(lambda notify: pytest.fail("no worker"), lambda: None)


def program(*types: str) -> dict[str, Any]:
    ops = [
        {
            "type": kind,
            "inputs": {},
            "outputs": {"Out": [f"{kind}_{n}"]},
            "notes": {"attrs": {"op_role": 2 if kind == "sgd" else 0}},
        }
        for n, kind in enumerate(types)
    ]
    return {"blocks": [{"idx": 0, "parent": -1, "vars": [], "ops": ops}]}


def activation(op: int, kind: str, variable: str = "", **more: Any) -> Activation:
    return Activation(0, op, kind, variable or f"{kind}_{op}", "", (1, 4), "float32", 0.25, **more)


@pytest.fixture
def graph() -> GraphViewModel:
    view = GraphViewModel()
    view.show_saved("model", "model", program("conv2d", "relu"), "")
    return view


@pytest.fixture
def predict() -> PredictViewModel:
    view = PredictViewModel()
    view.loaded(info())
    view.give(0, IMAGE)
    return view


@pytest.fixture
def found(graph: GraphViewModel, predict: PredictViewModel, monkeypatch: pytest.MonkeyPatch) -> Activations:
    monkeypatch.setattr(explained_model, "ExplainClient", FakeClient)
    monkeypatch.setattr(FakeClient, "made", [])
    made = Activations(graph, predict, TASKS, lambda: None)
    made.view.shown = True
    made.look(True)
    return made


def loaded(found: Activations) -> FakeClient:
    found.ask()
    client = FakeClient.made[-1]
    client.load()
    found.take()
    return client


def test_the_variables_of_the_wanted_operators_are_asked_for(found: Activations) -> None:
    found.want([(0, 1), (0, 0), (0, 9)])
    client = loaded(found)
    [request] = client.asked
    assert request.method == "activations"
    assert request.wanted == ("relu_1", "conv2d_0")
    assert np.array_equal(request.arrays[0], IMAGE[None, None])
    found.want([(0, n) for n in range(1000)])
    assert len(found._wanted) == MOST_WANTED


def test_activations_of_other_operators_than_the_shown_ones_are_left_out(found: Activations) -> None:
    client = loaded(found)
    replies = [activation(0, "conv2d"), activation(1, "tanh"), activation(7, "relu")]
    client.tell(ActivationsReply(client.asked[-1], replies, 0.01))
    found.take()
    assert list(found.view.found) == [(0, 0)]
    assert found.view.seconds == 0.01


def test_of_an_operator_with_several_results_the_first_counts(found: Activations) -> None:
    client = loaded(found)
    replies = [activation(0, "conv2d", "mask"), activation(0, "conv2d")]
    client.tell(ActivationsReply(client.asked[-1], replies, 0.01))
    found.take()
    assert found.view.found[0, 0].variable == "conv2d_0"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda graph, predict: predict.clear(), "input"),
        (lambda graph, predict: predict.give(0, np.full((28, 28), np.nan, np.float32)), "nan"),
        (lambda graph, predict: predict.unload(), "model"),
        (lambda graph, predict: graph.show_saved("other", "", program("relu"), ""), "model"),
        (lambda graph, predict: graph.show_subject(Selected("model", "model")), "model"),
        (lambda graph, predict: graph.show_saved("model", "", program("relu", "sgd"), ""), "step"),
    ],
)
def test_without_activations_the_reason_is_known(
    found: Activations, graph: GraphViewModel, predict: PredictViewModel, change: Any, why: str
) -> None:
    client = loaded(found)
    client.tell(ActivationsReply(client.asked[-1], [activation(0, "conv2d")], 0.01))
    found.take()
    change(graph, predict)
    found.ask()
    assert (found.view.stopped, dict(found.view.found)) == (why, {})
    assert len(client.asked) == 1


def test_a_network_that_is_not_a_program_says_so(found: Activations) -> None:
    found.ask()
    FakeClient.made[-1].load(activations="it can't be converted")
    found.take()
    assert (found.view.stopped, found.view.message) == ("none", "it can't be converted")


def test_nothing_is_asked_while_activations_are_not_wanted(found: Activations) -> None:
    found.view.shown = False
    found.ask()
    assert FakeClient.made == []


def test_a_view_of_a_value_comes_with_its_pixels(found: Activations) -> None:
    seen: list[Any] = []
    found.value_shown.connect(lambda *given: seen.append(given))
    client = loaded(found)
    found.ask_value("relu_1", "image", sample=0, first=0)
    request = client.asked[-1]
    pixels = np.arange(6, dtype="<f4")
    packed = base64.b64encode(pixels.tobytes()).decode("ascii")
    client.tell(ViewReply(request, {"values": packed, "channels": 1, "rows": 2, "columns": 3}))
    found.take()
    [(variable, kind, values)] = seen
    assert (variable, kind, values["values"].tolist()) == (
        "relu_1",
        "image",
        pixels.reshape(1, 2, 3).tolist(),
    )


def test_an_invalid_view_of_an_untrusted_model_is_refused(found: Activations) -> None:
    client = loaded(found)
    found.ask_value("relu_1", "image")
    reply = ViewReply(client.asked[-1], {"values": "AA", "channels": 9, "rows": 2, "columns": 3})
    client.tell(reply)
    found.take()
    assert found.view.stopped == "failed"
    assert "sent an invalid view" in found.view.message


def test_a_failed_request_shows_its_message(found: Activations) -> None:
    client = loaded(found)
    client.tell(ExplainFailed(client.asked[-1], "model: it took longer than 1 s", "limit"))
    found.take()
    assert (found.view.stopped, found.view.message) == ("limit", "model: it took longer than 1 s")


def test_operators_that_prepare_the_data_of_a_run_are_left_out(found: Activations) -> None:
    client = loaded(found)
    kinds = ("elementwise_sub", "elementwise_div", "conv2d", "relu", "elementwise_mul")
    reply = ActivationsReply(client.asked[0], tuple(activation(n, k) for n, k in enumerate(kinds)), 0.1)
    client.tell(reply)
    found.take()
    assert {at: each.op for at, each in found.view.found.items()} == {(0, 0): 2, (0, 1): 3}
    found.want([(0, 1)])
    found.ask()
    assert client.asked[-1].wanted == ("relu_3",)
