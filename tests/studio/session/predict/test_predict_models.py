"""Predicting in the session: models in processes of their own, the newest image, limits, cancelling."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine import nn
from engine.core.errors import FormatError
from engine.core.models.limits import ModelLimits
from engine.inference import process
from engine.jit import load
from engine.program.saved.serialize import to_plain
from studio.session.graph.program_check import checked_program
from studio.session.predict.model_choice import ModelChoice
from studio.session.predict.model_info import arrays_of, model_info, opened, scores_of
from studio.session.session import Session
from tests.robust.untrusted_models import Endless, image, saved, unsign

SECONDS = 60.0
PATIENT = ModelLimits(seconds=1e6, steps=10**17)
CALM, BRIGHT = image(0.1).reshape(28, 28), image(1.0).reshape(28, 28)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    return saved(nn.Sequential(nn.Flatten(), nn.Linear(784, 10)), tmp_path / "own")


@pytest.fixture(scope="module")
def endless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unsign(saved(Endless(), tmp_path_factory.mktemp("endless") / "endless"))


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    made = Session(runs_folder=tmp_path / "runs")
    yield made
    made.close()


def until(session: Session, condition: Callable[[], bool]) -> None:
    assert session.wait_until(condition, SECONDS)


def loaded(session: Session, prefix: Path, limits: ModelLimits | None = None) -> None:
    session.predict_models.load(str(prefix), limits)
    until(session, lambda: not session.predict.loading)


def test_the_newest_of_many_images_is_answered(own: Path, session: Session) -> None:
    session.predict_models.ask(BRIGHT)  # waits for a model
    assert not session.predict.asking
    loaded(session, own)
    until(session, lambda: not session.predict.asking)
    answers: list[Any] = []
    session.predict.events.ranking.connect(lambda ranking: answers.append(ranking))
    images = [image(number / 100).reshape(28, 28) for number in range(100)]
    for each in images:
        session.predict_models.ask(each)
    until(session, lambda: not session.predict.asking)
    assert 1 <= len(answers) < 50
    with opened(str(own), ModelLimits()) as (info, scores):
        assert info.own
        wanted = scores(images[-1])
    names = [name for name, _ in session.predict.ranking]
    assert names == [str(n) for n in np.argsort(-wanted, kind="stable")]


def test_an_untrusted_model_is_run_elsewhere_with_the_same_scores(endless: Path) -> None:
    info = model_info(ModelChoice(str(endless)), {}, "", own=False)
    wanted = scores_of(info, [load(str(endless))(*arrays_of(info, [CALM])).numpy()])
    with opened(str(endless), ModelLimits()) as (found, scores):
        assert not found.own
        assert np.array_equal(scores(CALM), wanted)


def test_a_stuck_model_is_ended_and_more_is_allowed_on_request(
    endless: Path, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "MORE_SECONDS", 0.5)
    problems: list[Any] = []
    session.problem.connect(problems.append)
    loaded(session, endless, ModelLimits(seconds=1.0, steps=100))
    session.predict_models.ask(BRIGHT)
    until(session, lambda: not session.predict.asking)
    assert session.predict.stopped == "limit"
    assert session.predict.model is not None
    assert "Allow more" in problems[-1].do
    session.predict_models.ask(CALM)  # nothing is asked until the user says so
    assert not session.predict.asking
    session.predict_models.try_again()
    until(session, lambda: not session.predict.asking)
    assert (session.predict.stopped, len(session.predict.ranking)) == ("", 10)
    model = session.predict_models._model
    assert model is not None
    assert (model.limits.seconds, model.limits.steps) == (4.0, 400)


def test_cancelling_and_closing_end_a_run_that_does_not_end(endless: Path, session: Session) -> None:
    loaded(session, endless, PATIENT)
    session.predict_models.ask(BRIGHT)
    assert not session.wait_until(lambda: not session.predict.asking, 0.3)
    session.predict_models.cancel()
    until(session, lambda: not session.predict.asking)
    assert (session.predict.stopped, session.predict.last_problem) == ("cancelled", None)
    session.predict_models.clear()
    session.predict_models.try_again()
    session.predict_models.ask(CALM)
    until(session, lambda: not session.predict.asking)
    assert len(session.predict.ranking) == 10
    session.predict_models.ask(BRIGHT)
    session.close()  # in the middle of a run
    assert not any(model.alive() for model in session.predict_models._ending)


def test_loading_is_cancelled_too_and_the_model_before_goes_on(
    own: Path, endless: Path, session: Session
) -> None:
    loaded(session, own)
    session.predict_models.load(str(endless))
    session.predict_models.cancel()
    until(session, lambda: not session.predict.loading)
    assert session.predict.stopped == "cancelled"
    assert session.predict.model is not None
    assert session.predict.model.prefix == str(own)
    session.predict_models.ask(CALM)
    until(session, lambda: not session.predict.asking)
    assert len(session.predict.ranking) == 10
    loaded(session, own.with_name("nothing"))
    assert (session.predict.stopped, session.predict.last_problem is None) == ("", False)


def test_a_graph_is_reported_by_the_models_process(endless: Path, session: Session) -> None:
    loaded(session, endless)
    session.predict_models.show_program()
    assert session.graph.loading
    until(session, lambda: not session.graph.loading)
    assert session.graph.text == str(load(str(endless)).program())
    assert session.graph.program == to_plain(load(str(endless)).program())


HARMS: dict[str, Callable[[list[Any]], Any]] = {
    "no blocks": lambda blocks: blocks.clear(),
    "a block in itself": lambda blocks: blocks[-1]["ops"][0].update(regions=[{"block": blocks[-1]["idx"]}]),
    "a block twice": lambda blocks: blocks[0]["ops"][0].update(regions=[{"block": 1}, {"block": 1}]),
    "a block that does not exist": lambda blocks: blocks[0]["ops"][0].update(regions=[{"block": 9}]),
    "its own parent": lambda blocks: blocks[1].update(parent=1),
    "another number": lambda blocks: blocks[1].update(idx=0),
    "a shape of text": lambda blocks: blocks[0]["vars"][0].update(shape=["x"]),
    "names that are none": lambda blocks: blocks[0]["ops"][0].update(inputs={"X": [1]}),
    "attributes in a list": lambda blocks: blocks[0]["ops"][0].update(attrs=[]),
    "an odd spec": lambda blocks: blocks[0]["ops"][0].update(attrs={"a": {"spec": 3}}),
    "a line of text": lambda blocks: blocks[0]["ops"][0].update(line="1"),
    "an operator that is none": lambda blocks: blocks[0]["ops"].append(3),
}


@pytest.mark.parametrize("harm", HARMS)
def test_a_program_that_no_page_can_show_is_refused(endless: Path, harm: str) -> None:
    plain: dict[str, Any] = copy.deepcopy(to_plain(load(str(endless)).program()))  # type: ignore[assignment]
    assert checked_program(plain, "model") is plain
    HARMS[harm](plain["blocks"])
    with pytest.raises(FormatError, match="model: its Program can't be shown"):
        checked_program(plain, "model")


@pytest.mark.parametrize("outputs", [[], [np.zeros(0)], [np.zeros(200_000)], [np.zeros(3, complex)]])
def test_outputs_that_are_no_scores_are_refused(own: Path, outputs: list[Any]) -> None:
    with pytest.raises(FormatError, match="gives no scores of classes"):
        scores_of(model_info(ModelChoice(str(own)), {}, "", own=True), outputs)


def test_closing_while_a_model_is_loaded_ends_it(own: Path, session: Session) -> None:
    session.predict_models.load(str(own))
    coming = session.predict_models._coming
    assert coming is not None
    session.close()
    assert not coming.alive()
    assert coming.pid == 0
