"""The learning rate changed while a training runs: what a schedule does, and that a resumed run does so."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.core.errors import ArgumentError
from engine.training import TrainingConfig, TrainingRun
from engine.training.rules.rate import Rate, changes_after
from tests.engine.training.story import Killed, Story, kill, same

SCHEDULES: dict[str, dict[str, Any]] = {
    "constant": {},
    "exponential_decay": {"schedule_params": {"gamma": 0.9}, "schedule_each": "batch"},
    "cosine_annealing_decay": {"schedule_each": "batch"},
    "reduce_on_plateau": {"schedule_params": {"patience": 0}},
}


def rate_to(value: float) -> Callable[[TrainingRun], object]:
    return lambda run: run.set_learning_rate(value)


@pytest.mark.parametrize("schedule", list(SCHEDULES))
def test_a_resumed_run_ends_bit_equal(bars: Path, tmp_path: Path, schedule: str) -> None:
    settings = {"schedule": schedule, **SCHEDULES[schedule]}
    change = {3: rate_to(0.02), 6: rate_to(0.1)}
    whole = Story(bars, tmp_path / "whole", **settings)
    whole.train(dict(change))
    plain = Story(bars, tmp_path / "plain", **settings)
    plain.train({})
    assert not same(whole, plain)

    stopped = Story(bars, tmp_path / "stopped", **settings)
    stopped.train({**change, 7: TrainingRun.interrupt})
    stopped.train({}, resume=True)
    assert same(whole, stopped)

    killed = Story(bars, tmp_path / "killed", **settings)
    with pytest.raises(Killed):
        killed.train({**change, 7: kill})
    killed.train({}, resume=True)
    assert same(whole, killed), "the checkpoint of the change was made before it, so it is repeated"

    # The checkpoints of both changes are lost: each is repeated at its step.
    older = Story(bars, tmp_path / "older", checkpoint_every=2, keep=9, **settings)
    with pytest.raises(Killed):
        older.train({**change, 7: kill})
    for step in (3, 4, 6):
        (tmp_path / f"older/checkpoints/step-{step:08d}.h5").unlink()
    older.events.clear()
    older.train({}, resume=True)
    assert older.of("started")[0]["step"] == 2
    assert [(event["step"], event["factor"]) for event in older.of("rate_changed")] == [
        (event["step"], event["factor"]) for event in whole.of("rate_changed")
    ]
    assert same(whole, older)


def test_the_change_is_reported_with_a_checkpoint_before_it(bars: Path, tmp_path: Path) -> None:
    story = Story(bars, tmp_path / "run")
    story.train({3: rate_to(0.02)})
    (event,) = story.of("rate_changed")
    assert {name: event[name] for name in ("step", "epoch", "learning_rate", "before", "factor")} == {
        "step": 3,
        "epoch": 1,
        "learning_rate": 0.02,
        "before": 0.05,
        "factor": 1.0,
    }
    kinds = [(each["event"], each["step"], each.get("reason")) for each in story.events if each["step"] == 3]
    assert kinds[:3] == [("steps", 3, None), ("checkpoint", 3, "rate"), ("rate_changed", 3, None)]
    lines = [json.loads(line) for line in (tmp_path / "run/journal.jsonl").read_text().splitlines()]
    assert [line["learning_rate"] for line in lines if line["event"] == "rate_changed"] == [0.02]
    assert story.of("steps")[-1]["learning_rate"] == 0.02


def test_a_schedule_continues_with_all_its_rates_multiplied(bars: Path, tmp_path: Path) -> None:
    settings = {"schedule": "exponential_decay", **SCHEDULES["exponential_decay"]}
    story = Story(bars, tmp_path / "run", **settings)
    rates: dict[int, float] = {}
    after = {
        step: lambda run, step=step: rates.update({step: run._parts.stepper.learning_rate})
        for step in range(4, 9)
    }
    story.train({**after, 3: rate_to(0.2)})
    np.testing.assert_allclose([rates[4], rates[8]], [0.2 * 0.9, 0.2 * 0.9**5], rtol=1e-12)


def test_a_chosen_checkpoint_begins_another_story(bars: Path, tmp_path: Path) -> None:
    story = Story(bars, tmp_path / "run", keep=9)
    with pytest.raises(Killed):
        story.train({3: rate_to(0.02), 7: kill})
    story.train({}, resume=tmp_path / "run/checkpoints/step-00000003.h5")
    plain = Story(bars, tmp_path / "plain")
    plain.train({})
    assert same(story, plain)


def test_a_change_that_ended_in_nothing_is_not_repeated() -> None:
    changed = {"event": "rate_changed", "step": 3, "learning_rate": 9.0, "factor": 1.0}
    later = {**changed, "step": 5}
    assert [change.step for change in changes_after([changed, later], 3)] == [3, 5]
    assert [change.step for change in changes_after([changed, later], 4)] == [5]
    assert changes_after([changed, {"event": "stopped", "reason": "diverged", "step": 4}], 3) == []
    for damage in ({"learning_rate": "x"}, {"factor": float("inf")}, {"step": None}, {"factor": 0}):
        assert changes_after([{**changed, **damage}], 3) == []


@pytest.mark.parametrize("rate", [0, -1, float("nan"), "fast", True])
def test_invalid_learning_rates_and_requests_are_refused(bars: Path, tmp_path: Path, rate: Any) -> None:
    run = TrainingRun(TrainingConfig(data=str(bars)))
    with pytest.raises(ArgumentError, match="learning_rate: must be"):
        run.set_learning_rate(rate)
    with pytest.raises(ArgumentError, match="no such request"):
        run.obey("run")


def test_it_is_changed_while_the_training_is_paused(bench: Any) -> None:
    rates: list[Any] = []
    run = bench.run()
    bench.stepper.rate_for = lambda rate: Rate(rate, 1.0)
    bench.stepper.set_rate = rates.append

    def listen(event: Any) -> None:
        if event["event"] == "started":
            run.pause()
        elif event["event"] == "paused":
            run.obey("learning_rate=0.25")
        elif event["event"] == "rate_changed":
            run.resume()

    bench.on_event = listen
    run.run()
    assert rates == [Rate(0.25, 1.0)]
    assert bench.kinds()[:4] == ["started", "paused", "rate_changed", "resumed"]


def test_several_workers_change_together(bars: Path, tmp_path: Path) -> None:
    pytest.importorskip("mpi4py", reason="needs the extra distributed", exc_type=ImportError)
    settings = {"epochs": 20, "schedule": "exponential_decay", "schedule_params": {"gamma": 0.9}}

    def trained(folder: Path) -> tuple[Story, Any]:
        two = Story(bars, folder, workers=2, **settings)
        asked: list[int] = []

        def listen(event: Any) -> None:
            two.events.append(event)
            if event["event"] == "steps" and not asked:
                asked.append(event["step"])
                two.run.set_learning_rate(0.02)

        two.run = TrainingRun(two.config, [listen])
        two.run.run()
        return two, two.of("rate_changed")[0]

    two, event = trained(tmp_path / "two")
    for number in range(5):  # after an epoch's last step the clock decides whether the schedule is first
        if event["step"] % 4:
            break
        two, event = trained(tmp_path / f"two-{number}")
    one = Story(bars, tmp_path / "one", **settings)
    one.train({event["step"]: rate_to(0.02)})
    (single,) = one.of("rate_changed")
    assert (event["learning_rate"], event["factor"]) == (single["learning_rate"], single["factor"])
    expected, found = one.losses(), two.losses()
    assert max(found) == 80 > event["step"]
    np.testing.assert_allclose(list(found.values()), list(expected.values()), rtol=2e-5)
