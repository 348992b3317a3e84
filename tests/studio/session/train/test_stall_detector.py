"""How long a training has not answered: what is offered then, and what takes it back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from resources.local_code import read_code
from studio.session.session import Session
from studio.session.train.stall_detector import StallDetector


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(stage: Any) -> Clock:
    made = Clock()
    stage.session.trainer.stall_detector = StallDetector(stage.session.train, made)
    stage.session.execute("start")
    stage.started(folder=stage.session.train.folder)
    return made


def wait(stage: Any, clock: Clock, seconds: float) -> None:
    clock.now += seconds
    stage.session.trainer.stall_detector.look()


@pytest.mark.parametrize("command", ["pause", "stop_early", "cancel"])
def test_the_process_can_be_ended_when_a_request_has_no_answer(
    stage: Any, clock: Clock, command: str
) -> None:
    train = stage.session.train
    assert stage.session.execute("end_process") == "The training answers; Cancel or Stop early end it."
    stage.session.execute(command)
    wait(stage, clock, 2.5)
    assert not train.unanswered
    stage.tell("vitals", memory=1)
    wait(stage, clock, 0.6)
    assert train.unanswered, "a process that says how much memory it has may hang all the same"
    assert stage.session.execute("end_process") == ""
    assert stage.worker.killed
    stage.session.pump()
    assert (train.state, train.unanswered) == ("crashed", False)


def test_a_process_that_replies_is_not_offered_to_be_ended(stage: Any, clock: Clock) -> None:
    train = stage.session.train
    stage.session.execute("stop_early")
    wait(stage, clock, 2.0)
    stage.tell("stopping", step=1, how="early")
    wait(stage, clock, 60.0)
    assert not train.unanswered, "the last evaluation may take long"
    stage.session.execute("cancel")
    wait(stage, clock, 3.0)
    assert train.unanswered


def test_a_pause_that_came_is_taken_back_by_its_answer(stage: Any, clock: Clock) -> None:
    train = stage.session.train
    stage.session.execute("pause")
    wait(stage, clock, 4.0)
    assert "end_process" not in train.why_not
    stage.tell("paused", step=1)
    assert (train.unanswered, train.quiet) == (False, 0)
    wait(stage, clock, 100.0)
    assert (train.unanswered, train.quiet) == (False, 0)
    stage.session.execute("resume")
    assert train.quiet == 0


def test_steps_that_do_not_come_are_reported_in_seconds(stage: Any, clock: Clock) -> None:
    train = stage.session.train
    wait(stage, clock, 4.9)
    assert train.quiet == 0
    wait(stage, clock, 2.4)
    assert train.quiet == 7
    stage.steps(1.0)
    assert train.quiet == 0
    stage.tell("evaluating", epoch=1, step=5)
    wait(stage, clock, 30.0)
    assert train.quiet == 0, "an evaluation has no steps"


def test_ending_says_where_it_can_be_resumed(stage: Any, clock: Clock) -> None:
    folder = Path(stage.session.train.folder) / "checkpoints"
    folder.mkdir(parents=True)
    (folder / "step-00000012.h5").write_bytes(b"")
    stage.session.trainer.kill()
    stage.session.pump()
    assert stage.session.train.message == "Ended; resume from step 12"


LOOP = """
from engine import nn

class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(784, 10)

    def forward(self, x):
        print("round and round", flush=True)
        while True:
            pass
"""


def test_a_forward_without_an_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studio.session.train.stall_detector.ANSWER_SECONDS", 0.3)
    file = tmp_path / "loop.py"
    file.write_text(LOOP)
    session = Session(runs_folder=tmp_path / "runs")
    try:
        session.agree(read_code(file))
        session.change_setting("model", f"{file}:Net")
        said: list[str] = []
        session.train.output.connect(lambda stream, text: said.append(text))
        session.execute("start")
        assert session.wait_until(lambda: bool(said), 120), "it is in its forward"
        session.execute("cancel")

        def offered() -> bool:
            session.trainer.stall_detector.look()
            return session.train.unanswered

        assert session.wait_until(offered, 60)
        assert session.execute("end_process") == ""
        assert session.wait_until(lambda: not session.busy(), 60)
        assert session.train.state == "crashed"
        assert session.runs == []
        assert list((tmp_path / "runs").iterdir()) == [], "a run that did not begin leaves nothing"
    finally:
        session.close(5.0)


def test_a_training_that_waits_for_kernels_reports_it_until_the_next_step(stage: Any, clock: Clock) -> None:
    train = stage.session.train
    for seconds in range(1, 9):
        wait(stage, clock, 1.0)
        stage.tell("preparing", message=f"Waiting for compiled kernels ({seconds} s)")
    assert (train.message, train.quiet) == ("Waiting for compiled kernels (8 s)", 0)
    stage.steps(1.0)
    assert train.message == "Training"
    stage.session.execute("pause")
    stage.tell("preparing", message="Waiting for compiled kernels (9 s)")
    assert train.message == "Pausing…"
