"""Compiled kernels are taken at one step, and a resumed training takes them at the same."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import hapi, jit, nn, optimizer
from engine.core.errors import FormatError
from engine.core.operators.opdef import OPS
from engine.io import TensorDataset
from engine.kernels import choice
from engine.program.run.fusion import chains
from engine.training import TrainingConfig, TrainingRun, kernel_swap
from engine.training.folder.run_folder import RunFolder
from engine.training.kernel_swap import KernelSwap, built
from engine.training.rate_finder import find_rate
from tests.engine.training.story import Killed, Story, kill, same

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

from engine.kernels.fast import Fast, measured
from engine.kernels.fast import compiler as fast_compiler

STEP = 3  # at which "auto" takes kernels here


class Held:
    """The compiler's thread, which waits until a test lets it go."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self.hold()

    def hold(self) -> None:
        """Another compiler, which compiles nothing yet."""
        self.go, made = threading.Event(), fast_compiler.Compiler()
        go = self.go
        self._monkeypatch.setattr(fast_compiler, "_compiler", made)
        made.submit(lambda: go.wait(60) and None)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    """Losses are visibly others with the compiled kernel of their operator."""
    kernel, _ = OPS["softmax_with_cross_entropy"].kernel_for("cpu")

    def maker(inputs: Any, attrs: Any) -> Fast:
        def wrong(*arrays: Any) -> Any:
            return tuple(result * np.float32(1.01) for result in kernel(np, *arrays, **attrs))

        return Fast(wrong, [])

    monkeypatch.setattr(choice.kernels, "process", "auto")
    monkeypatch.setattr(kernel_swap, "SWAP_STEP", STEP)
    monkeypatch.setattr(OPS["softmax_with_cross_entropy"], "fast", maker)
    monkeypatch.setattr(chains, "LEAST", 1 << 30)  # in a chain it would be part of another call
    made = Held(monkeypatch)
    yield made
    made.go.set()


def _story(bars: Path, folder: Path, **settings: Any) -> Story:
    return Story(bars, folder, **{"static": True, "epochs": 2, **settings})


def test_auto_takes_kernels_at_one_step_whenever_they_are_ready(
    bars: Path, tmp_path: Path, held: Held
) -> None:
    held.go.set()
    soon = _story(bars, tmp_path / "soon")
    soon.train({})
    (reported,) = soon.of("kernels")
    assert (reported["step"], reported["since"]) == (STEP, STEP)
    assert {"softmax_with_cross_entropy", "momentum_flat"} <= set(reported["operators"])

    held.hold()
    _in_a_moment(held)
    late = _story(bars, tmp_path / "late")
    late.train({})
    assert late.losses() == soon.losses()
    assert same(late, soon)

    plain = _story(bars, tmp_path / "plain", kernels="numpy")
    plain.train({})
    assert plain.of("kernels") == []
    assert plain.losses()[STEP] == soon.losses()[STEP]
    assert plain.losses()[STEP + 1] != soon.losses()[STEP + 1]


@pytest.mark.parametrize("stop", [STEP - 1, STEP, STEP + 2])
def test_a_resumed_training_takes_kernels_at_the_same_step(
    bars: Path, tmp_path: Path, held: Held, stop: int
) -> None:
    held.go.set()
    whole = _story(bars, tmp_path / "whole", checkpoint_every=2)
    whole.train({})
    parted = _story(bars, tmp_path / "parted", checkpoint_every=2)
    parted.train({stop: TrainingRun.interrupt})
    parted.train({}, resume=True)
    assert {event["since"] for event in parted.of("kernels")} == {STEP}
    assert parted.losses() == whole.losses()
    assert same(whole, parted)
    assert _kernels_recorded(parted) == _kernels_recorded(whole)


@pytest.mark.parametrize("stop", [STEP, STEP + 1])
def test_a_killed_training_takes_kernels_at_the_same_step(
    bars: Path, tmp_path: Path, held: Held, stop: int
) -> None:
    """Its newest checkpoint is older than the swap, and the journal records that."""
    held.go.set()
    whole = _story(bars, tmp_path / "whole")
    whole.train({})
    killed = _story(bars, tmp_path / "killed", checkpoint_every=2)
    with pytest.raises(Killed):
        killed.train({stop: kill})
    killed.train({}, resume=True)
    assert killed.losses() == whole.losses()
    assert same(whole, killed)


def _kernels_recorded(story: Story) -> Any:
    folder = RunFolder(story.config.out)
    return folder.read_checkpoint(folder.latest_checkpoint()[0])["kernels"]


def test_a_resumed_evaluation_uses_the_kernels_of_its_epoch(bars: Path, tmp_path: Path, held: Held) -> None:
    held.go.set()
    whole = _story(bars, tmp_path / "whole")
    whole.train({})
    parted = _story(bars, tmp_path / "parted")
    per_epoch = whole.of("started")[0]["steps_per_epoch"]
    assert per_epoch > STEP
    parted.train({per_epoch: TrainingRun.interrupt})  # before the evaluation
    assert parted.of("epoch") == []
    parted.train({}, resume=True)
    assert parted.of("kernels")[-1]["step"] == per_epoch - 1
    assert [event["validation_loss"] for event in parted.of("epoch")] == [
        event["validation_loss"] for event in whole.of("epoch")
    ]


def test_a_training_of_an_earlier_release_takes_kernels_where_it_took_them() -> None:
    """Then the clock decided: a record has ``since`` and no step before that."""
    with choice.kernels.guard("auto"):
        journal = KernelSwap("auto", recorded={"choice": "auto", "since": -1}, later=30, step=5)
        assert [journal.due(step) for step in (5, STEP, 29)] == [None, None, None]
        assert journal.due(30) is None, "no plan has any"
        assert journal.state()["at"] == 30
        unknown = KernelSwap("auto", recorded={"choice": "auto", "since": -1}, step=50)
        assert unknown.state() == {"choice": "auto", "since": -1, "built": "", "at": 50}
        used = KernelSwap("auto", recorded={"choice": "auto", "since": 7, "built": built()}, step=50)
        taken = used.due(50)
        assert taken is not None
        assert (taken["step"], taken["since"]) == (50, 7)


def test_the_wait_for_kernels_is_reported_and_can_be_cancelled(
    bars: Path, tmp_path: Path, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choice, "REPORTED_EVERY", 0.02)
    story = _story(bars, tmp_path / "run")

    class Cancelling(list[Any]):
        def append(self, event: Any) -> None:
            super().append(event)
            if event["event"] == "preparing":
                story.run.cancel()

    story.events = Cancelling()
    story.train({})
    said = story.of("preparing")
    assert [event["message"] for event in said] == ["Waiting for compiled kernels (0 s)"]
    assert story.events[-1]["event"] == "cancelled"
    assert not held.go.is_set()


def test_fast_begins_with_compiled_kernels(bars: Path, tmp_path: Path, held: Held) -> None:
    held.go.set()
    story = _story(bars, tmp_path / "fast", kernels="fast")
    story.train({2: TrainingRun.interrupt})
    (reported,) = story.of("kernels")
    assert (reported["step"], reported["since"]) == (0, 0)
    # Another choice may be made for what remains.
    story.config = story.config.changed(kernels="numpy")
    story.train({}, resume=True)
    assert len(story.of("kernels")) == 1


def _in_a_moment(held: Held) -> None:
    """The compiler begins while something waits for it."""
    threading.Timer(0.3, held.go.set).start()


def test_runs_that_wait_for_kernels_repeat_to_the_bit(bars: Path, tmp_path: Path, held: Held) -> None:
    held.go.set()
    at_once = _story(bars, tmp_path / "once", kernels="fast", epochs=1)
    at_once.train({})
    held.hold()
    _in_a_moment(held)
    late = _story(bars, tmp_path / "late", kernels="fast", epochs=1)
    late.train({})
    assert [event["step"] for event in late.of("kernels")] == [0]
    assert late.losses() == at_once.losses()
    assert same(late, at_once)


def test_a_compiler_that_takes_too_long_is_reported_once(
    bars: Path, tmp_path: Path, held: Held, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(choice, "TIMEOUT", 0.05)
    slow = _story(bars, tmp_path / "slow", kernels="fast", epochs=1)
    slow.train({})
    plain = _story(bars, tmp_path / "plain", kernels="numpy", epochs=1)
    plain.train({})
    assert slow.losses() == plain.losses()
    (reported,) = [r.getMessage() for r in caplog.records]
    assert "not ready after 0.05 s: NumPy computes instead" in reported


@pytest.mark.parametrize("workers", [1, 2])
def test_a_training_reports_why_nothing_is_compiled(
    bars: Path, tmp_path: Path, held: Held, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    why = "llvmlite can't be loaded (OSError: damaged)"
    monkeypatch.setattr(fast_compiler, "load", lambda: why)
    swap = KernelSwap("auto", together=workers > 1)
    begin = 0 if workers > 1 else STEP
    with swap.in_use():
        choice.gate_now().asked = True  # by a plan
        events = [swap.due(step) for step in range(begin + 2)]
    assert events[:begin] == [None] * begin
    event = events[begin]
    assert event is not None
    assert (event["since"], event["operators"], event["missing"]) == (-1, [], why)
    assert events[begin + 1] is None
    assert swap.state() == {"choice": "auto", "since": -1, "built": "", "at": begin}


def test_a_training_without_a_compiler_computes_with_numpy(
    bars: Path, tmp_path: Path, held: Held, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    held.go.set()
    monkeypatch.setattr(fast_compiler, "load", lambda: "llvmlite can't be loaded (OSError: damaged)")
    fast_compiler.log_problem.cache_clear()
    damaged = _story(bars, tmp_path / "damaged")
    damaged.train({STEP + 2: TrainingRun.interrupt})
    damaged.train({}, resume=True)
    assert [(event["step"], event["since"]) for event in damaged.of("kernels")] == [
        (STEP, -1),
        (STEP + 3, -1),
    ]
    plain = _story(bars, tmp_path / "plain", kernels="numpy")
    plain.train({})
    assert damaged.losses() == plain.losses()
    assert {record.getMessage() for record in caplog.records} == {
        "kernels: NumPy computes: llvmlite can't be loaded (OSError: damaged)"
    }


def test_tasks_without_a_journal_wait_for_compiled_kernels(bars: Path, held: Held) -> None:
    config = TrainingConfig(data=str(bars), model="linear", static=True)
    with choice.kernels.guard("numpy"):
        plain = find_rate(config, 1e-5, 1e-3, 20)
    _in_a_moment(held)
    late = find_rate(config, 1e-5, 1e-3, 20)
    assert held.go.is_set()
    assert [each.loss for each in late.tried] == [
        pytest.approx(each.loss * 1.01, rel=1e-3) for each in plain.tried
    ]


def test_a_fit_takes_kernels_at_one_run_and_waits_for_them(
    held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choice, "counting", choice.opened(STEP))
    kernel, _ = OPS["softmax"].kernel_for("cpu")

    def maker(inputs: Any, attrs: Any) -> Fast:
        return Fast(lambda x, out=None: kernel(np, x, **attrs) * np.float32(2), [])

    monkeypatch.setattr(OPS["softmax"], "fast", maker)
    x, y = np.ones((2 * STEP + 4, 4), np.float32), np.ones((2 * STEP + 4, 3), np.float32)

    def losses() -> list[float]:
        seen: list[float] = []

        class Look(hapi.callbacks.Callback):
            def on_train_batch_end(self, step: int, logs: Any = None) -> None:
                seen.append(float(np.ravel(logs["loss"])[0]))

        paddle.seed(0)
        network = jit.to_static(nn.Sequential(nn.Linear(4, 3), nn.Softmax()))
        model = hapi.Model(network)
        model.prepare(optimizer.SGD(0.0, parameters=network.parameters()), nn.MSELoss())
        model.fit(TensorDataset([x, y]), batch_size=2, epochs=1, verbose=0, callbacks=[Look()])
        return seen

    held.go.set()
    soon = losses()
    held.hold()
    _in_a_moment(held)
    assert losses() == soon
    assert len(set(soon[:STEP])) == 1
    assert len(set(soon[STEP:])) == 1
    assert soon[STEP] < soon[0]


def test_a_training_of_a_release_without_compiled_kernels_continues_with_numpy() -> None:
    with choice.kernels.guard("auto"):
        assert KernelSwap("auto").choice == "auto"
        assert KernelSwap("auto", recorded={}).choice == "numpy"
        assert KernelSwap("auto", recorded={"choice": "auto", "since": -1}).due(0) is None
    with choice.kernels.guard("numpy"):
        assert KernelSwap("auto").choice == "numpy", "the environment says so"


def test_a_record_that_is_none_is_refused() -> None:
    for record in ({"choice": "quick"}, {"choice": "auto", "since": "soon"}):
        with pytest.raises(FormatError, match="which kernels computed it"):
            KernelSwap("auto", recorded=record)


def test_a_training_that_cannot_be_repeated_reports_it(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with choice.kernels.guard("auto"):
        KernelSwap("auto", recorded={"choice": "auto", "since": 3, "built": "another"})
        monkeypatch.setattr(fast_compiler, "available", lambda: False)
        swap = KernelSwap("auto", recorded={"choice": "auto", "since": 3, "built": "another"})
    assert swap.choice == "numpy"
    first, second = (record.getMessage() for record in caplog.records)
    assert "another CPU or release" in first
    assert "llvmlite is not" in second


def test_a_checkpoint_records_which_ways_were_measured_to_be_fastest(monkeypatch: pytest.MonkeyPatch) -> None:
    choices = measured.Choices(None)
    monkeypatch.setattr(measured, "choices", lambda: choices)
    choices.prefer({"0123456789abcdef": "numpy"})
    choices.fastest("product", {"compiled": lambda: None})
    with choice.kernels.guard("auto"):
        swap = KernelSwap("auto", recorded={"choice": "auto", "since": 3, "built": built(), "at": 3}, step=9)
        state = swap.state()
        assert [*state["ways"].values()] == ["compiled"]
        other = measured.Choices(None)
        monkeypatch.setattr(measured, "choices", lambda: other)
        for odd in (None, 7, ["x"], {1: "x"}, {"x": 1}):
            KernelSwap("auto", recorded={**state, "ways": odd})
        KernelSwap("auto", recorded={**state, "ways": dict.fromkeys(state["ways"], "numpy")})
    assert other.fastest("product", {"compiled": lambda: None, "numpy": lambda: None}) == "numpy"
