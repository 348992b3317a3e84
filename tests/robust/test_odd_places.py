"""Names of 300 characters and a folder for temporary files that is missing or can't be written.

Attacked is everything that takes a name from outside. Each gives a result or one line of the engine's or the
project's own error, never a raw OSError, and leaves nothing behind.
"""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine import jit, nn, static
from engine.core.errors import EngineError, SaveError
from engine.files.inference import describe_inference, read_inference, write_inference
from engine.files.native.in_memory import container_bytes, read_container_bytes
from engine.files.training import SUFFIXES, training_paths, write_training
from engine.training.folder.run_folder import RunFolder
from resources.run_folders import new_run_folder
from studio.session.project.project_file import Project, ProjectError, read_project, write_project

LONG_NAME = "n" * 300
ODD_NAMES = [LONG_NAME, "é" * 200, f"{LONG_NAME}/a"]


def _export(path: Path) -> object:
    layer = nn.Linear(2, 1)
    return jit.save(layer, str(path), input_spec=[static.InputSpec([None, 2], "float32", "x")])


CALLS: dict[str, Callable[[Path], object]] = {
    "save": lambda path: engine.save({"w": engine.ones([2])}, str(path)),
    "load": lambda path: engine.load(str(path)),
    "jit.save": _export,
    "jit.load": lambda path: jit.load(str(path)),
    "write_inference": lambda path: write_inference(path, {}, {}, {}),
    "read_inference": read_inference,
    "describe_inference": describe_inference,
    "training": lambda path: write_training(
        training_paths("test", path), {suffix: {} for suffix in SUFFIXES}
    ),
    "run": lambda path: RunFolder(path).open([], None),
    "resume": lambda path: RunFolder(path).latest_checkpoint(),
    "project": lambda path: write_project(path, Project(), seen="0" * 64),
    "open project": read_project,
}


@pytest.mark.parametrize("name", ODD_NAMES, ids=["long", "wide", "below"])
@pytest.mark.parametrize("call", CALLS)
def test_names_that_no_file_can_have(tmp_path: Path, call: str, name: str) -> None:
    with pytest.raises((EngineError, ProjectError)) as caught:
        CALLS[call](tmp_path / name)
    assert "\n" not in str(caught.value)
    assert "; " in str(caught.value)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("length", [200, 240])
def test_long_names_that_a_file_can_have(tmp_path: Path, length: int) -> None:
    name = "n" * length
    for value in (1, 2):
        write_inference(tmp_path / name, {"p": value}, {"w": np.full(3, value)}, {})
        engine.save({"v": value}, str(tmp_path / f"{name}.s"))
    assert read_inference(tmp_path / name).program == {"p": 2}
    assert engine.load(str(tmp_path / f"{name}.s"))["v"] == 2
    assert len(os.listdir(tmp_path)) == 4


def test_names_of_layers_parameters_and_runs_may_be_long(tmp_path: Path) -> None:
    layer = nn.Linear(2, 1, weight_attr=engine.ParamAttr(name=LONG_NAME), name=LONG_NAME)
    layer.add_sublayer(LONG_NAME, nn.Linear(1, 1))
    engine.save(layer.state_dict(), str(tmp_path / "a"))
    assert set(engine.load(str(tmp_path / "a"))) == set(layer.state_dict())
    jit.save(layer, str(tmp_path / "m"), input_spec=[static.InputSpec([None, 2], "float32", LONG_NAME)])
    assert jit.load(str(tmp_path / "m")).state_dict()
    run = new_run_folder(tmp_path, f"mine.py:{LONG_NAME}", True)
    run.mkdir()
    assert new_run_folder(tmp_path, f"mine.py:{LONG_NAME}", True) != run


@pytest.mark.parametrize("trouble", ["missing", "full"])
def test_no_temporary_file_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trouble: str
) -> None:
    data = container_bytes("state", 1, {"v": 1})
    monkeypatch.setattr("engine.files.native.in_memory.installation_key", lambda: None)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / ("absent" if trouble == "missing" else "")))

    def fail(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if trouble == "full":
        monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(SaveError, match=r"no temporary file could be written.*; set TMPDIR") as caught:
        read_container_bytes(data, "state", 1, "BytesIO")
    assert "\n" not in str(caught.value)
    with pytest.raises(SaveError, match=r"^BytesIO: no temporary file"):
        engine.load(io.BytesIO(data))
    assert os.listdir(tmp_path) == []
