"""Files of a newer version: each kind is refused with its version in one line, and nothing is changed."""

from __future__ import annotations

import hashlib
import json
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import pytest
from typer.testing import CliRunner

import engine as paddle
from engine.core.errors import EngineError
from engine.files.journal import pack_run
from engine.files.native.checked import Expected
from engine.files.native.container import container_parts, read_containers
from engine.files.native.userblock import SIZE
from engine.jit import load
from engine.training.corrections import parse_corrections
from engine.training.measuring.predictions import PredictionsFolder
from engine.training.training_run import TrainingRun
from studio.cli import app
from studio.session.project.project_file import (
    ProjectError,
    preferences_path,
    read_preferences,
    read_project,
    write_preferences,
)
from studio.session.runs.run_history import read_history
from studio.session.runs.run_notes import RunNotes, read_notes, write_notes
from studio.session.runs.runs_folder import read_run_line
from studio.session.sweep.document import read_sweep
from tests.golden.golden_files import KEY, RUN, SWEEP, copy_to, use_key, versions

NEWER = 77
STEP = RUN / "checkpoints/step-00000003.h5"
MODEL = RUN / "inference/model"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the newest golden files; its project is the working folder."""
    use_key(KEY)
    files = copy_to(tmp_path, versions()[-1])
    monkeypatch.chdir(files / "project")
    return files


def raise_container(path: Path) -> None:
    """Let the container be of a newer version, whose first block this program need not understand."""
    data = bytearray(path.read_bytes())
    struct.pack_into("<I", data, 8, NEWER)
    data[SIZE - 32 : SIZE] = hashlib.sha256(data[: SIZE - 32]).digest()
    path.write_bytes(data)


def raise_tree(path: Path) -> None:
    """Let the content of a container be of a newer version."""
    kind = _kind(path)
    (read,) = read_containers([Expected(path, kind, NEWER)])
    path.write_bytes(b"".join(map(bytes, container_parts(kind, NEWER, read.tree, read.save_id))))


def _kind(path: Path) -> str:
    with h5py.File(path, "r") as file:
        return bytes(file.attrs["kind"]).decode()


def raise_document(path: Path) -> None:
    """Let a JSON document be of a newer version, with a field that this program does not know."""
    path.write_text(json.dumps({**json.loads(path.read_text()), "version": NEWER, "novel": 1}))


def raise_journal(path: Path) -> None:
    """Let the start of a journal say that a newer version wrote it."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text(
        "".join(
            json.dumps({**line, "version": NEWER} if line["event"] == "started" else line) + "\n"
            for line in lines
        )
    )


def resume(folder: Path) -> object:
    return TrainingRun.from_folder(RUN, epochs=2).run()


CONTAINERS: dict[str, tuple[Path, Callable[[Path], object]]] = {
    "checkpoint": (Path("project") / STEP, resume),
    "run.h5": (Path("project") / RUN / "run.h5", lambda _: read_history(RUN)),
    "predictions": (
        Path("project") / RUN / "predictions/step-00000003.h5",
        lambda _: PredictionsFolder(RUN).read(3),
    ),
    **{
        suffix: (Path("project") / f"{MODEL}{suffix}", lambda _: load(str(MODEL)))
        for suffix in (".pdmodel", ".pdiparams", ".pdiparams.info")
    },
    "state": (
        Path("state/network.pdparams"),
        lambda folder: paddle.load(str(folder / "state/network.pdparams")),
    ),
    "static": (
        Path("static/trained.pdmodel"),
        lambda folder: paddle.load(str(folder / "static/trained.pdmodel")),
    ),
}


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.endswith(".lock")
    }


def refused(folder: Path, use: Callable[[Path], object]) -> str:
    """The message of an error that changes no file."""
    before = contents(folder)
    with pytest.raises((EngineError, ProjectError)) as caught:
        use(folder)
    message = str(caught.value)
    assert "\n" not in message
    assert f"version {NEWER}" in message
    assert message.endswith("update Model Studio")
    assert contents(folder) == before
    return message


@pytest.mark.parametrize("raise_version", [raise_container, raise_tree])
@pytest.mark.parametrize("kind", CONTAINERS)
def test_a_newer_container_is_refused(folder: Path, kind: str, raise_version: Callable[[Path], None]) -> None:
    path, use = CONTAINERS[kind]
    raise_version(folder / path)
    if kind == "run.h5":
        Path(RUN, "journal.jsonl").unlink()
    assert path.name in refused(folder, use)


@pytest.mark.parametrize("raise_version", [raise_container, raise_tree])
def test_a_newer_checkpoint_does_not_let_a_run_resume_from_an_older_one(
    folder: Path, raise_version: Callable[[Path], None]
) -> None:
    """Resuming from the older one would remove the newer one."""
    shutil.copyfile(STEP, STEP.with_name("step-00000002.h5"))
    raise_version(STEP.absolute())
    assert STEP.name in refused(folder, resume)


def test_a_newer_run_h5_leaves_the_journal_readable(folder: Path) -> None:
    raise_tree(Path(RUN, "run.h5").absolute())
    history = read_history(RUN)
    assert history.steps == [1, 2, 3]
    (note,) = history.notes
    assert f"run version {NEWER}" in note


def test_a_newer_journal_is_refused(folder: Path) -> None:
    raise_journal(Path(RUN, "journal.jsonl"))
    assert "journal.jsonl" in refused(folder, resume)
    assert "journal.jsonl" in refused(folder, lambda _: read_history(RUN))
    run = read_run_line(RUN.absolute())
    assert run is not None
    assert f"version {NEWER}" in run.note
    done = CliRunner().invoke(app, ["train", "--resume", "--out", str(RUN), "--epochs", "2"])
    assert done.exit_code == 1
    assert f"journal version {NEWER}" in " ".join(done.stderr.split())


def test_a_newer_journal_is_refused_where_run_h5_covers_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``run.h5`` holds the start of the run as well."""
    raise_journal(Path(RUN, "journal.jsonl"))
    with monkeypatch.context() as newer:
        newer.setattr("resources.journal_version.JOURNAL_VERSION", NEWER)
        pack_run(RUN)
    assert "journal.jsonl" in refused(folder, lambda _: read_history(RUN))
    Path(RUN, "journal.jsonl").unlink()
    assert "journal.jsonl" in refused(folder, lambda _: read_history(RUN))


@pytest.mark.parametrize(
    ("path", "use"),
    [
        (
            Path("project/project.studio.json"),
            lambda folder: read_project(folder / "project/project.studio.json"),
        ),
        (Path("project") / SWEEP / "sweep.json", lambda _: read_sweep(SWEEP)),
    ],
    ids=["project", "sweep"],
)
def test_a_newer_document_is_refused(folder: Path, path: Path, use: Callable[[Path], object]) -> None:
    raise_document(folder / path)
    assert path.name in refused(folder, use)


def test_newer_notes_are_reported_and_not_replaced(folder: Path) -> None:
    path = Path(RUN, "notes.json").absolute()
    raise_document(path)
    before = path.read_bytes()
    notes, trouble = read_notes(RUN.absolute())
    assert (notes, f"version {NEWER}; update" in trouble) == (RunNotes(), True)
    with pytest.raises(OSError, match=f"version {NEWER}; update Model Studio"):
        write_notes(RUN.absolute(), RunNotes(name="other"))
    assert path.read_bytes() == before


def test_newer_preferences_are_reported_and_not_replaced() -> None:
    preferences, _ = read_preferences()
    write_preferences(preferences)
    raise_document(preferences_path())
    before = preferences_path().read_bytes()
    found, trouble = read_preferences()
    assert found.agreed == []
    assert f"version {NEWER}; update Model Studio" in trouble
    with pytest.raises(OSError, match=f"version {NEWER}; update Model Studio"):
        write_preferences(found)
    assert preferences_path().read_bytes() == before


def test_newer_corrections_are_refused(tmp_path: Path) -> None:
    data = json.dumps({"format": "model-studio corrections", "version": NEWER, "corrections": []}).encode()

    def use(_: Path) -> Any:
        return parse_corrections(data, tmp_path / "corrections.json")

    with pytest.raises(EngineError, match=rf"version: {NEWER}, .*; update Model Studio"):
        use(tmp_path)


def test_a_newer_program_is_refused(folder: Path) -> None:
    """The Program inside a ``.pdmodel`` has its own version."""
    path = Path(f"{MODEL}.pdmodel")
    kind = _kind(path)
    (read,) = read_containers([Expected(path, kind, NEWER)])
    tree = read.tree
    programs = [value for value in _dicts(tree) if {"version", "blocks"} <= value.keys()]
    assert programs
    for program in programs:
        program["version"] = NEWER
    path.write_bytes(b"".join(map(bytes, container_parts(kind, read.version, tree, read.save_id))))
    refused(folder, lambda _: load(str(MODEL)))


def _dicts(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, dict):
        return [value, *(found for each in value.values() for found in _dicts(each))]
    return [found for each in value for found in _dicts(each)] if isinstance(value, list | tuple) else []
