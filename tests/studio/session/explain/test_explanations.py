"""What a panel asks the explaining process, and what it makes of the replies."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from engine.explain import Attribution, Value
from engine.training.exporting.raw_inputs import RawInputs
from studio.session.explain import explained_model, explanations
from studio.session.explain.explain_client import (
    AttributionReply,
    ExplainFailed,
    ExplainLoaded,
    ExplainProgress,
)
from studio.session.explain.explain_view import ANSWER
from studio.session.explain.explaining import Explaining
from studio.session.explain.explanations import Explanations
from studio.session.graph.graph_view import GraphViewModel
from studio.session.predict.model_choice import ModelChoice
from studio.session.predict.model_client import PredictionReply
from studio.session.predict.model_info import ModelInfo
from studio.session.predict.predict_view import PredictViewModel
from studio.session.work.running_tasks import RunningTasks
from tests.studio.session.explain.fake_client import FakeClient, info

IMAGE = np.linspace(0, 1, 784, dtype=np.float32).reshape(28, 28)
TASKS = RunningTasks(lambda notify: pytest.fail("no worker"), lambda: None)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Explanations:
    monkeypatch.setattr(explained_model, "ExplainClient", FakeClient)
    monkeypatch.setattr(FakeClient, "made", [])
    found = Explanations(TASKS, lambda: None)
    found.use(info())
    found.look(True)
    return found


def test_nothing_is_started_while_the_panel_is_hidden(asked: Explanations) -> None:
    asked.look(False)
    asked.feed((IMAGE,))
    asked.ask()
    assert FakeClient.made == []
    asked.look(True)
    asked.ask()
    assert len(FakeClient.made) == 1
    asked.look(False)
    assert FakeClient.made[0].closed


def test_the_newest_input_is_asked_about_once_the_model_is_loaded(asked: Explanations) -> None:
    asked.feed((np.zeros_like(IMAGE),))
    asked.ask()
    asked.feed((IMAGE,))
    asked.ask()
    [client] = FakeClient.made
    assert client.asked == []
    client.load()
    asked.take()
    [request] = client.asked
    assert request.method == "saliency"
    assert request.target is None
    assert np.array_equal(request.arrays[0], IMAGE[None, None])
    client.answer()
    asked.take()
    found = asked.view.found
    assert found is not None
    assert (found.target, found.score, found.fed[0] is IMAGE) == (3, 7.5, True)
    assert not asked.view.working


def test_options_reach_the_process_as_the_model_is_fed_them(asked: Explanations) -> None:
    asked.use(info({"mean": 0.5, "std": 0.25}))
    asked.feed((IMAGE,))
    asked.change(method="integrated", target=4, steps=8, baseline="white")
    asked.ask()
    FakeClient.made[-1].load()
    asked.take()
    request = FakeClient.made[-1].asked[-1]
    assert (request.method, request.target, request.steps) == ("integrated", 4, 8)
    assert np.unique(request.baseline).tolist() == [2.0]
    asked.change(method="occlusion", color="mean", size=0)
    asked.ask()
    request = FakeClient.made[-1].asked[-1]
    assert (request.size, request.step) == (6, 2)
    assert np.allclose(request.color, (0.5 - 0.5) / 0.25, atol=1e-6)


def test_an_image_with_nan_has_no_map_and_is_not_asked_about(asked: Explanations) -> None:
    broken = IMAGE.copy()
    broken[0, :2] = np.nan, np.inf
    asked.feed((broken,))
    asked.ask()
    assert FakeClient.made == []
    assert (asked.view.stopped, asked.view.not_finite, asked.view.found) == ("nan", 2, None)
    asked.feed((IMAGE,))
    asked.ask()
    assert asked.view.stopped == ""
    assert len(FakeClient.made) == 1


def test_an_empty_drawing_has_no_map(asked: Explanations) -> None:
    asked.feed((IMAGE,))
    asked.ask()
    FakeClient.made[0].load()
    asked.take()
    FakeClient.made[0].answer()
    asked.take()
    asked.feed(())
    assert asked.view.found is None
    assert FakeClient.made[0].cancels == 1


def test_a_method_that_the_model_does_not_allow_gives_way_to_one_that_it_does(asked: Explanations) -> None:
    asked.feed((IMAGE,))
    asked.ask()
    FakeClient.made[0].load(saliency="integers", integrated="integers")
    asked.take()
    assert asked.view.options.method == "occlusion"
    assert asked.view.reasons == {"saliency": "integers", "integrated": "integers", "occlusion": ""}
    assert FakeClient.made[0].asked[-1].method == "occlusion"


def test_without_any_method_the_reason_is_shown(asked: Explanations) -> None:
    asked.feed((IMAGE,))
    asked.ask()
    FakeClient.made[0].load(saliency="no", integrated="no", occlusion="the output has bool: not a number")
    asked.take()
    assert (asked.view.stopped, asked.view.message) == ("failed", "no")
    assert FakeClient.made[0].asked == []


def test_a_reply_to_an_older_request_is_not_shown(asked: Explanations) -> None:
    asked.feed((IMAGE,))
    asked.ask()
    client = FakeClient.made[0]
    client.load()
    asked.take()
    old = client.asked[-1]
    asked.change(method="occlusion")
    asked.ask()
    assert client.cancels == 1  # the client drops requests of the same method only
    client.tell(AttributionReply(old, Attribution("saliency", IMAGE, 0, 1.0, 0.1)))
    client.tell(ExplainFailed(old, "explain: cancelled", "cancelled"))
    asked.take()
    assert asked.view.found is None
    assert asked.view.stopped == ""
    assert asked.view.working


def test_a_partial_occlusion_is_shown_where_it_takes_a_moment(
    asked: Explanations, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = SimpleNamespace(monotonic=lambda: now.at, at=0.0)
    monkeypatch.setattr(explanations, "time", now)
    asked.change(method="occlusion")
    asked.feed((IMAGE,))
    asked.ask()
    client = FakeClient.made[0]
    client.load()
    asked.take()
    values = np.full((1, 1, 28, 28), np.nan, np.float32)
    client.tell(ExplainProgress(client.asked[-1], 0.25, values))
    asked.take()
    assert asked.view.found is None
    assert asked.view.progress == 0.25
    now.at = 1.0
    client.tell(ExplainProgress(client.asked[-1], 0.5, values))
    asked.take()
    assert asked.view.found is not None
    assert asked.view.found.share == 0.5
    client.answer(values=values, share=0.5)  # after Cancel
    asked.take()
    assert not asked.view.working
    assert (asked.view.found.share, asked.view.found.score) == (0.5, 7.5)


def test_a_model_that_can_not_be_loaded_is_tried_again_with_the_next_request(asked: Explanations) -> None:
    asked.feed((IMAGE,))
    asked.ask()
    FakeClient.made[0].tell(ExplainFailed(None, "model: no such file; export it again", ""))
    asked.take()
    assert asked.view.stopped == "failed"
    assert asked.view.message == "model: no such file; export it again"
    asked.ask()
    assert len(FakeClient.made) == 2


def test_another_model_ends_the_process_and_forgets_the_score(asked: Explanations) -> None:
    asked.feed((IMAGE,))
    asked.change(target=4)
    asked.ask()
    asked.use(info())
    assert FakeClient.made[0].closed
    assert asked.view.options.target == ANSWER
    assert asked.view.fed == ()


def test_another_checkpoint_is_asked_about(asked: Explanations) -> None:
    run = info()
    run = ModelInfo(**{**vars(run), "choice": ModelChoice("run", "run/best.h5")})
    asked.use(run, "run/best.h5")
    asked.feed((IMAGE,))
    asked.ask()
    FakeClient.made[-1].load()
    asked.take()
    FakeClient.made[-1].answer()
    asked.take()
    asked.use(run, "run/step-00000001.h5")
    assert asked.view.found is None
    asked.ask()
    assert not FakeClient.made[-1].closed
    assert FakeClient.made[-1].asked[-1].checkpoint == "run/step-00000001.h5"


def test_explanations_follow_the_page_predict(asked: Explanations) -> None:
    view = PredictViewModel()
    explaining = Explaining(view, GraphViewModel(), TASKS, lambda: None)
    view.loaded(info())
    view.give(0, IMAGE)
    assert explaining.predict.view.fed == view.fed
    view.answered(PredictionReply(view.fed, np.arange(10.0), 0.1))
    assert explaining.predict.view.targets == tuple(map(str, range(10)))
    view.clear()
    assert explaining.predict.view.fed == ()
    view.unload()
    assert explaining.predict.asked is None
    explaining.close()


def test_several_inputs_wait_for_all_of_them(asked: Explanations) -> None:
    view = PredictViewModel()
    explaining = Explaining(view, GraphViewModel(), TASKS, lambda: None)
    view.loaded(info(inputs=2))
    view.give(0, IMAGE)
    assert explaining.predict.view.fed == ()
    view.give(1, IMAGE)
    assert len(explaining.predict.view.fed) == 2
    explaining.close()


def test_the_window_of_an_occlusion_fits_the_image(asked: Explanations, tmp_path: Path) -> None:
    asked.feed((IMAGE,))
    assert asked.window() == (6, 2)
    asked.change(size=100)
    assert asked.window() == (28, 9)
    asked.change(size=5, stride=7)
    assert asked.window() == (5, 7)


def test_allow_more_asks_again_with_four_times_the_limits(asked: Explanations) -> None:
    asked.feed((IMAGE,))
    asked.ask()
    client = FakeClient.made[0]
    client.load()
    asked.take()
    before = client.limits
    client.tell(ExplainFailed(client.asked[-1], "model: more than 1 s; allow more", "limit"))
    asked.take()
    assert asked.view.stopped == "limit"
    asked.allow_more()
    assert client.limits.seconds == 4 * before.seconds
    assert len(client.asked) == 2


def test_another_input_has_its_own_methods_and_map(asked: Explanations) -> None:
    asked.use(info(inputs=2))
    asked.feed((IMAGE, IMAGE))
    asked.ask()
    client = FakeClient.made[-1]
    client.load(saliency="the input 'x' has int64: integers have no gradients")
    asked.take()
    assert asked.view.options.method == "integrated"
    client.answer()
    asked.take()
    asked.choose_input(1)
    assert asked.view.found is None
    assert not any(asked.view.reasons.values())
    asked.ask()
    assert client.asked[-1].input == 1


def test_a_number_of_another_output_is_explained(asked: Explanations) -> None:
    asked.feed((IMAGE,))
    asked.ask()
    client = FakeClient.made[0]
    outputs = (Value("scores", (-1, 10), "float32"), Value("ids", (-1, 2, 2), "int64"))
    client.tell(ExplainLoaded((), outputs, {(0, 0): {}, (0, 1): {"saliency": "integers"}}))
    asked.take()
    asked.change(target=3)
    asked.change(output=1)
    assert asked.view.outputs == (("scores", 10), ("ids", 4))
    assert asked.target_names == ("0", "1", "2", "3")
    assert asked.view.options.target == ANSWER
    assert asked.view.reasons["saliency"] == "integers"
    asked.change(method="occlusion", target=2)
    asked.ask()
    request = client.asked[-1]
    assert (request.output, request.target) == (1, 2)


def test_rows_are_compared_with_the_means_of_their_columns(asked: Explanations) -> None:
    spec = {"kind": "table", "task": "numbers", "shape": [2], "classes": [], "targets": ["y"], "columns": []}
    raw = RawInputs.of({"data_spec": spec, "prepare": {"fill": [1.5, 2.5], "column_mean": [1.0, 2.0]}})
    inputs = ({"name": "x", "shape": [-1, 2], "dtype": "float32"},)
    asked.use(replace(info(), inputs=inputs, classes=(), raw=raw))
    asked.feed((np.array([3.0, 4.0], np.float32),))
    for options, used, values in (
        ({"method": "integrated"}, "mean", [[1.0, 2.0]]),
        ({"baseline": "zero"}, "zero", [[0.0, 0.0]]),
        ({"method": "saliency"}, "", [[0.0, 0.0]]),
    ):
        asked.change(**options)
        asked.ask()
        client = FakeClient.made[-1]
        if not client.asked:
            client.load()
            asked.take()
        client.answer()
        asked.take()
        assert asked.view.found is not None
        assert asked.view.found.fill == used
        assert client.asked[-1].baseline.tolist() == values
