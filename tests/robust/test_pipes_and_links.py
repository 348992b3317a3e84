"""Pipes and links in an untrusted project, run or data: nothing waits for a pipe or writes through a link."""

from __future__ import annotations

import io
import os
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.core.errors import DataError, EngineError, FormatError
from engine.training.measuring.predictions import Predictions, PredictionsFolder
from engine.training.sources.images.class_names import read_class_names
from engine.training.sources.npz import NpzFile
from studio.session.code.drafts import draft_path, read_draft
from studio.session.code.user_models import trouble_in
from studio.session.data.collected_images import CollectedImages
from studio.session.data.corrections import ProjectCorrections
from studio.session.project.project_file import ProjectError, file_digest, read_project
from studio.session.runs.run_history import read_history
from studio.session.runs.run_notes import RunNotes, write_notes
from studio.session.runs.run_queue import RunQueue
from studio.session.runs.runs_folder import RunsFolder
from studio.session.sweep.models import code_of

if not hasattr(os, "mkfifo"):
    pytest.skip("pipes and links as POSIX has them", allow_module_level=True)

_READERS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "project": ("p.studio.json", lambda folder: read_project(folder / "p.studio.json")),
    "corrections": (
        "corrections.json",
        lambda folder: ProjectCorrections(folder / "corrections.json").read(),
    ),
    "journal": ("journal.jsonl", read_history),
    "classes": ("classes.txt", read_class_names),
}


@pytest.mark.timeout(30)
@pytest.mark.parametrize("name", _READERS)
def test_a_pipe_is_refused_at_once(tmp_path: Path, name: str) -> None:
    file, read = _READERS[name]
    os.mkfifo(tmp_path / file)
    with pytest.raises((EngineError, ProjectError), match="a named pipe, not a regular file"):
        read(tmp_path)


@pytest.mark.timeout(30)
@pytest.mark.parametrize("what", ["pipe", "/dev/zero", "/proc/self/status"])
def test_the_hash_of_code_reads_regular_files_only(tmp_path: Path, what: str) -> None:
    code = tmp_path / "net.py"
    if what == "pipe":
        os.mkfifo(code)
    else:
        code.symlink_to(what)
    with pytest.raises(OSError, match="not a regular file"):
        file_digest(code)
    with pytest.raises(DataError, match=r"net\.py: .*, not a regular file; check the path"):
        code_of(str(code))


@pytest.mark.timeout(30)
def test_a_run_whose_journal_is_a_pipe_holds_up_no_list(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    os.mkfifo(tmp_path / "run" / "journal.jsonl")
    RunsFolder().read(tmp_path)


@pytest.mark.timeout(30)
def test_pipes_among_code_and_images_are_passed_over(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "net.py")
    assert "a named pipe, not a regular file" in trouble_in(tmp_path / "net.py")
    draft = draft_path(tmp_path / "net.py")
    draft.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(draft)
    assert read_draft(tmp_path / "net.py") is None
    (tmp_path / "collected" / "1").mkdir(parents=True)
    os.mkfifo(tmp_path / "collected" / "1" / "a.png")
    assert CollectedImages(tmp_path / "collected").images() == []


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.write_text("a\nb\n")
    for name in ("notes.json", "corrections.json", "queue.json"):
        (tmp_path / name).symlink_to(mine)
    with pytest.raises(OSError, match="a link to elsewhere"):
        write_notes(tmp_path, RunNotes(note="x"))
    with pytest.raises(DataError, match="a link to elsewhere"):
        ProjectCorrections(tmp_path / "corrections.json").read()
    with pytest.raises(ProjectError, match="a link to elsewhere"):
        RunQueue._read(tmp_path / "queue.json")
    image = np.zeros((4, 4), np.uint8)
    collected = CollectedImages(tmp_path / "collected")
    collected.collect(image, "1")
    (collected.folder / "2").symlink_to(tmp_path, target_is_directory=True)
    with pytest.raises(DataError, match="a link to elsewhere"):
        collected.collect(image, "2")
    (collected.folder / "classes.txt").unlink()
    (collected.folder / "classes.txt").symlink_to(mine)
    with pytest.raises(DataError, match="a link to elsewhere"):
        collected.collect(image, "new")
    assert mine.read_text() == "a\nb\n"
    assert not list(tmp_path.glob("*.png"))


def test_predictions_of_a_billion_classes_are_refused(tmp_path: Path) -> None:
    """Without any row of probabilities they take no room in the file."""
    predictions = PredictionsFolder(tmp_path)
    none = np.zeros(0, np.uint32)
    rates = np.zeros(0, np.float32)
    probabilities = np.zeros((0, 10**9), np.float16)
    images = np.zeros((0, 4, 4), np.uint8)
    found = Predictions(none, none, rates, rates, probabilities, np.zeros(0, np.int64), images)
    predictions.write(2, found, 2)
    with pytest.raises(FormatError, match="does not hold the predictions"):
        predictions.read(2)


@pytest.mark.parametrize("length", [b"\xff\xff\xff\x7f", struct.pack("<I", 30_000_000)])
def test_a_header_of_an_array_is_not_unpacked_beyond_its_limit(tmp_path: Path, length: bytes) -> None:
    """30 MB of spaces take 30 KB in the archive."""
    import tracemalloc

    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("x.npy", "w") as entry:
        entry.write(b"\x93NUMPY\2\0" + length)
        for _ in range(30):
            entry.write(b" " * 1_000_000)
    (tmp_path / "x.npz").write_bytes(packed.getvalue())
    tracemalloc.start()
    try:
        with pytest.raises(FormatError, match="a header of"):
            NpzFile(tmp_path / "x.npz")
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()
