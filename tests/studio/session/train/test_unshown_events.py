"""Events of a training whose values can't be shown: the window reports it, and nothing after it is lost."""

from __future__ import annotations

import math
from typing import Any

import pytest

from engine.files.data.stored_file import ShorterError
from engine.training.events import failed_event
from engine.training.problem import describe_problem


@pytest.mark.logs
def test_a_training_outlives_an_event_that_can_not_be_shown(stage: Any) -> None:
    stage.session.start()
    stage.started()
    for _ in range(2):  # without a step, where there is always one
        stage.tell("steps", step=1, epoch=1, total_steps=10, losses=[])
    (problem,) = stage.problems
    assert problem.title == "An event could not be shown"
    assert problem.what == "the event steps that it sent can't be shown: IndexError: list index out of range"
    stage.steps(0.5)
    assert (stage.session.train.state, stage.session.train.loss, stage.worker.killed) == (
        "running",
        0.5,
        False,
    )
    stage.ended()
    assert stage.session.train.state == "finished"


@pytest.mark.logs
@pytest.mark.parametrize(
    "odd",
    [
        {"accuracies": [0.5]},
        {"losses": [0.5]},
        {"ranks": [{"rank": 0, "steps_per_second": 2.0, "waiting": math.inf}]},
        {"ranks": [{"rank": 0, "steps_per_second": math.nan, "waiting": 0.5}]},
    ],
)
def test_odd_steps_are_not_retained(stage: Any, odd: dict[str, Any]) -> None:
    """Else each later change of the curves, or of the facts, would fail."""
    stage.session.start()
    stage.started()
    good = {"steps": [1, 2], "losses": [0.5, 0.25], "accuracies": [0.5, 0.75], "step": 2, "epoch": 1}
    rest = {"total_steps": 10, "samples_per_second": 9.0, "seconds_left": 3.0, "elapsed": 1.0}
    points: list[Any] = []
    stage.session.train.new_points.connect(lambda *given: points.append(given))
    stage.tell("steps", **good, **rest, learning_rate=0.1)
    stage.tell("steps", **good | odd, **rest, learning_rate=0.1)
    assert (len(points), stage.session.train.ranks, len(stage.problems)) == (1, [], 1)


def test_the_end_of_a_training_is_seen_after_an_event_that_can_not_be_shown(
    stage: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """It came with the end of the process: what follows in one batch is not lost."""
    stage.session.start()
    stage.worker.tell({"event": "started", "time": 1.0, "folder": "a\0b", "resumed_from": ""})
    stage.worker.end(clean=False, message="training process: it was killed")
    stage.session.pump()
    assert (stage.session.train.state, stage.session.busy()) == ("crashed", False)
    assert "not the path of a file" in caplog.text


def test_a_training_whose_data_became_shorter_shows_that_it_can_be_resumed(stage: Any) -> None:
    stage.session.start()
    stage.started()
    problem = describe_problem(ShorterError("data.h5 became shorter: 10 of 20 rows; restore it"))
    stage.tell(**failed_event(problem, 8, "step-00000008.h5"))
    assert stage.session.train.state == "idle"
    assert stage.session.train.message == "Interrupted at step 8; it can be resumed"
    assert stage.problems[-1].what == "10 of 20 rows"
