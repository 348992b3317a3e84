"""``model-studio runs``: the facts of the list in the window, and what is written about a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from resources.locks import LOCK_NAME, Lock, take
from studio.cli import app
from tests.studio.windows.runs.run_folders import make_run


def call(*words: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, ["runs", *words])
    assert result.exit_code == code, result.output
    return result.output


@pytest.fixture
def folder(tmp_path: Path) -> str:
    make_run(tmp_path / "lenet-static-001", started=1.0, accuracy=0.95)
    make_run(tmp_path / "lenet-static-002", started=2.0, ended="", steps=8, learning_rate=0.01)
    return str(tmp_path)


def test_runs_are_listed_with_the_facts_of_the_window(folder: str) -> None:
    newest, oldest = (json.loads(line) for line in call("--in", folder, "--json").splitlines())
    assert (newest["title"], newest["state"], newest["differences"]) == (
        "LeNet, lr 0.01",
        "interrupted",
        "Learning rate 0.01",
    )
    assert (oldest["accuracy"], oldest["seconds"], newest["seconds"]) == (0.95, 20.0, None)
    best, _ = (json.loads(line) for line in call("--in", folder, "--sort", "accuracy", "--json").splitlines())
    assert best["name"] == "lenet-static-001"
    assert "95.00 %" in call("--in", folder)


def test_runs_are_filtered_sorted_and_printed_by_columns(folder: str) -> None:
    make_run(Path(folder) / "lenet-static-003", started=3.0, accuracy=0.97, learning_rate=0.1)
    chosen = ("--in", folder, "--filter", "lr >= 0.01 and accuracy > 90 %", "--columns", "folder,lr,accuracy")
    assert call(*chosen, "--csv") == "folder,learning_rate,accuracy\nlenet-static-003,0.1,0.97\n"
    by_rate = call("--in", folder, "--columns", "lr", "--sort", "lr,-", "--csv", code=2)
    assert "no run has a column '-'" in by_rate
    assert call("--in", folder, "--columns", "lr", "--sort", "batch,lr", "--csv").split() == [
        "learning_rate", "0.001", "0.01", "0.1",
    ]  # fmt: skip
    (row,) = map(json.loads, call(*chosen, "--json").splitlines())
    assert row == {"folder": "lenet-static-003", "learning_rate": 0.1, "accuracy": 0.97}
    assert "Learning rate" in call(*chosen)
    wrong = call("--in", folder, "--filter", "lr <", code=2)
    assert "position 5" in wrong
    assert "no run has a column 'nothing'" in call("--in", folder, "--columns", "nothing", code=2)


def test_a_run_is_described_hidden_and_found(folder: str) -> None:
    run = f"{folder}/lenet-static-001"
    call("describe", run, "--name", "The first", "--tags", "baseline, wide", "--note", "why", "--hide")
    assert len(call("--in", folder, "--json").splitlines()) == 1
    (found,) = call("--in", folder, "--all", "--filter", "WHY", "--json").splitlines()
    assert {name: json.loads(found)[name] for name in ("title", "tags", "note", "hidden")} == {
        "title": "The first",
        "tags": ["baseline", "wide"],
        "note": "why",
        "hidden": True,
    }
    call("describe", run, "--show", "--tags", "")
    assert json.loads(call("--in", folder, "--filter", "first", "--json"))["tags"] == []
    assert "too long" in call("describe", run, "--tags", "x" * 60, code=2)
    for option in ("--name", "--tags", "--note"):  # bytes that the terminal's encoding does not have
        assert "not text in the terminal" in call("describe", run, option, "a\udce4", code=2)


def test_folders_that_are_not_runs_are_refused(folder: str) -> None:
    assert "no run" in call("describe", folder, "--name", "x", code=1)
    assert "no such folder" in call("--in", f"{folder}/none", code=1)


def test_runs_go_to_the_trash_but_never_a_running_one(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone: list[str] = []
    monkeypatch.setattr("studio.cli.runs.runs_command._trash", lambda: lambda path: gone.append(path.name))
    lock = take(Path(folder, "lenet-static-002", LOCK_NAME))
    assert isinstance(lock, Lock)
    try:
        assert "running" in call("delete", f"{folder}/lenet-static-002", code=1)
    finally:
        lock.release()
    call("delete", f"{folder}/lenet-static-001")
    assert gone == ["lenet-static-001"]
