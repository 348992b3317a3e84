"""The command line runs no code of another installation's run unasked, and follows no link out of a run."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from engine.files.native import installation
from engine.files.run_source import MARK_NAME
from studio.cli import app
from studio.session.project.code_agreement import count_agreements
from studio.session.project.project_file import read_preferences

MODEL = '''"""A model that leaves a trace where it is imported."""

import pathlib

import helper
from engine import flatten, nn

pathlib.Path(helper.TRACE).touch()


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(784, 10)

    def forward(self, x):
        return self.linear(flatten(x, 1))
'''


def call(*words: str | Path) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture(scope="module", autouse=True)
def own_key(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One installation for the whole module; each test has a home of its own."""
    path = tmp_path_factory.mktemp("installation") / "installation.key"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(installation, "key_path", lambda: path)
        yield


@pytest.fixture(scope="module")
def made(bars: Path, own_key: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a model with a helper, made by this installation."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "net.py").write_text(MODEL)
    (folder / "helper.py").write_text(f"TRACE = {str(folder / 'trace')!r}\n")
    words = ["--data", bars, "--model", f"{folder / 'net.py'}:Net", "--epochs", "1", "--out", folder / "run"]
    done = call("train", *words)
    assert done.exit_code == 0, done.output
    return folder / "run"


@pytest.fixture
def run(made: Path, tmp_path: Path) -> Path:
    (made.parent / "trace").unlink(missing_ok=True)
    return shutil.copytree(made, tmp_path / "run")


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Another installation: another key, and nothing agreed to."""
    monkeypatch.setattr(installation, "key_path", lambda: tmp_path / "other" / "installation.key")
    monkeypatch.setattr(
        "studio.session.project.project_file.preferences_path", lambda: tmp_path / "preferences.json"
    )


def ran(made: Path) -> bool:
    return (made.parent / "trace").exists()


def test_an_own_run_needs_no_agreement(made: Path, run: Path) -> None:
    done = call("train", "--resume", "--epochs", "2", "--out", run)
    assert done.exit_code == 0, done.output
    assert ran(made)


@pytest.mark.parametrize("command", ["export", "train"])
def test_a_foreign_run_is_refused_before_its_code_runs(
    made: Path, run: Path, elsewhere: None, command: str
) -> None:
    words = [run] if command == "export" else ["--resume", "--epochs", "2", "--out", run]
    done = call(command, *words)
    assert done.exit_code == 1
    assert done.stderr.count("\n") == 1
    assert f"{command}: the run's code was not written by this installation" in done.stderr
    assert "--trust" in done.stderr
    assert not ran(made)


def test_trust_is_remembered_for_this_content(made: Path, run: Path, elsewhere: None) -> None:
    done = call("export", run, "--samples", "5", "--trust")
    assert done.exit_code == 0, done.output
    assert count_agreements(read_preferences()[0].agreed) == 1
    assert call("train", "--resume", "--epochs", "2", "--out", run).exit_code == 0
    (run / "source" / "helper.py").write_text("TRACE = '/nowhere/trace'\n")
    done = call("export", run)
    assert done.exit_code == 1
    assert "helper.py" in done.stderr


@pytest.mark.parametrize("name", ["flatten.py", "helper.py"])
def test_a_changed_or_added_file_is_not_our_own_and_is_named(made: Path, run: Path, name: str) -> None:
    (run / "source" / name).write_text("raise SystemExit\n")
    done = call("export", run)
    assert (done.exit_code, ran(made)) == (1, False)
    assert f"was not agreed to: {run / 'source' / name} (SHA-256" in " ".join(done.stderr.split())


def test_a_mark_is_not_given_to_what_lay_there_before(bars: Path, made: Path, tmp_path: Path) -> None:
    out = tmp_path / "prepared"
    (out / "source").mkdir(parents=True)
    (out / "source" / "waits.py").write_text("raise SystemExit\n")
    words = ["--data", bars, "--model", f"{made.parent / 'net.py'}:Net", "--epochs", "1", "--out", out]
    assert call("train", *words).exit_code == 0
    assert not (out / MARK_NAME).exists()
    assert call("export", out).exit_code == 1


@pytest.mark.parametrize("linked", ["source", "source/net.py", "source/more", "checkpoints", "journal.jsonl"])
@pytest.mark.parametrize("command", ["export", "train"])
def test_no_link_out_of_a_run_is_followed(
    made: Path, run: Path, tmp_path: Path, linked: str, command: str
) -> None:
    place, target = run / linked, tmp_path / "outside"
    if place.exists():
        shutil.move(place, target)
    else:
        target.mkdir()
    place.symlink_to(target)
    words = [run] if command == "export" else ["--resume", "--epochs", "2", "--out", run]
    done = call(command, *words, "--trust")
    assert done.exit_code == 1
    assert done.stderr.count("\n") == 1
    assert f"{place}: a link, which a run must not bring along" in done.stderr
    assert not ran(made)
