"""Readers of journals, model information, configs and project files, given structures that no writer makes.

Whatever a file says, a reader answers or raises the engine's or the project's own error in one line.
"""

from __future__ import annotations

import copy
import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.core.errors import EngineError
from engine.files.journal import pack_run, read_run
from engine.training.config import TrainingConfig
from engine.training.run_folder import RunFolder
from resources.settings import problems
from studio.session.information import checked_information
from studio.session.project import ProjectError, read_project
from studio.session.runs import RunsFolder, read_history
from studio.session.settings import RunSettings, setting_problems, summary_of_update

LONG = bool(os.environ.get("MODEL_STUDIO_LONG"))
CASES = {"journal": 400, "information": 3000, "config": 2000, "project": 600}
SEED = 20261122

ODD: list[Any] = [
    None, True, False, 0, -1, 1, 2**31 - 1, 2**63, -(2**63) - 1, 10**400, 1.5, -0.0, 1e308, float("nan"),
    float("inf"), float("-inf"), "", "NaN", "Infinity", "a\0b", "\ud800", "\n\x1b[31m", "x" * 5000, "1", [],
    {},
    [1, 2], [[1], [2, 3]], [None], ["a", 1], {"a": 1}, {"": []}, {"kind": 1}, {"step": float("inf")},
    [[[[[[[[]]]]]]]], json.loads("[" * 200 + "]" * 200),
]  # fmt: skip

EVENTS: list[dict[str, Any]] = [
    {"event": "started", "time": 1.0e9, "config": TrainingConfig().as_dict(), "folder": "r", "step": 0,
     "epoch": 1,
     "steps_per_epoch": 2, "total_steps": 4, "classes": ["a", "b"], "parameters": 7},
    {"event": "step", "time": 1.0e9, "step": 1, "loss": 2.5, "accuracy": 0.5},
    {"event": "step", "time": 1.0e9, "step": 2, "loss": "NaN", "accuracy": 0.5},
    {"event": "epoch", "time": 1.0e9, "step": 2, "epoch": 1, "train_loss": 2.0, "validation_loss": 2.1,
     "train_accuracy": 0.5, "validation_accuracy": 0.5, "confusion": [[1, 0], [1, 2]]},
    {"event": "finished", "time": 1.0e9, "step": 2, "best_accuracy": 0.5, "reason": "done"},
]  # fmt: skip

INFORMATION: dict[str, Any] = {
    "inputs": [{"name": "x", "shape": [-1, 1, 28, 28], "dtype": "float32"}],
    "outputs": [{"name": "y", "shape": [-1, 10], "dtype": "float32"}],
    "variables": {"w": {"shape": [3, 4], "dtype": "float32", "parameter": True}},
    "info": {"classes": ["a", "b"], "scaling": {"mean": 0.0, "std": 1.0}, "validation_accuracy": 0.5},
}


def mutated(value: Any, draw: random.Random) -> Any:
    """A copy of ``value`` with one to three places changed."""
    box = [copy.deepcopy(value)]
    for _ in range(draw.randint(1, 3)):
        holder: Any = box
        key: Any = 0
        while isinstance(holder[key], dict | list) and holder[key] and draw.random() < 0.8:
            holder = holder[key]
            key = draw.choice(list(holder)) if isinstance(holder, dict) else draw.randrange(len(holder))
        what = draw.random()
        if what < 0.15 and holder is not box:
            del holder[key]
        elif what < 0.3 and isinstance(holder, dict):
            holder[draw.choice(["kind", "step", "", "\0", "info", "version"])] = holder[key]
        elif what < 0.4 and isinstance(holder, list) and holder is not box:
            holder.append(copy.deepcopy(holder[key]))
        else:
            holder[key] = copy.deepcopy(draw.choice(ODD))
    return box[0]


def text_of(value: Any, draw: random.Random) -> bytes:
    """``value`` as JSON, every tenth time with damaged bytes."""
    data = bytearray(json.dumps(value).encode())
    if draw.random() < 0.1:
        for _ in range(draw.randint(1, 4)):
            at = draw.randrange(len(data) + 1)
            data[at : at + draw.randint(0, 3)] = draw.randbytes(draw.randint(0, 3))
    return bytes(data)


def attempt(seed: int, call: Callable[[], Any], allowed: tuple[type[Exception], ...]) -> None:
    """Only ``allowed`` errors may come out, in one line."""
    said = ""
    try:
        call()
    except allowed as error:
        said = str(error)
    except Exception as error:
        raise AssertionError(f"seed {seed}: {type(error).__name__}: {error}") from error
    assert "\n" not in said, f"seed {seed}: {said}"


def draws(family: str) -> list[tuple[int, random.Random]]:
    count = CASES[family] * (200 if LONG else 1)
    return [(seed, random.Random(seed)) for seed in range(SEED, SEED + count)]


def test_journals(tmp_path: Path) -> None:
    sound = tmp_path / "sound"
    hostile = tmp_path / "hostile"
    for folder in (sound, hostile):
        folder.mkdir()
    (sound / "journal.jsonl").write_bytes(b"".join(json.dumps(e).encode() + b"\n" for e in EVENTS))
    for seed, draw in draws("journal"):
        lines = [text_of(mutated(e, draw) if draw.random() < 0.4 else e, draw) for e in EVENTS]
        if draw.random() < 0.3:
            lines.insert(draw.randrange(6), json.dumps(draw.choice(ODD)).encode())
        (hostile / "journal.jsonl").write_bytes(b"\n".join(lines) + b"\n")

        def listed() -> None:
            runs = RunsFolder().read(tmp_path)
            assert "sound" in [run.name for run in runs]
            for run in runs:
                assert run.title is not None
                summary_of_update(run.config)
                assert (run.of_script, run.exportable, run.resumable) is not None

        attempt(seed, listed, ())
        attempt(seed, lambda: read_history(hostile), (EngineError,))
        attempt(seed, lambda: RunFolder(hostile)._cut_journal(1), (EngineError,))
        if seed % 20 == 0:
            attempt(seed, lambda: (pack_run(hostile), read_run(hostile)), (EngineError,))
            (hostile / "run.h5").unlink(missing_ok=True)


def test_information_of_models(tmp_path: Path) -> None:
    path = tmp_path / "m.pdiparams.info"
    for seed, draw in draws("information"):
        info = mutated(INFORMATION, draw)
        attempt(seed, lambda info=info: checked_information(info, path), (EngineError,))


def test_configs() -> None:
    for seed, draw in draws("config"):
        values = mutated(TrainingConfig().as_dict(), draw)
        attempt(seed, lambda values=values: TrainingConfig.from_dict(values), (EngineError,))
        if isinstance(values, dict):
            attempt(seed, lambda values=values: problems({**TrainingConfig().as_dict(), **{
                name: value for name, value in values.items() if name in TrainingConfig().as_dict()
            }}), ())  # fmt: skip


def test_project_files(tmp_path: Path) -> None:
    path = tmp_path / "p.studio.json"
    project = {"format": "model-studio project", "version": 1, "name": "p",
               "settings": RunSettings().as_dict(), "runs": "runs"}  # fmt: skip

    def read() -> None:
        found = read_project(path)
        setting_problems(found.settings)
        RunsFolder().read(path.parent / found.runs)

    for seed, draw in draws("project"):
        path.write_bytes(text_of(mutated(project, draw), draw))
        attempt(seed, read, (ProjectError,))


@pytest.mark.parametrize(
    "line",
    [b"[1,2]", b'{"step":Infinity}', b'{"step":1e999}', b'{"step":"1"}', b"[" * 100000, b'{"epoch":-1}'],
)
def test_an_odd_line_of_a_journal_is_skipped_and_counted(tmp_path: Path, line: bytes) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    events = [json.dumps(event).encode() for event in EVENTS]
    (folder / "journal.jsonl").write_bytes(b"\n".join([events[0], line, *events[1:]]) + b"\n")
    (run,) = RunsFolder().read(tmp_path)
    assert run.state == "finished"
    assert run.accuracy == 0.5
    assert run.note == "journal.jsonl: 1 damaged line was skipped"
    history = read_history(folder)
    assert history.steps == [1, 2]
    assert len(history.notes) == 1
    RunFolder(folder)._cut_journal(1)  # as resuming does
    kept = (folder / "journal.jsonl").read_bytes().splitlines()
    assert kept == events[:2]


def test_a_run_whose_beginning_is_damaged_is_listed_with_a_note(tmp_path: Path) -> None:
    for name, damage in (("a", b"\xff\xfe"), ("b", b"")):
        (tmp_path / name).mkdir()
        events = [json.dumps(event).encode() for event in EVENTS]
        events[0] = damage + events[0]
        (tmp_path / name / "journal.jsonl").write_bytes(b"\n".join(events) + b"\n")
    notes = {run.name: run.note for run in RunsFolder().read(tmp_path)}
    assert notes == {"a": "journal.jsonl: 1 damaged line was skipped", "b": ""}
