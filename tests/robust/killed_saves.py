"""Saves as subjects of kills: afterwards the old is there or the new, and nothing else is left.

Every subject saves the value 1 first and 2 when it is killed; the next save of 3 then leaves what a save that
nothing stopped leaves.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

import engine
from engine import jit, nn, static
from engine.files.journal import JournalWriter, read_journal
from engine.files.native import installation
from engine.jit.input_spec import InputSpec
from engine.training import TrainingConfig, TrainingRun
from engine.training.exporting import export as export_room
from engine.training.exporting.check import Verified
from resources.locks import Lock, holder_of, take
from resources.settings.export import ExportSettings
from studio.session.project.code_agreement import check_run_code, remember_code
from studio.session.project.project_file import (
    Preferences,
    Project,
    read_preferences,
    read_project,
    write_preferences,
    write_project,
)
from tests.robust.killed_trainings import write_bars


class Save:
    """What all saves share."""

    name = ""

    def save(self, folder: Path, value: int) -> None:
        """Save ``value``."""
        raise NotImplementedError

    def load(self, folder: Path) -> int:
        """The value that is there; 0 where there is none. Raises for a mixture."""
        raise NotImplementedError

    def prepare(self, folder: Path) -> None:
        self.save(folder, 1)

    def act(self, folder: Path) -> None:
        self.save(folder, 2)

    def check(self, folder: Path, done: bool) -> str:
        found = self.load(folder)
        assert found in ((2,) if done else (1, 2)), f"{found} is there"
        assert self.load(folder) == found  # what the first reader has fixed stays so
        self.save(folder, 3)
        assert self.load(folder) == 3
        left = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
        assert left == self.files(), f"left are {sorted(left - self.files())}"
        return "old" if found == 1 else "new"

    def files(self) -> set[str]:
        """What a save leaves."""
        raise NotImplementedError


class StateSave(Save):
    """``paddle.save`` of a state dict."""

    name = "paddle.save"

    def save(self, folder: Path, value: int) -> None:
        engine.save({"w": engine.full([3000], value), "n": value}, str(folder / "a.pdparams"))

    def load(self, folder: Path) -> int:
        tree = engine.load(str(folder / "a.pdparams"))
        assert tree["w"].numpy().tolist() == [tree["n"]] * 3000
        return int(tree["n"])

    def files(self) -> set[str]:
        return {"a.pdparams"}


class Scaled(nn.Layer):
    """Gives its one weight; another model for each value, so that a mixture can't be run."""

    def __init__(self, value: int) -> None:
        super().__init__()
        self.scale = self.create_parameter([value], default_initializer=nn.initializer.Constant(value))

    def forward(self, x: Any) -> Any:
        return x + self.scale


def _value_of(scores: np.ndarray) -> int:
    value = int(scores.reshape(-1)[0])
    assert scores.reshape(-1).tolist() == [value] * value, scores
    return value


class JitSave(Save):
    """``jit.save`` of a Layer."""

    name = "jit.save"

    def save(self, folder: Path, value: int) -> None:
        jit.save(Scaled(value), str(folder / "m"), input_spec=[InputSpec([1], "float32", "x")])

    def load(self, folder: Path) -> int:
        return _value_of(jit.load(str(folder / "m"))(engine.zeros([1])).numpy())

    def files(self) -> set[str]:
        return {"m.pdmodel", "m.pdiparams", "m.pdiparams.info"}


class _Static(Save):
    def _made(self, value: int) -> tuple[Any, Any, Any, Any]:
        program, startup = static.Program(), static.Program()
        with static.program_guard(program, startup):
            x = static.data("x", [1], "float32")
            attribute = engine.ParamAttr("scale", initializer=nn.initializer.Constant(value))
            y = x + static.create_parameter([value], "float32", attr=attribute)
        executor = static.Executor()
        executor.run(startup)
        return program, x, y, executor

    def save(self, folder: Path, value: int) -> None:
        engine.enable_static()
        try:
            with static.scope_guard(static.Scope()):
                self._save(folder, *self._made(value))
        finally:
            engine.disable_static()

    def load(self, folder: Path) -> int:
        engine.enable_static()
        try:
            with static.scope_guard(static.Scope()):
                return self._load(folder)
        finally:
            engine.disable_static()

    def _save(self, folder: Path, program: Any, x: Any, y: Any, executor: Any) -> None:
        raise NotImplementedError

    def _load(self, folder: Path) -> int:
        raise NotImplementedError


class InferenceSave(_Static):
    """``static.save_inference_model``."""

    name = "save_inference_model"

    def _save(self, folder: Path, program: Any, x: Any, y: Any, executor: Any) -> None:
        static.save_inference_model(str(folder / "m"), [x], [y], executor, program=program)

    def _load(self, folder: Path) -> int:
        executor = static.Executor()
        program, feeds, fetches = static.load_inference_model(str(folder / "m"), executor)
        (scores,) = executor.run(program, feed={feeds[0]: np.zeros(1, "float32")}, fetch_list=fetches)
        return _value_of(scores)

    def files(self) -> set[str]:
        return {"m.pdmodel", "m.pdiparams", "m.pdiparams.info"}


class ProgramSave(_Static):
    """``static.save`` of a Program with its values."""

    name = "static.save"

    def _save(self, folder: Path, program: Any, x: Any, y: Any, executor: Any) -> None:
        static.save(program, str(folder / "m"))

    def _load(self, folder: Path) -> int:
        (weight,) = static.load_program_state(str(folder / "m")).values()
        (parameter,) = engine.load(str(folder / "m.pdmodel")).all_parameters()
        value = _value_of(weight)
        assert list(parameter.shape) == [value]
        return value

    def files(self) -> set[str]:
        return {"m.pdmodel", "m.pdparams", "m.pdopt"}


class Export(Save):
    """The export of a run: that of step 4 and that of step 8, which is checked by loading it."""

    name = "export"

    def prepare(self, folder: Path) -> None:
        # The files are read back in this process: a clean one for every kill would take a second each.
        export_room.verify = _verify_here
        if not self._place().exists():
            self._train()
        self.save(folder, 1)

    def _train(self) -> None:
        self._place().mkdir()
        write_bars(self._place() / "data")
        TrainingRun(
            TrainingConfig(
                str(self._place() / "data"),
                "linear",
                batch_size=6,
                epochs=2,
                seed=3,
                keep=9,
                out=str(self._place() / "run"),
            )
        ).run()

    def save(self, folder: Path, value: int) -> None:
        export_room.verify = _verify_here
        step = 4 if value == 1 else 8
        export_room.export_run(
            self._place() / "run", str(folder / "out" / "m"), ExportSettings(samples=2), step=step
        )

    def load(self, folder: Path) -> int:
        from engine.files.inference import read_inference

        files = read_inference(folder / "out" / "m")
        bias = next(array for array in files.weights.values() if array.ndim == 1)
        tree = engine.files.checkpoint.read_checkpoint(
            self._place() / "run" / "checkpoints" / f"step-{files.info['info']['step']:08d}.h5"
        )
        assert any(np.array_equal(bias, array) for array in tree["model"].values())
        return 1 if files.info["info"]["step"] == 4 else 2

    def check(self, folder: Path, done: bool) -> str:
        found = self.load(folder)
        assert found in ((2,) if done else (1, 2)), f"{found} is there"
        self.save(folder, 2)
        assert self.load(folder) == 2
        left = {path.relative_to(folder).as_posix() for path in folder.rglob("*")}
        assert left == self.files() | {"out"}, f"left are {sorted(left)}"
        return "old" if found == 1 else "new"

    def files(self) -> set[str]:
        return {"out/m.pdmodel", "out/m.pdiparams", "out/m.pdiparams.info"}

    def _place(self) -> Path:
        return Path(os.environ["XDG_STATE_HOME"]) / "export"


def _verify_here(written: Path, images: np.ndarray, target: Path, work: Path) -> Verified:
    with engine.no_grad():
        scores = jit.load(str(written))(engine.to_tensor(images)).numpy()
    return Verified(scores, 0.0, 0.0)


class ProjectSave(Save):
    """A project file."""

    name = "project"

    def save(self, folder: Path, value: int) -> None:
        write_project(folder / "p.studio.json", Project(name=f"{value}" * 100))

    def load(self, folder: Path) -> int:
        name = read_project(folder / "p.studio.json").name
        assert name == name[0] * 100
        return int(name[0])

    def files(self) -> set[str]:
        return {"p.studio.json"}


class PreferencesSave(Save):
    """The preferences, and with them what was agreed to."""

    name = "preferences"

    def save(self, folder: Path, value: int) -> None:
        os.environ["XDG_CONFIG_HOME"] = str(folder / "config")
        write_preferences(Preferences(recent_models=[f"{value}" * 100]))

    def load(self, folder: Path) -> int:
        os.environ["XDG_CONFIG_HOME"] = str(folder / "config")
        preferences, trouble = read_preferences()
        assert not trouble, trouble
        return int(preferences.recent_models[0][0])

    def files(self) -> set[str]:
        return {"config/model-studio/preferences.json"}


class TrustSave(Save):
    """``--trust``: the list of what was agreed to grows, and loses nothing."""

    name = "trust"

    def prepare(self, folder: Path) -> None:
        for value in (1, 2, 3):
            source = folder / f"run{value}" / "source"
            source.mkdir(parents=True)
            (source / "model.py").write_text(f"{value}\n")
        self.save(folder, 1)

    def save(self, folder: Path, value: int) -> None:
        os.environ["XDG_CONFIG_HOME"] = str(folder / "config")
        code = check_run_code(folder / f"run{value}", ()).code
        assert code is not None
        assert remember_code(code) == ""

    def load(self, folder: Path) -> int:
        os.environ["XDG_CONFIG_HOME"] = str(folder / "config")
        preferences, trouble = read_preferences()
        assert not trouble, trouble
        agreed = [v for v in (1, 2, 3) if check_run_code(folder / f"run{v}", preferences.agreed).code is None]
        # The number of the newest agreement; those before it must be there too.
        assert agreed in ([1], [1, 2], [1, 3], [1, 2, 3]), agreed
        return agreed[-1]

    def files(self) -> set[str]:
        return {"config/model-studio/preferences.json", *(f"run{v}/source/model.py" for v in (1, 2, 3))}


class KeySave(Save):
    """The installation's key: there is one after the next start, and it stays the same."""

    name = "installation key"

    def prepare(self, folder: Path) -> None:
        (folder / "data").mkdir()

    def save(self, folder: Path, value: int) -> None:
        os.environ["XDG_DATA_HOME"] = str(folder / "data")
        assert len(installation.installation_key() or b"") == 32

    def load(self, folder: Path) -> int:
        os.environ["XDG_DATA_HOME"] = str(folder / "data")
        return 2 if installation.key_path().exists() else 1

    def check(self, folder: Path, done: bool) -> str:
        found = self.load(folder)
        assert found == 2 or not done
        before = installation.key_path().read_bytes() if found == 2 else None
        self.save(folder, 3)
        assert before in (None, installation.key_path().read_bytes())
        left = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
        assert left == self.files(), f"left are {sorted(left)}"
        return "old" if found == 1 else "new"

    def files(self) -> set[str]:
        return {"data/model-studio/installation.key"}


class Journal(Save):
    """A journal: the events that were written come first, whole and in order; the next go after them."""

    name = "journal"
    _EVENTS = 12

    def prepare(self, folder: Path) -> None:
        pass

    def act(self, folder: Path) -> None:
        path = folder / "journal.jsonl"
        with JournalWriter(path) as journal:
            # After a kill it continues where that one stopped.
            for step in range(path.read_bytes().count(b"\n"), self._EVENTS):
                journal.write({"event": "step", "step": step, "loss": step / 7})
            journal.sync()

    def check(self, folder: Path, done: bool) -> str:
        path = folder / "journal.jsonl"
        begun = path.exists() and bool(path.read_bytes())
        steps = [event["step"] for event in read_journal(path).events] if begun else []
        assert steps == list(range(len(steps)))
        assert len(steps) == self._EVENTS or not done, steps
        with JournalWriter(path) as journal:
            journal.write({"event": "step", "step": 99})
        after = read_journal(path)
        assert [event["step"] for event in after.events] == [*steps, 99]
        assert after.notes == ()
        assert [p.name for p in folder.iterdir()] == ["journal.jsonl"]
        return "whole" if len(steps) == self._EVENTS else "a part"


class LockTaking(Save):
    """A lock: it goes with its holder, whatever moment that is killed at."""

    name = "run.lock"

    def prepare(self, folder: Path) -> None:
        pass

    def act(self, folder: Path) -> None:
        taken = take(folder / "run.lock")
        assert isinstance(taken, Lock)
        (folder / "work").write_text(json.dumps("done"))
        taken.release()

    def check(self, folder: Path, done: bool) -> str:
        found = (folder / "run.lock").exists()
        assert holder_of(folder / "run.lock") is None
        taken = take(folder / "run.lock")
        assert isinstance(taken, Lock), taken
        assert holder_of(folder / "run.lock") is not None
        taken.release()
        assert not (folder / "run.lock").exists()
        return "left" if found else "not there"


SAVES: tuple[type[Save], ...] = (
    StateSave,
    JitSave,
    InferenceSave,
    ProgramSave,
    Export,
    ProjectSave,
    PreferencesSave,
    TrustSave,
    KeySave,
    Journal,
    LockTaking,
)
