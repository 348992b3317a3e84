"""Going through the checkpoints of a run: which there are, their weights, what was measured and answered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from engine.files.checkpoint import list_checkpoints, write_best, write_checkpoint
from engine.training import TrainingConfig, TrainingRun
from studio.session import commands
from studio.session.checkpoints.checkpoint_answers import _numbers
from studio.session.checkpoints.checkpoints import Checkpoints
from studio.session.checkpoints.checkpoints_view import GivenSample
from studio.session.checkpoints.measure_job import MeasureCheckpoint
from studio.session.checkpoints.measured_now import evaluated
from studio.session.predict.model_choice import ModelChoice
from studio.session.predict.model_client import ModelLoaded, PredictionReply, RequestFailed
from studio.session.predict.model_info import ModelInfo
from studio.session.project.code_agreement import CodeCheck
from studio.session.runs.run_history import read_history
from studio.session.session import Session
from studio.session.work.job import checked_event
from tests.studio.answering_run import make_run
from tests.studio.session.checkpoints.stored_run import CONV, write_numbers_run, write_run, write_step
from tests.studio.session.conftest import FakeWorker


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    found = Session(runs_folder=tmp_path)
    yield found
    found.close()


def opened(session: Session, folder: Path) -> Checkpoints:
    """The checkpoints of a run, without threads."""
    session.refresh_runs()
    session.checkpoints.show(str(folder))
    return session.checkpoints


def test_the_newest_checkpoint_is_shown_first(session: Session, tmp_path: Path) -> None:
    view = opened(session, write_run(tmp_path / "run")).view
    assert [(each.step, each.epoch, each.best) for each in view.checkpoints] == [
        (10, 1, False),
        (20, 2, True),
        (30, 3, False),
    ]
    assert (view.place, view.listed, view.waiting, view.left_out) == (2, True, 0, ())


def test_a_best_checkpoint_whose_step_is_gone_has_its_own_place(session: Session, tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run")
    (folder / "checkpoints" / "step-00000020.h5").unlink()
    view = opened(session, folder).view
    assert [(each.step, each.file.name, each.best) for each in view.checkpoints] == [
        (10, "step-00000010.h5", False),
        (20, "best.h5", True),
        (30, "step-00000030.h5", False),
    ]


def test_weights_are_those_of_the_checkpoint_and_differ_from_the_one_before(
    session: Session, tmp_path: Path
) -> None:
    checkpoints = opened(session, write_run(tmp_path / "run"))
    view = checkpoints.view
    assert [each.name for each in view.layers] == ["conv.weight", "conv.bias", "fc.weight"]
    assert view.layer == "conv.weight"
    shown = view.weights
    assert shown is not None
    assert (shown.step, shown.before, shown.total) == (30, 20, 2)
    np.testing.assert_array_equal(shown.planes, CONV[:, 0] * np.float32(3))
    np.testing.assert_allclose(shown.differences, CONV[:, 0], rtol=1e-6)
    assert shown.change == pytest.approx(0.5)
    assert (shown.scale.low, shown.scale.high) == (-3, 3)  # of all checkpoints
    assert checkpoints.step(-1)
    assert view.weights is not None
    assert view.weights.change == pytest.approx(1.0)
    assert (view.weights.scale.low, view.weights.scale.high) == (-3, 3)
    assert checkpoints.step(-1)
    assert not checkpoints.step(-1)
    assert view.weights.before == -1
    assert not len(view.weights.differences)


def test_a_vector_is_shown_as_its_distribution(session: Session, tmp_path: Path) -> None:
    checkpoints = opened(session, write_run(tmp_path / "run"))
    checkpoints.choose_layer("conv.bias")
    shown = checkpoints.view.weights
    assert shown is not None
    assert not shown.is_images
    assert sum(shown.distribution.counts) == 2
    checkpoints.choose_layer("none of them")
    assert checkpoints.view.layer == "conv.bias"


def test_matrix_and_hardest_samples_come_from_the_journal(session: Session, tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run")
    write_step(folder, 25)
    checkpoints = opened(session, folder)
    view = checkpoints.view
    checkpoints.go(2)  # step 25, between two evaluations
    assert view.measured is not None
    assert (view.measured.step, view.measured.epoch) == (20, 2)
    assert view.measured.values["validation_accuracy"] == 0.75
    assert view.table is not None
    assert view.table.counts.tolist() == [[4, 0], [2, 2]]
    assert [(each.index, each.label, each.answer) for each in view.hardest] == [(5, 1, 0)]
    assert view.hardest[0].image.max() == 20
    checkpoints.go(0)
    assert view.table.counts.tolist() == [[4, 0], [3, 1]]
    assert view.hardest[0].image.max() == 10


def test_the_largest_errors_of_numbers_come_from_the_predictions(session: Session, tmp_path: Path) -> None:
    checkpoints = opened(session, write_numbers_run(tmp_path / "run"))
    view = checkpoints.view
    assert (view.table, view.hardest) == (None, ())
    first = view.worst[0]
    assert (first.index, first.error, first.shown) == (2, 30.0, [["area", "2"], ["age", "20"]])
    assert first.target == pytest.approx((3.0, 0.2))
    checkpoints.go(0)
    assert view.worst[0].predicted == pytest.approx((13.0, 0.2))
    (tmp_path / "run" / "predictions" / "step-00000020.h5").write_bytes(b"damaged")
    checkpoints.go(1)
    assert view.worst == ()
    checkpoints.show("")
    assert view.worst == ()


def test_numbers_that_are_measured_now_have_their_errors() -> None:
    event = {
        "values": {"validation_loss": 0.5}, "confusion": [], "hardest": [],
        "pictures": [[["area", "7"]]],
        "worst": [{"index": 4, "target": [1.0, 2.0], "predicted": [1.5, -1.0]}],
    }  # fmt: skip
    (found,) = evaluated(SimpleNamespace(step=5, epoch=1), event).worst  # type: ignore[arg-type]
    assert (found.index, found.predicted, found.error) == (4, (1.5, -1.0), -3.0)
    assert found.shown == [["area", "7"]]


def test_without_files_of_predictions_the_journal_names_the_hardest(session: Session, tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run")
    (folder / "predictions" / "step-00000030.h5").write_bytes(b"damaged")
    view = opened(session, folder).view
    assert [(each.index, each.image) for each in view.hardest] == [(30, None)]


def test_damaged_checkpoints_are_left_out_by_name(session: Session, tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run")
    damaged = folder / "checkpoints" / "step-00000020.h5"
    damaged.write_bytes(damaged.read_bytes()[:-100])
    write_checkpoint(folder / "checkpoints", 40, {"something": "else"})
    write_checkpoint(folder / "checkpoints", 50, {"model": {}, "progress": {"step": 50}})
    write_best(folder / "checkpoints", {"model": {"a": np.zeros(2)}, "progress": {"step": True}})
    view = opened(session, folder).view
    assert [each.step for each in view.checkpoints] == [10, 30]
    reasons = {each.name: each.reason for each in view.left_out}
    assert sorted(reasons) == ["best.h5", "step-00000020.h5", "step-00000040.h5", "step-00000050.h5"]
    assert "truncated" in reasons["step-00000020.h5"]
    assert "not the checkpoint of a training" in reasons["step-00000040.h5"]


def test_new_checkpoints_join_and_removed_ones_go(session: Session, tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run")
    checkpoints = opened(session, folder)
    view = checkpoints.view
    write_step(folder, 40)
    checkpoints.refresh()
    assert view.current is not None
    assert view.current.step == 40  # the newest was shown, and is followed
    checkpoints.go(1)
    write_step(folder, 50)
    (folder / "checkpoints" / "step-00000010.h5").unlink()
    checkpoints.refresh()
    assert [each.step for each in view.checkpoints] == [20, 30, 40, 50]
    assert view.current.step == 20
    (folder / "checkpoints" / "step-00000020.h5").unlink()
    (folder / "checkpoints" / "best.h5").unlink()
    checkpoints.refresh()
    assert view.current.step == 30


def test_a_checkpoint_that_is_replaced_while_it_is_shown_says_so(session: Session, tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run")
    checkpoints = opened(session, folder)
    write_step(folder, 30)
    (folder / "checkpoints" / "step-00000030.h5").touch()
    checkpoints.choose_layer("fc.weight")
    assert checkpoints.view.weights is None
    assert "was replaced since it was checked" in checkpoints.view.why_no_weights
    checkpoints.refresh()
    assert checkpoints.view.weights is not None


def test_a_run_without_checkpoints_is_refused(session: Session, tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", steps=())
    session.refresh_runs()
    session.select_run(str(folder))
    assert session.blocked(commands.SHOW_CHECKPOINTS) == "This run has no checkpoint yet."
    assert opened(session, folder).view.checkpoints == ()


def test_another_project_shows_none(session: Session, tmp_path: Path) -> None:
    checkpoints = opened(session, write_run(tmp_path / "run"))
    checkpoints.forget()
    view = checkpoints.view
    assert (view.folder, view.checkpoints, view.weights, view.table, view.hardest) == ("", (), None, None, ())


def test_each_checkpoint_answers_about_the_sample(session: Session, tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run", {5: 3, 9: 7}, best=9)
    checkpoints = opened(session, folder)
    view = checkpoints.view
    checkpoints.ask_about(np.zeros((28, 28), np.float32))
    assert session.wait_until(lambda: view.answer_step == 9, 60), view.why_no_answer
    assert view.ranking[0][0] == "digit 7"
    assert view.input_form == "digit"
    assert session.wait_until(lambda: checkpoints.answers.map() is not None, 60)
    found = checkpoints.answers.map()
    assert found is not None
    assert found.shape == (28, 28)
    assert not found.any()  # the weights are zero
    checkpoints.go(0)
    assert session.wait_until(lambda: view.answer_step == 5, 60), view.why_no_answer
    assert view.ranking[0][0] == "digit 3"


def test_the_nearest_checkpoint_is_found_by_its_step(session: Session, tmp_path: Path) -> None:
    checkpoints = opened(session, write_run(tmp_path / "run"))
    for step, place in ((-50.0, 0), (14.0, 0), (15.0, 0), (15.1, 1), (24.9, 1), (1e9, 2)):
        checkpoints.go_to_step(step)
        assert checkpoints.view.place == place, step
    checkpoints.go_to_step(float("nan"))
    assert checkpoints.view.place == 2
    checkpoints.show("")
    checkpoints.go_to_step(10)
    assert checkpoints.view.place == -1


def load(checkpoints: Checkpoints, monkeypatch: pytest.MonkeyPatch) -> tuple[list[Any], Any]:
    """Puts a network that answers when the test says so in the place of the child; returns what it is asked,
    and what loads it."""
    asked: list[Any] = []
    client: Any = SimpleNamespace(
        ask=lambda values, path: asked.append(values), note=lambda reply: None, close=lambda: None,
        alive=lambda: False, join=lambda timeout: None,
    )  # fmt: skip
    monkeypatch.setattr("studio.session.checkpoints.checkpoint_answers.ModelClient", lambda *values: client)

    def loaded() -> None:
        checkpoints.answers._tell(client, ModelLoaded(info_of(predicts_numbers=False)))
        checkpoints.answers.take()

    return asked, loaded


def test_the_drawing_of_predict_is_followed(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = (np.full((28, 28), value, np.float32) for value in (0.25, 0.5))
    session.predict.fed = (one,)
    asked, loaded = load(session.checkpoints, monkeypatch)
    checkpoints = opened(session, write_run(tmp_path / "run"))
    view = checkpoints.view
    assert view.sample is None  # it is not known yet whether the network takes it
    loaded()
    assert view.sample is not None
    assert (view.sample.values[0] is one, view.sample.of_predict) == (True, True)
    assert asked[-1][0] is one
    session.predict.fed = (two,)
    assert asked[-1][0] is two
    session.predict.fed = (None,)
    assert view.sample is None


def test_another_sample_stays_until_predict_is_fed_another(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two, own = (np.full((28, 28), value, np.float32) for value in (0.25, 0.5, 0.75))
    session.predict.fed = (one,)
    asked, loaded = load(session.checkpoints, monkeypatch)
    checkpoints = opened(session, write_run(tmp_path / "run"))
    assert checkpoints.of_predict.offered
    checkpoints.ask_about(own)
    loaded()
    assert asked[-1][0] is own
    checkpoints.step(-1)
    assert asked[-1][0] is own
    session.predict.fed = (None,)
    assert checkpoints.view.sample is not None  # it is not that of Predict
    session.predict.fed = (two,)
    assert asked[-1][0] is two
    assert not checkpoints.of_predict.offered


def test_a_sample_that_the_network_does_not_take_is_not_followed(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, loaded = load(session.checkpoints, monkeypatch)
    checkpoints = opened(session, write_run(tmp_path / "run"))
    inputs = ({"name": "x", "shape": [-1, 3, 64, 64], "dtype": "float32"},)
    other = replace(info_of(predicts_numbers=False), inputs=inputs)
    session.predict.loaded(other)
    session.predict.fed = (np.zeros((64, 64, 3), np.float32),)
    loaded()
    assert checkpoints.answers.takes is not None
    assert (checkpoints.view.sample, asked, checkpoints.of_predict.offered) == (None, [], False)


def test_a_run_is_loaded_though_the_one_before_is_still_checked(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks: list[Any] = []
    made: list[str] = []
    load(session.checkpoints, monkeypatch)
    monkeypatch.setattr(session, "check_agreement_of", lambda folder, then: checks.append(then))
    monkeypatch.setattr(session.checkpoints.answers, "_load", lambda choice: made.append(choice.path))
    first, second = (write_run(tmp_path / name) for name in ("first", "second"))
    for folder in (first, second):
        opened(session, folder).answers.prepare()
    for then in checks:
        then(CodeCheck())
    assert made == [str(second)]


def test_code_of_a_run_does_not_run_before_an_agreement(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_run(tmp_path / "run")
    (folder / "source").mkdir()
    (folder / "source" / "net.py").write_text("raise SystemExit('it ran')\n")
    started: list[Any] = []
    monkeypatch.setattr(
        "studio.session.checkpoints.checkpoint_answers.ModelClient", lambda *values: started.append(values)
    )
    checkpoints = opened(session, folder)
    checkpoints.answers.give(GivenSample((np.zeros((28, 28), np.float32),)))
    assert checkpoints.view.asks_code
    assert not started
    code = session.needs_agreement_of(str(folder))
    assert code is not None
    session.agree(code)
    checkpoints.answers.try_again()
    assert not checkpoints.view.asks_code
    assert started[0][0].agreed == code.digest


def reply(scores: list[float], fed: Any = ()) -> PredictionReply:
    return PredictionReply(fed, np.array(scores, np.float64), 0.001)


def test_an_answer_to_an_earlier_question_is_not_shown(session: Session, tmp_path: Path) -> None:
    checkpoints = opened(session, write_run(tmp_path / "run"))
    answers, view = checkpoints.answers, checkpoints.view
    asked: list[tuple[Any, str]] = []
    client: Any = SimpleNamespace(
        ask=lambda values, path: asked.append((values, path)), note=lambda reply: None, close=lambda: None,
        alive=lambda: False, join=lambda timeout: None,
    )  # fmt: skip
    answers._client, answers._info = client, info_of(predicts_numbers=False)
    checkpoints.ask_about(np.zeros((28, 28), np.float32))
    checkpoints.step(-1)
    assert [Path(path).name for _, path in asked] == ["step-00000030.h5", "step-00000020.h5"]
    answers._tell(client, reply([1, 0], asked[0][0]))
    answers.take()
    assert view.answer_step == -1
    answers._tell(client, reply([0, 9], asked[1][0]))
    answers.take()
    assert view.answer_step == 20
    assert view.ranking[0][0] == "b"
    answers._tell(client, RequestFailed("asking", "too large", "limit"))
    answers.take()
    assert (view.ranking, view.why_no_answer) == ((), "too large")


def info_of(predicts_numbers: bool) -> Any:
    """What a network says of itself: one image, two classes, or one number."""
    inputs = ({"name": "x", "shape": [-1, 1, 28, 28], "dtype": "float32"},)
    classes = () if predicts_numbers else ("a", "b")
    return ModelInfo(ModelChoice("run", "step"), "run", "run", inputs, classes, {}, {}, "", {})


def test_a_single_number_is_shown_as_one() -> None:
    assert _numbers(reply([2.5]), info_of(True)) == (("", 2.5, ""),)
    assert _numbers(reply([2.5, 1.0]), info_of(False)) == ()


def tell(worker: FakeWorker, event: str, **values: Any) -> None:
    worker.tell({"event": event, "time": 1.0, **values})


def test_a_checkpoint_is_measured_on_request(tmp_path: Path) -> None:
    workers: list[FakeWorker] = []

    def make(notify: Any) -> Any:
        workers.append(FakeWorker(notify))
        return workers[-1]

    session = Session(make, tmp_path)
    folder = write_run(tmp_path / "run")
    write_step(folder, 25)
    checkpoints = opened(session, folder)
    view = checkpoints.view
    checkpoints.go(2)
    checkpoints.now.start()
    assert view.measuring
    job = checkpoints.now.job.job
    assert job == MeasureCheckpoint(str(folder), str(folder / "checkpoints" / "step-00000025.h5"))
    tell(
        workers[-1],
        "checkpoint_measured",
        values={"validation_loss": 0.5, "validation_accuracy": 1.0},
        confusion=[[4, 0], [0, 4]],
        hardest=[{"index": 2, "label": 0, "predicted": 0, "probability": 0.5}],
        pictures=np.full((1, 28, 28), 9, np.uint8),
        worst=[],
    )
    tell(workers[-1], "worker_ended", clean=True, killed=False, exit_code=0, message="", details="")
    session.pump()
    assert (view.computed, view.measuring) == (True, False)
    assert view.measured is not None
    assert (view.measured.step, view.measured.values["validation_accuracy"]) == (25, 1.0)
    assert view.table is not None
    assert view.table.counts.tolist() == [[4, 0], [0, 4]]
    assert [(each.index, each.image.max()) for each in view.hardest] == [(2, 9)]
    checkpoints.go(1)
    assert not view.computed
    assert view.table.counts.tolist() == [[4, 0], [2, 2]]
    checkpoints.go(2)
    assert view.computed
    session.close()


def test_measuring_gives_what_the_training_measured(tmp_path: Path, bars: Path) -> None:
    settings: Any = {"model": "linear", "data": str(bars), "epochs": 1}
    config = TrainingConfig(**settings, out=str(tmp_path / "run"))
    TrainingRun(config).run()
    newest = list_checkpoints(tmp_path / "run" / "checkpoints")[-1]
    events: list[dict[str, Any]] = []
    inbox: Any = None
    MeasureCheckpoint(str(tmp_path / "run"), str(newest.path)).run(events.append, inbox)  # type: ignore[arg-type]
    history = read_history(tmp_path / "run")
    assert checked_event(events[0], MeasureCheckpoint("", "")) == events[0]
    assert events[0]["confusion"] == history.tables[-1].counts.tolist()
    assert events[0]["values"]["validation_loss"] == pytest.approx(history.epochs[-1]["validation_loss"])


def test_files_that_come_while_others_are_checked_are_checked_too(session: Session, tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run")
    session.refresh_runs()
    session.files.checkpoints.begin()
    session.checkpoints.show(str(folder))
    write_step(folder, 40)
    session.checkpoints.refresh()
    write_step(folder, 50)
    session.checkpoints.refresh()
    view = session.checkpoints.view
    assert session.wait_until(lambda: len(view.checkpoints) == 5 and not view.waiting, 20)
    assert (view.waiting, view.listed) == (0, True)
    assert view.current is not None
    assert view.current.step == 50
