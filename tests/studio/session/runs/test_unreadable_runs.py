"""Runs whose journal can't be read any more: their rows say so, and come back."""

from __future__ import annotations

from pathlib import Path

import pytest

from resources.locks import Lock, take
from studio.session.runs.runs_folder import RunsFolder
from tests.studio.windows.runs.run_folders import make_run


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """The journal of the first of two runs."""
    made = make_run(tmp_path / "lenet-static-001", accuracy=0.9)
    make_run(tmp_path / "lenet-static-002", started=2.0)
    return made / "journal.jsonl"


def rows(runs: RunsFolder, folder: Path) -> dict[str, tuple[str, str]]:
    return {run.name[-3:]: (run.state, run.note) for run in runs.read(folder)}


def unreadable(journal: Path) -> None:
    """As a file that the system refuses to read, also to root."""
    journal.rename(journal.with_name("elsewhere"))
    journal.symlink_to(journal)


def test_a_journal_that_is_emptied_or_refused_keeps_its_row(journal: Path, tmp_path: Path) -> None:
    runs, content = RunsFolder(), journal.read_bytes()
    assert rows(runs, tmp_path) == {"001": ("finished", ""), "002": ("finished", "")}
    journal.write_bytes(b"")
    for _ in range(2):
        state, note = rows(runs, tmp_path)["001"]
        assert (state, note) == (
            "unreadable",
            "journal.jsonl: it is empty: put a copy of it back, or delete the run",
        )
    run = next(run for run in runs.read(tmp_path) if run.state == "unreadable")
    assert (run.accuracy, run.config["model"]) == (0.9, "lenet")
    assert run.resumable == run.exportable == note
    journal.write_bytes(content)
    assert rows(runs, tmp_path)["001"] == ("finished", "")
    unreadable(journal)
    state, note = rows(runs, tmp_path)["001"]
    assert state == "unreadable"
    assert note.startswith("journal.jsonl: can't be read: ")
    journal.unlink()
    assert "001" not in rows(runs, tmp_path)  # it is not a run any more


def test_a_start_lists_runs_that_are_refused_or_lost_their_journal(journal: Path, tmp_path: Path) -> None:
    unreadable(journal)
    (tmp_path / "lenet-static-002" / "journal.jsonl").write_bytes(b"")
    assert {state for state, _ in rows(RunsFolder(), tmp_path).values()} == {"unreadable"}
    assert len(rows(RunsFolder(), tmp_path)) == 2


def test_a_training_that_has_not_written_yet_is_no_unreadable_run(journal: Path, tmp_path: Path) -> None:
    new = tmp_path / "lenet-static-003"
    new.mkdir()
    (new / "journal.jsonl").touch()
    journal.write_bytes(b"")
    lock = take(journal.with_name("run.lock"))
    assert isinstance(lock, Lock)
    assert rows(RunsFolder(), tmp_path).keys() == {"002"}
    lock.release()
    assert rows(RunsFolder(), tmp_path).keys() == {"001", "002"}
