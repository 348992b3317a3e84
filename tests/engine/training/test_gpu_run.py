"""A training on a GPU (the stand-in for CuPy): its record, and resuming it on the CPU."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from engine.core.place import get_device, place_guard
from engine.training import TrainingConfig, TrainingRun
from tests.cupy_stand_in.module import installed


def _config(out: Path, device: str) -> TrainingConfig:
    return TrainingConfig.from_dict(
        {
            "data": "digits",
            "model": "linear",
            "epochs": 1,
            "samples": 64,
            "batch_size": 32,
            "checkpoint_every": 0,
            "device": device,
            "out": str(out),
        }
    )


def _started(out: Path) -> list[dict[str, Any]]:
    events = [json.loads(line) for line in (out / "journal.jsonl").read_text("utf-8").splitlines()]
    return [event for event in events if event["event"] == "started"]


def test_a_run_begins_on_a_gpu_and_continues_without(tmp_path: Path) -> None:
    with installed(), place_guard("cpu"):
        assert TrainingRun(_config(tmp_path / "run", "auto")).run().step == 2
        assert get_device() == "gpu:0"
    with place_guard("cpu"):
        again = TrainingRun.from_folder(str(tmp_path / "run"), epochs=2, device="cpu")
        assert again.run().step == 4
    first, second = _started(tmp_path / "run")
    reported = first["environment"]
    assert (reported["device"], reported["cuda"], reported["driver"]) == ("gpu:0 (Stand-in)", "12.9", "12.9")
    assert first["config"]["device"] == "auto"
    assert "fallback" not in first
    assert second["environment"]["device"] == "cpu"
    assert "driver" not in second["environment"]
    assert second["differs"].endswith("device gpu:0 (Stand-in) before, cpu now")


def test_a_run_says_why_the_cpu_computes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "engine.kernels.cupy", None)
    with place_guard("cpu"):
        TrainingRun(_config(tmp_path / "run", "auto")).run()
    (started,) = _started(tmp_path / "run")
    assert started["fallback"].startswith("device auto: the CPU computes, because gpu:0 needs CuPy")
    assert started["environment"]["device"] == "cpu"
