"""Trainings as subjects of kills: each continues, or begins anew, and ends as one that nothing stopped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.core.errors import ArgumentError, DataError
from engine.files.checkpoint import latest_checkpoint, read_checkpoint
from engine.files.journal import read_run
from engine.training import TrainingConfig, TrainingRun
from studio.session.runs.runs_folder import list_runs

OWN_MODEL = '''"""A model with all that has a state: dropout, running statistics, code next to it."""

import engine
import engine.nn.functional as F
from engine import nn
from helper import features


class Own(nn.Layer):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1D(28)
        self.linear = nn.Linear(28, 10)

    def forward(self, x):
        x = F.dropout(self.norm(features(x)), 0.3, training=self.training)
        return self.linear(x)
'''
HELPER = '''"""What the model of a user imports from next to it."""


def features(x):
    return x.mean(axis=[1, 2])
'''
KINDS = ("static", "eager", "own model", "resumed")
CANCELLED = "cancelled"
# Of an event: what differs from run to run, and where it lies.
_OTHER = (
    "time",
    "seconds",
    "elapsed",
    "samples_per_second",
    "seconds_left",
    "memory",
    "folder",
    "checkpoint",
)


def write_bars(folder: Path) -> None:
    """Twenty-four images for training and eight for the test: a bar whose height is the class."""
    draw = np.random.default_rng(0)
    folder.mkdir()
    for name, count in (("train", 24), ("t10k", 8)):
        labels = draw.integers(0, 10, count)
        images = draw.integers(0, 60, (count, 28, 28))
        for image, label in zip(images, labels, strict=True):
            image[2 * label + 4 : 2 * label + 7, 4:24] = 255
        for kind, array in (("images-idx3", images), ("labels-idx1", labels)):
            head = bytes([0, 0, 8, array.ndim]) + b"".join(size.to_bytes(4, "big") for size in array.shape)
            (folder / f"{name}-{kind}-ubyte").write_bytes(head + array.astype(np.uint8).tobytes())


class Training:
    """A training of four steps an epoch with a checkpoint at every second one.

    Args:
        kind: one of KINDS, or CANCELLED; ``resumed`` is killed while it continues from a checkpoint of the
            first epoch, ``cancelled`` while it removes what it wrote, too.
        place: a folder for the data and the model's code, which are not attacked.
    """

    def __init__(self, kind: str, place: Path, epochs: int = 2) -> None:
        self.name, self._epochs = f"training, {kind}", epochs
        self._resumed, self._cancelled = kind == "resumed", kind == CANCELLED
        self._place = place
        place.mkdir(parents=True)
        write_bars(place / "data")
        (place / "own.py").write_text(OWN_MODEL)
        (place / "helper.py").write_text(HELPER)
        self._model = "linear" if kind in ("static", "eager") else f"{place / 'own.py'}:Own"
        self._static = kind != "eager"
        self._whole = place / "whole" / "run"

    def prepare(self, folder: Path) -> None:
        self._run(self._whole).run()
        if self._resumed:
            run = self._run(self._out(folder))
            run.listeners.append(lambda event: run.interrupt() if event["event"] == "checkpoint" else None)
            assert run.run().reason == "interrupted"

    def act(self, folder: Path) -> None:
        if self._resumed:
            TrainingRun.from_folder(self._out(folder)).run()
        else:
            run = self._run(self._out(folder))
            if self._cancelled:
                run.listeners.append(lambda event: run.cancel() if event["event"] == "epoch" else None)
            run.run()

    def again(self, folder: Path) -> None:
        """Continue after a kill: resume where that is possible, else begin anew."""
        try:
            run = TrainingRun.from_folder(self._out(folder))
        except DataError:
            run = self._run(self._out(folder))
        run.run()

    def check(self, folder: Path, done: bool) -> str:
        out = self._out(folder)
        listed = {run.name: run for run in list_runs(folder / "runs")}
        if done and self._cancelled:
            assert not out.exists() or [path.name for path in out.iterdir()] in ([], ["run.lock"])
        elif done:
            assert listed[out.name].state == "finished"
            self._compare(out, removed=False)
            return "done"
        found = self._goes_on(folder)
        self._compare(out)
        again = {run.name: run for run in list_runs(folder / "runs")}
        assert again[out.name].state == "finished"
        return found

    def _goes_on(self, folder: Path) -> str:
        out = self._out(folder)
        if latest_checkpoint(out / "checkpoints").entry is None:
            assert not self._resumed
            with pytest.raises(DataError, match="start a new run in this folder"):
                TrainingRun.from_folder(out)
            self._run(out).run()
            return "begun anew"
        with pytest.raises(ArgumentError, match="resume that run"):
            self._run(out).run()
        TrainingRun.from_folder(out).run()
        return "resumed"

    def _compare(self, out: Path, removed: bool = True) -> None:
        """``removed`` False: a power cut may bring back what was removed just before, old checkpoints."""
        found, expected = result_of(out), result_of(self._whole)
        if not removed:
            more = set(found["files"]) - set(expected["files"])
            assert more <= {"run.lock", *(f"checkpoints/step-0000000{step}.h5" for step in (0, 2, 4))}, more
            found["files"] = [name for name in found["files"] if name not in more]
            found["checkpoints"] = {name: found["checkpoints"][name] for name in expected["checkpoints"]}
        for name, value in expected.items():
            if self._cancelled and name not in ("files", "checkpoints"):
                continue  # a cancel takes the record away first
            assert_same(value, found[name], name)

    def _out(self, folder: Path) -> Path:
        return folder / "runs" / "run"

    def _run(self, out: Path) -> TrainingRun:
        return TrainingRun(
            TrainingConfig(
                str(self._place / "data"),
                self._model,
                batch_size=6,
                epochs=self._epochs,
                seed=3,
                static=self._static,
                checkpoint_every=2,
                keep=2,
                out=str(out),
            )
        )


def result_of(out: Path) -> dict[str, Any]:
    """What a run left: its files, all states in its checkpoints, and its journal without times."""
    files = sorted(path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file())
    checkpoints = {path.name: read_checkpoint(path) for path in sorted((out / "checkpoints").iterdir())}
    for tree in checkpoints.values():
        del tree["config"]
    events = [json.loads(line) for line in (out / "journal.jsonl").read_text().splitlines()]
    fields = ("step", "epoch", "finished")
    journal = [
        {name: value for name, value in event.items() if name not in _OTHER}
        for event in events
        if event["event"] in fields
    ]
    while journal[-2] == journal[-1]:  # resumed at its end, a run says once more that it is finished
        del journal[-1]
    columns = {name: read_run(out).columns[name] for name in ("step", "epoch")}
    for table in columns.values():
        for name in _OTHER:
            table.pop(name, None)
    return {"files": files, "checkpoints": checkpoints, "journal": journal, "columns": columns}


def assert_same(one: Any, other: Any, place: str) -> None:
    """Both are of the same types and bits throughout."""
    assert type(one) is type(other), f"{place}: {type(one)} and {type(other)}"
    if isinstance(one, dict):
        assert one.keys() == other.keys(), f"{place}: {sorted(one)} and {sorted(other)}"
        for name in one:
            assert_same(one[name], other[name], f"{place}.{name}")
    elif isinstance(one, list | tuple):
        assert len(one) == len(other), f"{place}: {one} and {other}"
        for index, (a, b) in enumerate(zip(one, other, strict=True)):
            assert_same(a, b, f"{place}[{index}]")
    elif isinstance(one, np.ndarray):
        assert (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes()), place
    else:
        assert repr(one) == repr(other), f"{place}: {one} and {other}"
