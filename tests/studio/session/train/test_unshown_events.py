"""Events of a training whose values can't be shown: the window reports it, and nothing after it is lost."""

from __future__ import annotations

from typing import Any

import pytest


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
