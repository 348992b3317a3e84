"""The learning-rate finder: a sweep of a real training, and the choice of a rate from a curve."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.core.errors import ArgumentError
from engine.core.random.generator import default_generator
from engine.training import TrainingConfig
from engine.training.randomness import random_state
from engine.training.rate_finder import Tried, find_rate, suggest
from resources.settings.rate import RateSettings
from studio.session.train.rate_finder_job import FindRate
from studio.session.work.job import Inbox, perform, plain_message


def config(bars: Path, **settings: Any) -> TrainingConfig:
    values = {"data": str(bars), "model": "linear", "optimizer": "sgd", "batch_size": 50, "static": False}
    return TrainingConfig.from_dict({**values, **settings})


def test_a_sweep_suggests_a_rate_that_learns(bars: Path) -> None:
    reported: list[Tried] = []
    found = find_rate(config(bars), 1e-5, 10.0, 60, reported.append)
    assert tuple(reported) == found.tried
    rates = [each.rate for each in found.tried]
    np.testing.assert_allclose(rates, np.geomspace(1e-5, 10.0, 60)[: len(rates)])
    best = min(found.tried, key=lambda each: each.smoothed)
    assert 1e-3 < found.suggestion < best.rate
    first = found.tried[0]
    assert first.smoothed == pytest.approx(first.loss), "the start of the smoothed loss is corrected"
    again = find_rate(config(bars), 1e-5, 10.0, 60)
    assert again == found, "the same settings give the same sweep"


def test_a_sweep_says_why_the_cpu_computes(bars: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "engine.kernels.cupy", None)
    found = find_rate(config(bars, device="auto"), steps=20)
    assert found.fallback.startswith("device auto: the CPU computes, because gpu:0 needs CuPy")
    assert find_rate(config(bars), steps=20).fallback == ""


def test_a_sweep_that_diverges_ends_there(bars: Path) -> None:
    found = find_rate(config(bars, data="digits", samples=600, optimizer="momentum"), 1e-3, 1e4, 60)
    assert found.stopped == "diverged"
    assert 20 <= len(found.tried) < 60
    assert math.isfinite(found.suggestion)


def test_nothing_is_left_behind(bars: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    default_generator().manual_seed(7)
    before = random_state()
    settings = config(bars, out=str(tmp_path / "run"), schedule="cosine_annealing_decay")
    find_rate(settings, steps=20)
    assert list(tmp_path.iterdir()) == []
    after = random_state()
    np.testing.assert_equal(after, before)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((0.1, 0.01, 50), "the range is empty"),
        ((0.0, 0.01, 50), "learning_rate: must be"),
        ((0.001, 0.01, 19), "too few steps"),
    ],
)
def test_invalid_ranges_are_refused(bars: Path, arguments: Any, words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        find_rate(config(bars), *arguments)


def test_the_choice_is_the_steepest_descent_before_the_lowest_point() -> None:
    rates = np.geomspace(1e-5, 1.0, 51)
    x = np.log10(rates)
    falls = 2.0 / (1.0 + np.exp(4.0 * (x + 3.0)))  # steepest at 1e-3
    rises = np.where(x > -1.0, (x + 1.0) * 8.0, 0.0)
    suggestion, why = suggest(rates.tolist(), (falls + rises).tolist())
    assert (suggestion, why) == (pytest.approx(1e-3, rel=0.3), "")
    suggestion, why = suggest(rates.tolist(), np.linspace(1.0, 2.0, 51).tolist())
    assert math.isnan(suggestion)
    assert "does not fall" in why
    suggestion, why = suggest(rates[:8].tolist(), falls[:8].tolist())
    assert math.isnan(suggestion)
    assert "8 rates only" in why


def test_the_job_reports_what_it_tried_and_can_be_cancelled(bars: Path) -> None:
    events: list[Any] = []
    job = FindRate(config(bars).as_dict(), RateSettings(1e-4, 1.0, 30))
    assert perform(job, events.append, Inbox())
    tried = [rate for event in events[:-1] for rate in event["rates"]]
    assert len(tried) == 30
    assert (events[-1]["event"], events[-1]["stopped"]) == ("rate_found", "")
    events.clear()
    inbox = Inbox()
    inbox.put(plain_message("cancel"))
    assert perform(job, events.append, inbox)
    (event,) = events
    assert (event["stopped"], event["why"]) == (
        "cancelled",
        "the loss was measured at 0 rates only: begin at a lower rate",
    )
