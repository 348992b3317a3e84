"""Compiled kernels are taken at one step, and a resumed training takes them at the same."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine import hapi, jit, nn, optimizer
from engine.core.errors import FormatError
from engine.core.opdef import OPS
from engine.io import TensorDataset
from engine.kernels import choice
from engine.training import TrainingConfig, TrainingRun
from engine.training.kernel_swap import KernelSwap
from engine.training.rate_finder import find_rate
from tests.engine.training.story import Killed, Story, kill, same

pytest.importorskip("llvmlite", reason="the extra 'fast' is not installed")

from engine.kernels.fast import Fast
from engine.kernels.fast import compiler as fast_compiler


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

    def release(self, run: TrainingRun) -> None:
        """All kernels that were asked for are there when this returns."""
        self.go.set()
        assert fast_compiler.compiler().wait(120)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    """Losses are visibly others with the compiled kernel of their operator."""
    kernel, _ = OPS["softmax_with_cross_entropy"].kernel_for("cpu")

    def maker(inputs: Any, attrs: Any) -> Fast:
        def wrong(*arrays: Any) -> Any:
            return tuple(result * np.float32(1.01) for result in kernel(np, *arrays, **attrs))

        return Fast(wrong, [])

    monkeypatch.setattr(choice.kernels, "process", "auto")
    monkeypatch.setattr(OPS["softmax_with_cross_entropy"], "fast", maker)
    made = Held(monkeypatch)
    yield made
    made.go.set()


def _story(bars: Path, folder: Path, **settings: Any) -> Story:
    return Story(bars, folder, **{"static": True, "epochs": 2, **settings})


def test_a_resumed_training_takes_kernels_at_the_same_step(bars: Path, tmp_path: Path, held: Held) -> None:
    whole = _story(bars, tmp_path / "whole")
    whole.train({3: held.release})
    (reported,) = whole.of("kernels")
    assert (reported["step"], reported["since"]) == (3, 3)
    assert {"softmax_with_cross_entropy", "momentum_flat"} <= set(reported["operators"])

    plain = _story(bars, tmp_path / "plain", kernels="numpy")
    plain.train({})
    assert plain.of("kernels") == []
    assert plain.losses()[3] == whole.losses()[3]
    assert plain.losses()[4] != whole.losses()[4]

    held.hold()
    after = _story(bars, tmp_path / "after")
    after.train({3: held.release, 5: TrainingRun.interrupt})
    after.train({}, resume=True)
    assert [event["since"] for event in after.of("kernels")] == [3, 3]
    assert after.losses() == whole.losses()
    assert same(whole, after)

    # The newest checkpoint is older than the swap, and the kernels are there from the start now.
    held.hold()
    before = _story(bars, tmp_path / "before", checkpoint_every=2)
    with pytest.raises(Killed):
        before.train({3: held.release, 4: kill})
    before.train({}, resume=True)
    assert before.of("started")[-1]["step"] == 2
    assert before.losses() == whole.losses()
    assert same(whole, before)


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


def test_a_fit_waits_for_kernels(held: Held) -> None:
    network = jit.to_static(nn.Linear(4, 3))
    model = hapi.Model(network)
    loss = nn.CrossEntropyLoss()
    model.prepare(optimizer.SGD(0.1, parameters=network.parameters()), loss)
    assert choice.gate.get() is None
    seen: list[Any] = []

    class Look(hapi.callbacks.Callback):
        def on_train_batch_end(self, step: int, logs: Any = None) -> None:
            seen.append(choice.gate.get())

    x, y = np.zeros((4, 4), np.float32), np.zeros((4, 1), np.int64)
    _in_a_moment(held)
    model.fit(TensorDataset([x, y]), batch_size=2, epochs=1, verbose=0, callbacks=[Look()])
    assert held.go.is_set()
    assert len(seen) == 2
    assert all(gate is not None and gate.is_open for gate in seen)
    assert choice.gate.get() is None


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
