"""Models explained in a child process: the same values, limits, runs at any checkpoint, children that lie."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine import explain
from engine.core.errors import FormatError, LimitError, ShapeError
from engine.core.models.limits import ModelLimits
from engine.explain import Subject
from engine.explain.guarded.process import ExplainProcess, ProcessModel
from engine.inference import process
from engine.inference.wire import Message
from tests.engine.explain.nets import convolutions, saved, spec
from tests.robust.untrusted_models import Endless, image, unsign
from tests.robust.untrusted_models import saved as saved_digits


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unsign(saved(tmp_path_factory.mktemp("model"), convolutions(), spec()))


def sample() -> list[np.ndarray]:
    return [np.random.default_rng(0).standard_normal((1, 2, 8, 8)).astype(np.float32)]


def test_an_untrusted_model_is_explained_in_a_process_with_the_same_values(model: Path) -> None:
    x = sample()
    with explain.open_saved(model) as apart, explain.of_saved(model) as here:
        assert isinstance(apart._model, ProcessModel)
        assert (apart.inputs, apart.outputs) == (here.inputs, here.outputs)
        assert apart.methods() == here.methods()
        for method in ("saliency", "integrated_gradients", "occlusion"):
            one, other = getattr(apart, method)(x, target=1), getattr(here, method)(x, target=1)
            assert one.values.tobytes() == other.values.tobytes()
            assert (one.score, one.settings) == (other.score, other.settings)
        names = [each.variable for each in here.activations(x)]
        found, wanted = apart.activations(x, names, 4), here.activations(x, names, 4)
        assert [each.plain() for each in found] == [each.plain() for each in wanted]
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(one.channels, other.channels)
        assert apart.view(names[0], "histogram", bins=4) == here.view(names[0], "histogram", bins=4)
        np.testing.assert_array_equal(apart.values(names[0]), here.values(names[0]))


def test_errors_of_the_child_keep_their_class(model: Path) -> None:
    with explain.open_saved(model) as apart:
        with pytest.raises(ShapeError):
            apart.saliency([sample()[0][:, :, :5]])
        assert apart.saliency(sample()).values.shape == (1, 2, 8, 8)


def test_own_model_is_explained_in_this_process(tmp_path: Path) -> None:
    with explain.open_saved(saved(tmp_path, convolutions(), spec())) as subject:
        assert not isinstance(subject._model, ProcessModel)


def test_limits_of_untrusted_models_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "MORE_SECONDS", 0.5)
    prefix = unsign(saved_digits(Endless(), tmp_path / "endless"))
    limits = ModelLimits(seconds=0.5, steps=10**17)
    with (
        explain.open_saved(prefix, limits) as subject,
        pytest.raises(LimitError, match="longer than a model of another installation may"),
    ):
        subject.occlusion([image(1.0)])


LIES: dict[str, dict[str, Any]] = {
    "inputs": {"inputs": [["x"]]},
    "outputs": {"outputs": None},
    "gradient": {"gradient": [[]]},
}


@pytest.mark.parametrize("lie", LIES)
def test_descriptions_that_are_not_ones_are_refused(
    model: Path, lie: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = {
        "inputs": [["x", [1], "float32"]],
        "outputs": [["y", [1], "float32"]],
        "gradient": [[""]],
        "activations": "",
    }
    answer = Message({**honest, **LIES[lie]}, [])
    monkeypatch.setattr(ExplainProcess, "request", lambda *given, **options: answer)
    with pytest.raises(FormatError, match="invalid reply"):
        explain.open_saved(model)


def test_answers_of_other_shapes_are_refused(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ExplainProcess(model) as apart:
        subject = Subject(ProcessModel(apart, owned=False))
        request = ExplainProcess.request

        def lying(self: ExplainProcess, said: dict[str, Any], *given: Any) -> Message:
            found = request(self, said, *given)
            return Message(found.said, [each[..., :1] for each in found.arrays])

        monkeypatch.setattr(ExplainProcess, "request", lying)
        with pytest.raises(FormatError, match="a gradient of shapes"):
            subject._model.gradient(sample(), 0, 0, np.ones((1, 3), np.float32))


SOUND: dict[str, Any] = {
    **{"block": 0, "op": 1, "operator": "relu", "variable": "x", "layer": "", "shape": [1, 2, 2]},
    **{"dtype": "float32", "zeros": 0.5, "not_finite": 0, "low": 0.0, "high": 1.0, "all_channels": 1},
    **{"counts": [], "has_channels": True},
}
IMAGE = np.zeros((1, 2, 2), np.float32)


@pytest.mark.parametrize(
    ("said", "images"),
    [
        ([SOUND | {"shape": "wide"}], [IMAGE]),
        ([SOUND | {"shape": [1e400]}], [IMAGE]),
        ([{"op": 1}], []),
        ([SOUND], []),
        ([SOUND], [IMAGE[0]]),
        ([SOUND], [IMAGE.astype(np.int8)]),
        ([SOUND | {"low": []}], [IMAGE]),
        ("none", []),
        (7, []),
    ],
    ids=str,
)
def test_activations_of_another_form_are_refused(
    said: Any, images: list[np.ndarray], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    described = {"inputs": [["x", [1], "float32"]], "outputs": [["y", [1], "float32"]], "gradient": [[""]]}
    answers = {"describe": Message(described, []), "activations": Message({"activations": said}, images)}
    monkeypatch.setattr(ExplainProcess, "request", lambda self, asked, *others: answers[asked["do"]])
    with ExplainProcess(tmp_path / "model") as apart:
        subject = Subject(ProcessModel(apart, owned=False))
        with pytest.raises(FormatError, match="invalid reply"):
            subject.activations(sample())
