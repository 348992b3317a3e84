"""The command verify: its line, its JSON and its exit status."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from typer.testing import CliRunner

from engine.core.models.limits import ModelLimits, current
from engine.inference import verify_model as checking
from studio.cli import app


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    differences = {"prediction": 1e-7}

    def verify(
        path: str, samples: int, seed: int, tolerance: float, limits: ModelLimits
    ) -> checking.Verified:
        assert limits.memory == (3_000_000_000 if samples == 7 else current().memory)
        times = [{"batch": 1, "p50": 0.001, "p95": 0.002}, {"batch": 64, "p50": 0.01, "p95": 0.02}]
        return checking.Verified(
            path, "packed", True, samples, seed, differences, times, False, 0.5, tolerance
        )

    monkeypatch.setattr(checking, "verify_model", verify)
    return differences


def run(*words: str) -> Any:
    return CliRunner().invoke(app, ["verify", "m.h5", *words])


def test_a_model_that_agrees(found: dict[str, float]) -> None:
    done = run("--samples", "8")
    assert done.exit_code == 0
    assert done.stdout == (
        "m.h5: agrees; packed, loaded in a clean process in 500 ms; largest difference over 8 samples, as a "
        "share of the largest result: prediction 1e-7; batch 1: p50 1 ms, p95 2 ms; batch 64: p50 10 ms, "
        "p95 20 ms\n"
    )


def test_a_model_that_differs(found: dict[str, float]) -> None:
    found["onnxruntime"] = 0.5
    done = run("--json")
    assert done.exit_code == 3
    said = json.loads(done.stdout)
    assert (said["agrees"], said["differences"]["onnxruntime"], said["latencies"][1]["batch"]) == (
        False,
        0.5,
        64,
    )
    assert "DIFFERS by more than 0.0001" in run().stdout


def test_a_batch_without_times(found: dict[str, float], monkeypatch: pytest.MonkeyPatch) -> None:
    kept = checking.verify_model

    def verify(*given: Any) -> checking.Verified:
        times = [{"batch": 1, "p50": 0.001, "p95": 0.002}, {"batch": 64, "p50": None, "p95": None}]
        return replace(kept(*given), latencies=times)

    monkeypatch.setattr(checking, "verify_model", verify)
    assert run().stdout.endswith("p95 2 ms; batch 64: over the limits of an untrusted model\n")


def test_the_limits_are_those_that_are_given(found: dict[str, float]) -> None:
    assert run("--samples", "7", "--memory", "3 GB").exit_code == 0
    assert run("--memory", "much").exit_code == 2


def test_the_tolerance_is_the_users(found: dict[str, float]) -> None:
    found["onnxruntime"] = 0.5
    assert run("--tolerance", "1").exit_code == 0
    assert run("--samples", "0").exit_code == 2
