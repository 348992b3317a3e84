"""Several writers of one name at the same time, some of them killed, and readers between them.

Attacked are the files of a model, of a training, single files, and project files. A reader sees what one
writer wrote, whole; a writer that is refused names the holder; when the last one is done nothing lies next to
the files.
"""

from __future__ import annotations

import os
import random
import signal
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.core.errors import AbsentError, InUseError
from engine.files.inference import read_inference, write_inference
from engine.files.state import read_state, write_state
from engine.files.training import SUFFIXES, read_training, training_paths, write_training
from resources.locks import Lock, take
from studio.session.project.project_file import Project, read_project, write_project

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]

LONG = bool(os.environ.get("MODEL_STUDIO_LONG"))
SECONDS = 60.0 if LONG else 1.2
WRITERS = 3


@dataclass(frozen=True)
class Subject:
    """What is written: a call that writes a number everywhere in it, and one that reads all its numbers."""

    write: Callable[[Path, int], object]
    read: Callable[[Path], set[int]]
    files: frozenset[str]


def _write_model(folder: Path, value: int) -> None:
    write_inference(folder / "m", {"p": value}, {"w": np.full(100, value)}, {"i": value})


def _read_model(folder: Path) -> set[int]:
    files = read_inference(folder / "m")
    return {files.program["p"], int(files.weights["w"][0]), files.info["i"]}


def _write_training(folder: Path, value: int) -> None:
    paths = training_paths("test", folder / "m")
    write_training(paths, {suffix: {"v": value} for suffix in SUFFIXES})


def _read_training(folder: Path) -> set[int]:
    trees = read_training(training_paths("test", folder / "m"), SUFFIXES)
    return {tree["v"] for tree in trees.values()}


def _write_state(folder: Path, value: int) -> None:
    write_state(folder / "m.h5", {"a": value, "b": np.full(100, value)})


def _read_state(folder: Path) -> set[int]:
    tree = read_state(folder / "m.h5")
    return {tree["a"], int(tree["b"][-1])}


def _texts(project: Project) -> tuple[str, str]:
    return project.name, project.runs


SUBJECTS = {
    "model": Subject(_write_model, _read_model, frozenset({"m.pdmodel", "m.pdiparams", "m.pdiparams.info"})),
    "training": Subject(_write_training, _read_training, frozenset({"m.pdparams", "m.pdopt", "m.pdmodel"})),
    "project": Subject(
        lambda folder, value: write_project(folder / "p.json", Project(name=f"{value}", runs=f"{value}")),
        lambda folder: {int(text) for text in _texts(read_project(folder / "p.json"))},
        frozenset({"p.json"}),
    ),
    "state": Subject(_write_state, _read_state, frozenset({"m.h5"})),
}


def forked(action: Callable[[], Any]) -> int:
    """A child process that does ``action`` and nothing else; it ends with 3 and a traceback on an error."""
    pid = os.fork()
    if pid:
        return pid
    code = 3
    try:
        action()
        code = 0
    except BaseException:
        traceback.print_exc()
    os._exit(code)


@pytest.mark.parametrize("name", SUBJECTS)
def test_writers_that_are_killed_and_readers(tmp_path: Path, name: str) -> None:
    subject, seed = SUBJECTS[name], 20261122
    draw = random.Random(seed)
    subject.write(tmp_path, 0)
    ends = time.monotonic() + SECONDS
    kills = 0

    def keep_writing(number: int) -> None:
        value = number * 10**6
        while time.monotonic() < ends:
            value += 1
            subject.write(tmp_path, value)

    def keep_reading() -> None:
        while time.monotonic() < ends:
            assert len(found := subject.read(tmp_path)) == 1, found

    writers = {number: forked(lambda n=number: keep_writing(n)) for number in range(1, WRITERS + 1)}
    reader = forked(keep_reading)
    try:
        while time.monotonic() < ends - 0.2:
            time.sleep(draw.uniform(0.005, 0.1))
            number = draw.choice(list(writers))
            os.kill(writers[number], signal.SIGKILL)
            ended = os.waitstatus_to_exitcode(os.waitpid(writers.pop(number), 0)[1])
            assert ended == -signal.SIGKILL, f"seed {seed}: a writer failed"
            assert len(found := subject.read(tmp_path)) == 1, f"seed {seed}: {found}"
            kills += 1
            number = WRITERS + kills
            writers[number] = forked(lambda n=number: keep_writing(n))
    finally:
        codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in (*writers.values(), reader)]
    print(f"{name}: {kills} kills, seed {seed}")
    assert codes == [0] * len(codes), f"seed {seed}"
    subject.write(tmp_path, 7)
    assert subject.read(tmp_path) == {7}
    assert set(os.listdir(tmp_path)) == subject.files


@pytest.mark.parametrize("name", ["model", "training"])
def test_a_second_writer_is_refused_by_the_name_of_the_first(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.files.one_save._WRITER_WAITS", 0.0)
    subject = SUBJECTS[name]
    subject.write(tmp_path, 1)
    lock = take(tmp_path / ".m.lock")
    assert isinstance(lock, Lock)
    with pytest.raises(InUseError, match=f"is being saved by process {os.getpid()} on .* since") as caught:
        subject.write(tmp_path, 2)
    assert "\n" not in str(caught.value)
    assert subject.read(tmp_path) == {1}
    lock.release()
    subject.write(tmp_path, 2)
    assert subject.read(tmp_path) == {2}
    assert set(os.listdir(tmp_path)) == subject.files


def test_a_reader_does_not_finish_the_renames_of_a_living_writer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader that is late would rename a staged file over those of the next save, for good."""
    subject = SUBJECTS["model"]
    subject.write(tmp_path, 1)
    real, seen = os.replace, []

    def replace(source: Path, target: Path) -> None:
        real(source, target)
        if not seen:
            seen.append(subject.read(tmp_path))
            seen.append(len(list(tmp_path.glob(".*.staged"))))

    monkeypatch.setattr(os, "replace", replace)
    subject.write(tmp_path, 2)
    assert seen == [{2}, 2]


def test_a_mixture_of_this_moment_is_not_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that looks at one file before and at the others after a save looks again."""
    subject = SUBJECTS["model"]
    subject.write(tmp_path, 1)
    from engine.files import one_save

    real, looked = one_save._save_id, []

    def save_id(path: Path) -> str | None:
        found = real(path)
        if not looked:
            looked.append(path)
            subject.write(tmp_path, 2)
        return found

    monkeypatch.setattr(one_save, "_save_id", save_id)
    assert subject.read(tmp_path) == {2}


def test_absent_files_leave_no_lock(tmp_path: Path) -> None:
    with pytest.raises(AbsentError):
        read_inference(tmp_path / "m")
    assert os.listdir(tmp_path) == []
