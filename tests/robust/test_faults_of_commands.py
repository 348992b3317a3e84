"""Attacks export, predict, inspect and the start of a session with faults of the disk, want of memory and
Ctrl-C, at their operations on files.

After each: exit status 0, or 1 with one line for each file; what lay there before is whole; nothing is left
behind; and the same command works once the fault is gone.
"""

from __future__ import annotations

import contextlib
import io
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner, Result

from engine.files.inference import read_inference
from engine.training.exporting import verify
from studio.cli import app
from studio.session.session import Session
from tests.robust.faults import FAULTS, LONG, Fault, every_fault, temporaries


def call(*words: str | Path) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture(scope="module")
def trained(few: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of one epoch."""
    out = tmp_path_factory.mktemp("trained") / "run"
    words = ["train", "--data", few, "--model", "linear", "--batch-size", "8", "--epochs", "1", "--out", out]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(out.parent / "data"))
        done = call(*words)
    assert done.exit_code == 0, done.output
    return out


@pytest.fixture(autouse=True)
def checked_in_this_process(trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clean process of an export's check takes a second; here it is a call. The run is our own."""
    monkeypatch.setenv("XDG_DATA_HOME", str(trained.parent / "data"))

    def run(words: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        said, wrong = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(wrong):
            code = verify.main(*words[-4:])
        return subprocess.CompletedProcess(words, code, said.getvalue(), wrong.getvalue())

    monkeypatch.setattr("engine.training.exporting.check.subprocess.run", run)


def ended_well(done: Result, said: str, lines: int = 1) -> bool:
    """Whether it succeeded; else it said one line."""
    text = f"{said}: {done.exit_code} {done.output} {done.exception!r}"
    assert done.exit_code in (0, 1), text
    assert done.exception is None or isinstance(done.exception, SystemExit), text
    assert "Traceback" not in done.output, text
    if done.exit_code == 1:
        assert 1 <= done.stderr.count("\n") <= lines, text
    return done.exit_code == 0


EXPORTING = [fault for fault in FAULTS if LONG or fault.name in ("full", "no_descriptors", "interrupted")]


@pytest.mark.parametrize("fault", EXPORTING, ids=lambda fault: fault.name)
def test_an_export_is_whole_or_not_at_all(fault: Fault, trained: Path, tmp_path: Path) -> None:
    place = tmp_path / "place"
    prefix = place / "model"
    answers: list[Result] = []
    before: list[str] = []

    def export() -> Result:
        return call("export", trained, "--out", prefix, "--samples", "3")

    first = export()
    assert first.exit_code == 0, first.output
    backup = tmp_path / "kept"
    shutil.copytree(place, backup)

    def prepare() -> None:
        answers.clear()
        shutil.rmtree(place)
        shutil.copytree(backup, place)
        before[:] = [read_inference(prefix).save_id]

    def check(error: BaseException | None, said: str) -> None:
        assert error is None, said
        new = read_inference(prefix).save_id != before[0]
        if ended_well(answers[0], said):
            assert new, said
        # Where nothing can be listed or removed, what is left goes with the next export.
        cleans = fault.name not in ("read_only", "no_descriptors")
        if cleans and "(unlink " not in said and "(rmdir " not in said:
            assert not temporaries(place), f"{said}: {temporaries(place)}"
        assert export().exit_code == 0, said
        assert not temporaries(place), f"{said}: {temporaries(place)}"

    every_fault(place, fault, prepare, lambda: answers.append(export()), check, short=3)


READING = [fault for fault in FAULTS if fault.name in ("broken", "no_memory")]


@pytest.mark.parametrize("fault", READING, ids=lambda fault: fault.name)
@pytest.mark.parametrize("command", ["predict", "inspect", "export"])
def test_an_unreadable_file_is_reported(command: str, fault: Fault, trained: Path, tmp_path: Path) -> None:
    place = tmp_path / "place"
    shutil.copytree(trained, place / "run")
    assert call("export", place / "run", "--out", place / "model", "--samples", "3").exit_code == 0
    image = np.zeros((28, 28), np.uint8)
    image[4:20, 12:16] = 255
    Image.fromarray(image).save(place / "digit.png")
    words: dict[str, list[str | Path]] = {
        "predict": ["predict", place / "model", place / "digit.png"],
        "inspect": ["inspect", place / "model"],
        "export": ["export", place / "run", "--out", tmp_path / "out" / "model", "--samples", "3"],
    }
    good = call(*words[command])
    assert good.exit_code == 0, good.output
    answers: list[Result] = []

    def check(error: BaseException | None, said: str) -> None:
        assert error is None, said
        if not ended_well(answers[0], said) and fault.number:
            assert str(place) in answers[0].stderr, f"{said}: {answers[0].stderr}"
        again = call(*words[command])
        assert again.exit_code == 0, f"{said}: {again.output}"

    every_fault(place, fault, answers.clear, lambda: answers.append(call(*words[command])), check, short=3)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_session_starts_and_keeps_what_it_can_not_read(
    fault: Fault, trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Preferences, the list of runs and one run's curves: reported if unreadable, never lost."""
    place = tmp_path / "place"
    shutil.copytree(trained, place / "runs" / "one")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(place / "config"))

    def start(save: bool = True) -> Session:
        session = Session(runs_folder=place / "runs")
        session.refresh_runs()
        if save:
            session.preferences.remember_model("m")
            session._save_preferences()
        session.close(0.0)
        return session

    start()

    def check(error: BaseException | None, said: str) -> None:
        assert error is None or isinstance(error, KeyboardInterrupt | MemoryError), f"{said}: {error!r}"
        session = start(save=False)
        assert [Path(run.path).name for run in session.runs] == ["one"], said
        assert session.preferences.recent_models[:1] == ["m"], said
        start()
        assert not temporaries(place / "config"), said

    every_fault(place, fault, lambda: None, lambda: start(), check, short=5)
