"""Every reader of files, given mutated files: it reads or refuses, in one line, and nothing else happens.

Attacked are the readers of :mod:`tests.robust.readers`: containers with bytes and HDF5 structures changed
and the hash made right again, documents, Programs, models, states, checkpoints, run folders, configs,
projects and all that lies in them, preferences, images, sound, archives, tables, and data for a training.
So are those of messages: of children to the window and back, of models' processes, of the guards of ranks, of
ranks and of orders to them.
The cases are read in a child with limits on memory. A finding, named by reader and number, is a crash, a
hang of 5 s, an error of another class than the reader documents, a message of several lines, memory beyond
the reader's bound, a process started, a connection, or a file written elsewhere::

    python -m tests.robust.fuzzing --slice 0:1000000 --log FILE     # resumable: a number names a case
    python -m tests.robust.fuzzing --slice 4711:4712                # one case again
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.training.folder.retained_events import RetainedEvents
from engine.training.folder.run_folder import RunFolder
from studio.session.runs.run_history import read_history
from studio.session.runs.runs_folder import RunsFolder
from tests.robust.fuzzing import run
from tests.robust.networks import EVENTS
from tests.robust.readers import readers

LONG = bool(os.environ.get("MODEL_STUDIO_LONG"))
READERS = readers()
# Cases that start processes or run models: how many, and with --long.
WITHOUT_SHARE = {
    "guarded child, forked": (15, 10_000),
    "guarded child, started": (1, 200),
    "program, run once": (40, 10_000),
    "source HDF5, forked": (20, 10_000),
    "command line": (12, 2_000),
    "packed model, bytes": (300, 20_000),
    "packed model, HDF5 structures": (300, 20_000),
    "onnx bytes": (100, 20_000),
    "onnx fields": (250, 20_000),
    "Paddle's model, bytes": (300, 20_000),
    "Paddle 3's model": (100, 20_000),
    "Paddle's model, parts of its Program": (100, 20_000),
    "weights, bytes": (300, 20_000),
    "weights, structure": (300, 20_000),
    "wire to the session": (400, 40_000),
    "wire to a child": (200, 25_000),
    "wire of a model": (200, 20_000),
    "wire of guards": (300, 10_000),
    "wire of ranks": (100, 10_000),
    "wire to a rank": (100, 5_000),
}
WINDOW = "wire to the window"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the cases are read in forked children")
@pytest.mark.timeout(20_000)
@pytest.mark.parametrize("name", [name for name in READERS if name != WINDOW])
def test_mutated_files_are_read_or_refused(name: str) -> None:
    share = READERS[name].share
    count = (
        (share * 1000 or WITHOUT_SHARE[name][1])
        if LONG
        else WITHOUT_SHARE.get(name, (0,))[0] or min(10 + share // 2, 50)
    )
    found = run([(name, number) for number in range(count)], READERS)[name]
    assert found.findings == []
    assert found.cases == count


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the cases are read in forked children")
@pytest.mark.timeout(20_000)
def test_a_window_shows_mutated_messages_or_fails_their_task() -> None:
    """In a process that has no window yet: one does not survive a fork."""
    pytest.importorskip("PySide6")
    cases = f"0:{5_000 if LONG else 30}"
    command = [sys.executable, "-m", "tests.robust.fuzzing", "--only", WINDOW, "--slice", cases]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert lines
    assert [finding for line in lines for finding in json.loads(line)["findings"]] == []


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
    RunFolder(folder)._rewrite_journal(RetainedEvents(1).has)  # as resuming does
    lines = (folder / "journal.jsonl").read_bytes().splitlines()
    assert lines == events[:2]


def test_a_run_whose_beginning_is_damaged_is_listed_with_a_note(tmp_path: Path) -> None:
    for name, damage in (("a", b"\xff\xfe"), ("b", b"")):
        (tmp_path / name).mkdir()
        events = [json.dumps(event).encode() for event in EVENTS]
        events[0] = damage + events[0]
        (tmp_path / name / "journal.jsonl").write_bytes(b"\n".join(events) + b"\n")
    notes = {run.name: run.note for run in RunsFolder().read(tmp_path)}
    assert notes == {"a": "journal.jsonl: 1 damaged line was skipped", "b": ""}
