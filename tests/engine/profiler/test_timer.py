"""The timer of steps: step_info and the summary, with and without data loading."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest

from engine.core.spans import watch
from engine.io import DataLoader, Dataset
from engine.profiler import Profiler
from engine.profiler.timer import SKIPPED, Benchmark, benchmark


class _Numbers(Dataset):
    def __getitem__(self, index: int) -> float:
        return float(index)

    def __len__(self) -> int:
        return 24


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, which a test moves on itself."""
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    return now


def test_means_since_the_last_call(clock: list[float]) -> None:
    timer = Benchmark()
    timer.begin()
    try:
        for seconds in (0.5, 1.5):
            clock[0] += seconds
            timer.step(8)
        assert timer.step_info("images") == " batch_cost: 1.00000 s ips: 8.000 images/s"
        clock[0] += 2
        timer.step(4)
        assert timer.step_info("images") == " batch_cost: 2.00000 s ips: 2.000 images/s"
        assert timer.step_info("images") == ""
    finally:
        timer.end()
    assert watch.timer is None
    assert timer.step_info("images") == ""


def test_the_summary_leaves_out_the_first_steps(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    timer = Benchmark()
    timer.begin()
    for seconds in (*[100.0] * SKIPPED, 1.0, 3.0):
        data = object()
        timer.reads(data)
        clock[0] += seconds / 4
        timer.has_read()
        timer._parts[-1].dataset = None  # each step its own data here
        clock[0] += seconds * 3 / 4
        timer.step()
    timer.end()
    assert capsys.readouterr().out.splitlines() == [
        "Perf Summary".center(100, "="),
        "Reader Ratio: 25.000%",
        "Time Unit: s, IPS Unit: steps/s",
        "|                 |       avg       |       max       |       min       |",
        "|   reader_cost   |     0.50000     |     0.75000     |     0.25000     |",
        "|    batch_cost   |     2.00000     |     3.00000     |     1.00000     |",
        "|       ips       |     0.50000     |     1.00000     |     0.33333     |",
    ]


def test_an_evaluation_within_training_does_not_count(clock: list[float]) -> None:
    timer, training, evaluation = Benchmark(), object(), object()
    timer.begin()
    for data, seconds in ((training, 1.0), (evaluation, 50.0), (evaluation, 50.0), (training, 1.0)):
        timer.reads(data)
        clock[0] += seconds
        timer.has_read()
        timer.step()
    assert timer.step_info("samples") == " reader_cost: 1.00000 s batch_cost: 1.00000 s ips: 1.000 steps/s"
    timer.end()


def test_data_loading_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    found = Profiler(timer_only=True)
    found.start()
    reported: Any = ""
    for _ in DataLoader(_Numbers(), batch_size=2):
        found.step(num_samples=2)
        reported = found.step_info("numbers")
    found.stop()
    assert re.fullmatch(r" reader_cost: [\d.]+ s batch_cost: [\d.]+ s ips: [\d.]+ numbers/s", reported)
    assert "reader_cost" in capsys.readouterr().out
    assert found.profiler_result is None
    assert watch.recorder is None
    assert benchmark() is benchmark()


def test_loading_is_a_phase() -> None:
    with Profiler(on_trace_ready=lambda _: None) as found:
        batches = sum(1 for _ in DataLoader(_Numbers(), batch_size=4))
    assert found.profiler_result is not None
    loading = [span for span in found.profiler_result.spans() if span.kind == "Dataloader"]
    assert len(loading) == batches + 1  # the last one finds that there are no more
