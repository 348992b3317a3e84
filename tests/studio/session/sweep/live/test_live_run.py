"""The journal of a run that trains elsewhere, written here while it trains."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.core.errors import SaveError
from engine.files.journal import JournalWriter
from resources.locks import Lock, take
from studio.session.runs.run_history import read_history
from studio.session.runs.runs_folder import read_run_line
from studio.session.sweep.files import write_run
from studio.session.sweep.live.leftovers import MARK, remove_leftovers
from studio.session.sweep.live.live_run import LiveRun

STARTED = {"event": "started", "time": 1.0, "config": {}, "total_steps": 10, "steps_per_epoch": 5}


def text(*events: dict[str, Any]) -> str:
    return "".join(f"{json.dumps(event)}\n" for event in events)


def step(number: int) -> dict[str, Any]:
    return {"event": "step", "step": number, "loss": 1 / number, "accuracy": 0.5}


def begun(folder: Path) -> LiveRun:
    live = LiveRun.begin(folder)
    assert live is not None
    return live


def test_a_run_is_running_and_its_curve_grows_until_the_whole_run_arrives(tmp_path: Path) -> None:
    folder = tmp_path / "trial-001"
    live = begun(folder)
    live.add(text(STARTED, step(1)))
    live.add(text(step(2), {"event": "finished", "step": 2}))
    run = read_run_line(folder)
    assert run is not None
    assert (run.state, run.step, run.checkpoint) == ("running", 2, "")
    assert read_history(folder).steps == [1, 2]
    live.end()
    write_run(folder, {"journal.jsonl": text(STARTED, step(1), step(2), step(3)).encode()})
    live.discard()
    assert read_history(folder).steps == [1, 2, 3]
    assert sorted(path.name for path in folder.iterdir()) == ["checkpoints", "journal.jsonl"]


def test_a_run_that_does_not_arrive_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    live = begun(tmp_path / "fresh")
    live.add(text(STARTED, step(1)))
    live.end()
    live.discard()
    assert not (tmp_path / "fresh").exists()
    old = tmp_path / "old"
    write_run(old, {"journal.jsonl": text(STARTED, step(1)).encode() + b'{"event":"st'})
    live = begun(old)
    live.add(text(step(2)))
    live.restart()
    live.add(text(step(2), step(3)))
    assert read_history(old).steps == [1, 2, 3]
    live.end()
    live.discard()
    assert (old / "journal.jsonl").read_text() == text(STARTED, step(1))


def test_lines_that_are_no_events_are_ignored(tmp_path: Path) -> None:
    live = begun(tmp_path / "trial-001")
    assert live.add('x\n[1]\n{"event": 3}\n\n{"a": 1}\n' + text(step(1))) == [step(1)]
    live.end()
    live.discard()
    live = begun(tmp_path / "trial-001")
    live.add(text(step(1)))
    assert (tmp_path / "trial-001" / "journal.jsonl").read_text().count("\n") == 1


def test_a_folder_in_use_or_a_full_disk_ends_the_display_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = take(tmp_path / "run.lock")
    assert isinstance(lock, Lock)
    assert LiveRun.begin(tmp_path) is None
    lock.release()
    live = begun(tmp_path)

    def full(*_: object) -> None:
        raise SaveError("no space left on device")

    monkeypatch.setattr(JournalWriter, "write", full)
    assert live.add(text(step(1))) == [step(1)]
    assert live.add(text(step(2))) == [step(2)]
    live.end()
    (tmp_path / "file").write_text("")
    assert LiveRun.begin(tmp_path / "file") is None


def test_a_journal_of_a_killed_sweep_makes_room_and_a_run_is_left_alone(tmp_path: Path) -> None:
    journal, mark = tmp_path / "journal.jsonl", tmp_path / MARK
    begun(tmp_path).add(text(STARTED, step(1)))
    assert mark.exists()
    (tmp_path / "run.lock").unlink()  # as the end of a process leaves it
    remove_leftovers(tmp_path)
    assert list(tmp_path.iterdir()) == []
    remove_leftovers(tmp_path / "nowhere")
    journal.write_text(text(STARTED, step(1)))
    remove_leftovers(tmp_path)
    assert journal.exists()
    mark.touch()
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints" / "step-00000000.h5").touch()
    remove_leftovers(tmp_path)
    assert (journal.exists(), mark.exists()) == (True, False)
