"""A run that another process trains: the list says so, and Resume is refused with the reason."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("PySide6", reason="the window needs Qt")

from tests.studio.windows.runs.run_folders import make_run

HOLD = """
import sys
from pathlib import Path
from resources.locks import LOCK_NAME, Lock, take
assert isinstance(take(Path(sys.argv[1]) / LOCK_NAME), Lock)
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def held(folder: Path, root: Path) -> Iterator[int]:
    """Another process that trains in the folder, as far as its lock says."""
    command = [sys.executable, "-c", HOLD, str(folder)]
    environment = os.environ | {"PYTHONPATH": str(root)}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process.pid
        process.communicate()


def test_a_run_of_another_window(stage: Any, repo_root: Path) -> None:
    folder = make_run(stage.session.runs_folder / "lenet-static-001", ended="")
    session, runs = stage.session, stage.window.project.runs
    session.refresh_runs()
    runs.choose(str(folder))
    assert session.blocked("resume_run") == ""
    with held(folder, repo_root) as pid:
        session.refresh_runs()
        (run,) = session.runs
        assert run.state == "running"
        assert f"process {pid} on " in run.in_use
        row = runs.row(str(folder))
        assert "running in another window" in row.detail
        assert f"process {pid} on " in row.tip
        assert ("State", "running in another window") in stage.studio.settings_panel.facts.rows()
        assert session.blocked("delete_run") == run.in_use
        resume = stage.studio.actions["resume_run"]
        stage.studio.actions.refresh()
        assert not resume.isEnabled()
        assert "running in another window" in resume.toolTip()
        before = len(stage.workers)
        session.resume_run(str(folder))
        assert len(stage.workers) == before
        assert f"running in another window: process {pid} on " in stage.window.toast.text()
    session.refresh_runs()
    assert session.blocked("resume_run") == ""
