"""What the window learns of this machine's GPUs, from a child process."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from studio.session.train import devices
from studio.session.train.devices import Devices, Gpu, answered, ask
from tests.cupy_stand_in.module import installed


def test_the_child_reports_its_gpus(capsys: pytest.CaptureFixture[str]) -> None:
    with installed():
        devices.tell()
    found = answered("a line of the driver\n" + capsys.readouterr().out, 0)
    (gpu,) = found.gpus
    assert (gpu.index, gpu.name, gpu.total) == (0, "Stand-in", 8 << 30)
    assert 0 < gpu.free <= gpu.total
    assert found.why == ""


def test_a_child_that_finds_none(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "engine.kernels.cupy", None)
    devices.tell()
    found = answered(capsys.readouterr().out, 0)
    assert found.gpus == ()
    assert found.why.startswith("needs CuPy, which is not installed")


@pytest.mark.parametrize(("text", "status"), [("", 0), (json.dumps({}), -11)])
def test_a_child_that_dies(text: str, status: int) -> None:
    found = answered(text, status)
    assert (found.gpus, found.cupy) == ((), True)
    assert f"ended with status {status}; check it with nvidia-smi" in found.why


def test_asking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "has_cupy", lambda: False)
    assert ask() is devices.NO_CUPY
    monkeypatch.setattr(devices, "has_cupy", lambda: True)
    asked: list[list[str]] = []

    def run(words: list[str], **_: Any) -> Any:
        asked.append(words)
        outcome = {"gpus": [[1, "A", 5, 7]], "why": ""}
        return subprocess.CompletedProcess(words, 0, json.dumps(outcome), "")

    monkeypatch.setattr(subprocess, "run", run)
    assert ask() == Devices((Gpu(1, "A", 5, 7),))
    assert asked[0][0] == sys.executable

    def hangs(words: list[str], timeout: float, **_: Any) -> Any:
        raise subprocess.TimeoutExpired(words, timeout)

    monkeypatch.setattr(subprocess, "run", hangs)
    assert "no answer in 30 s" in ask().why

    def absent(*_: Any, **__: Any) -> Any:
        raise OSError(2, "No such file")

    monkeypatch.setattr(subprocess, "run", absent)
    assert ask().why == "the driver could not be asked: No such file"
