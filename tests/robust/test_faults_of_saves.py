"""Attacks every save with faults of the disk, want of memory and Ctrl-C, at every operation on files.

After each: the old content or the new one, never a mixture; an error of the engine in one line that names the
path; no temporary files; no open descriptors; and the next save works.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine import nn, static
from engine.core.errors import EngineError
from engine.files.checkpoint import latest_checkpoint, prune_checkpoints, read_checkpoint, write_checkpoint
from engine.files.journal import JOURNAL_NAME, JournalWriter, pack_run, read_journal, read_run
from engine.files.native.installation import installation_key, key_path
from studio.session.project.project_file import (
    Preferences,
    Project,
    read_preferences,
    read_project,
    write_preferences,
    write_project,
)
from tests.robust.faults import FAULTS, Fault, every_fault, temporaries


class Subject:
    """Something that is saved: ``save(value)``, and ``load()`` gives the value back."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def save(self, value: int) -> None:
        raise NotImplementedError

    def load(self) -> int:
        raise NotImplementedError

    def there(self) -> bool:
        """Whether there is anything to load."""
        return any(path.is_file() and not path.name.startswith(".") for path in self.folder.rglob("*"))


class State(Subject):
    def save(self, value: int) -> None:
        engine.save({"w": engine.full([300], value), "n": value}, str(self.folder / "deep" / "a.pdparams"))

    def load(self) -> int:
        found = engine.load(str(self.folder / "deep" / "a.pdparams"))
        assert (found["w"].numpy() == found["n"]).all()
        return int(found["n"])


class Net(nn.Layer):
    def __init__(self, value: int) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 1)
        self.linear.weight.set_value(np.full((2, 1), value, np.float32))
        self.linear.bias.set_value(np.full(1, value, np.float32))

    def forward(self, x: Any) -> Any:
        return self.linear(x)


class Converted(Subject):
    def save(self, value: int) -> None:
        spec = [static.InputSpec([None, 2], "float32", "x")]
        engine.jit.save(Net(value), str(self.folder / "m" / "model"), input_spec=spec, info={"value": value})

    def load(self) -> int:
        layer = engine.jit.load(str(self.folder / "m" / "model"))
        found = float(layer(engine.ones([1, 2])).numpy()[0, 0])
        assert found % 3 == 0
        return int(found) // 3


class Static(Subject):
    def save(self, value: int) -> None:
        engine.enable_static()
        try:
            program, startup = static.Program(), static.Program()
            with static.program_guard(program, startup), static.scope_guard(static.Scope()):
                x = static.data("x", [None, 2])
                constant = nn.initializer.Constant(value)
                y = static.nn.fc(x, 1, weight_attr=engine.ParamAttr(initializer=constant), bias_attr=False)
                executor = static.Executor()
                executor.run(startup)
                static.save_inference_model(str(self.folder / "s" / "model"), [x], [y], executor)
        finally:
            engine.disable_static()

    def load(self) -> int:
        engine.enable_static()
        try:
            executor = static.Executor()
            with static.scope_guard(static.Scope()):
                program, feeds, fetches = static.load_inference_model(
                    str(self.folder / "s" / "model"), executor
                )
                (y,) = executor.run(program, {feeds[0]: np.ones((1, 2), np.float32)}, fetches)
            return int(y[0, 0]) // 2
        finally:
            engine.disable_static()


class ProjectFile(Subject):
    def save(self, value: int) -> None:
        write_project(self.folder / "p.studio.json", Project(name=f"{value}"))

    def load(self) -> int:
        return int(read_project(self.folder / "p.studio.json").name)


class PreferencesFile(Subject):
    def save(self, value: int) -> None:
        write_preferences(Preferences(recent_projects=[f"{value}"]))

    def load(self) -> int:
        found, trouble = read_preferences()
        assert not trouble
        return int(found.recent_projects[0])


class Checkpoint(Subject):
    """Saving is writing the next one and removing the oldest; at any time one is there to continue from."""

    def save(self, value: int) -> None:
        write_checkpoint(self.folder / "c", value, {"value": value, "w": np.full(500, value)})
        prune_checkpoints(self.folder / "c", 1)

    def load(self) -> int:
        latest = latest_checkpoint(self.folder / "c")
        assert latest.entry is not None, latest.skipped
        tree = read_checkpoint(latest.entry.path)
        assert (tree["w"] == tree["value"]).all()
        return int(tree["value"])


SUBJECTS: dict[str, Callable[[Path], Subject]] = {
    "state": State,
    "converted": Converted,
    "static": Static,
    "project": ProjectFile,
    "preferences": PreferencesFile,
    "checkpoint": Checkpoint,
}


@pytest.mark.parametrize("before", ["old", "nothing"])
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
@pytest.mark.parametrize("name", SUBJECTS)
def test_a_save_is_whole_or_not_at_all(
    name: str, fault: Fault, before: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "place"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(place / "config"))
    place.mkdir()
    subject = SUBJECTS[name](place)

    def prepare() -> None:
        clear(place)
        if before == "old":
            subject.save(1)

    def check(error: BaseException | None, said: str) -> None:
        check_message(error, fault, place, said)
        if error is not None and not subject.there():
            assert before == "nothing", said
        else:
            # A save that failed may have come to its end before that, as when syncing the folder fails.
            found = subject.load()
            assert found == 2 or (error is not None and before == "old" and found == 1), said
        # After loading, because that finishes what was interrupted between two renames.
        left = temporaries(place)
        if not removing_failed(fault, said):
            assert not left, f"{said}: {left}"
        subject.save(3)
        assert subject.load() == 3, said
        assert not temporaries(place), f"{said}: {temporaries(place)}"

    every_fault(place, fault, prepare, lambda: subject.save(2), check, short=5)


def clear(place: Path) -> None:
    for path in sorted(place.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()


def check_message(error: BaseException | None, fault: Fault, place: Path, said: str) -> None:
    """What came out is the interruption itself, want of memory, or one line of ours that names a path."""
    if error is None or isinstance(error, KeyboardInterrupt | MemoryError):
        return
    assert isinstance(error, EngineError), said
    assert "\n" not in str(error), said
    assert str(place) in str(error), said
    assert "; " in str(error), said  # what to do
    if fault.number:
        assert isinstance(error, OSError)
        assert error.errno == fault.number, said


def removing_failed(fault: Fault, said: str) -> bool:
    return fault.name == "read_only" or "(unlink " in said or "(remove " in said


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_journal_keeps_what_was_written(fault: Fault, tmp_path: Path) -> None:
    """Lines before the fault stay, half a line goes, and packing can be done again."""
    place = tmp_path / "run"
    place.mkdir()
    path = place / JOURNAL_NAME
    written: list[int] = []

    def prepare() -> None:
        clear(place)
        written.clear()

    def write(first: int) -> None:
        writer = JournalWriter(path)
        try:
            for step in range(first, first + 6):
                writer.write({"event": "step", "step": step, "loss": 0.5})
                written.append(step)
            writer.sync()
        finally:
            writer.close()
        pack_run(place)

    def check(error: BaseException | None, said: str) -> None:
        check_message(error, fault, place, said)
        if not removing_failed(fault, said):
            assert not temporaries(place), said
        whole = read_journal(path).events if path.exists() else []
        steps = [event["step"] for event in whole]
        assert steps == written or steps == [*written, len(written)], (
            said
        )  # written, but reported as a failure
        write(100)
        assert [event["step"] for event in read_journal(path).events] == [*steps, *range(100, 106)], said
        assert read_run(place).columns["step"]["step"].tolist() == [*steps, *range(100, 106)], said

    every_fault(place, fault, prepare, lambda: write(0), check, short=10)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_key_is_whole_or_absent(fault: Fault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a key every file counts as foreign; the next start makes a whole one."""
    place = tmp_path / "data"
    place.mkdir()
    monkeypatch.setenv("XDG_DATA_HOME", str(place))

    def check(error: BaseException | None, said: str) -> None:
        assert error is None or isinstance(error, KeyboardInterrupt | MemoryError), said
        assert not key_path().exists() or len(key_path().read_bytes()) == 32, said
        if not removing_failed(fault, said):
            assert not temporaries(place), said
        assert installation_key() == key_path().read_bytes(), said

    every_fault(place, fault, lambda: clear(place), installation_key, check)
