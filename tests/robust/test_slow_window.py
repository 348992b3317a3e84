"""A window on a slow disk: its loop turns while files are read and written, and nothing is lost.

Delayed: each place in the code that opens, writes, syncs, renames, removes, lists or looks at a file of the
user, in every thread of the window, the first time and now and then after that: for longer than the gap
that is allowed, with ``--long`` for 5 s.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from studio.session.project.project_file import read_project

pytest.importorskip("PySide6", reason="the window needs Qt")

SECONDS = 5.0 if os.environ.get("MODEL_STUDIO_LONG") else 0.3


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.timeout(900)
def test_the_loop_turns_while_the_disk_is_slow(tmp_path: Path) -> None:
    from tests.robust.monkey import Home, screen

    with screen() as env:
        home = Home(tmp_path, 1, env, 1.0)
        done = subprocess.run(
            [sys.executable, "-m", "tests.robust.slow_window", str(tmp_path), str(SECONDS)],
            env=home.env,
            capture_output=True,
            text=True,
        )
    assert done.returncode == 0, done.stderr[-4000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["findings"] == [], "\n".join(found["findings"])
    assert found["asleep"] < 0.2
    assert found["last"] == "close"
    assert found["problems"] == []
    assert found["delays"] > 50
    project = read_project(tmp_path / "home" / "elsewhere" / "project.studio.json")
    assert project.settings.epochs == 5  # changed just before the window closed
    (draft,) = tmp_path.glob("home/XDG_DATA_HOME/**/drafts/*.py")
    assert draft.read_text().startswith("# draft")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.timeout(300)
def test_a_disk_that_turns_read_only_is_reported_and_the_next_window_starts(tmp_path: Path) -> None:
    from tests.robust.monkey import Home, screen

    found = {}
    with screen() as env:
        home = Home(tmp_path, 1, env, 1.0)
        for mode in ("turns", "next"):
            done = subprocess.run(
                [sys.executable, "-m", "tests.robust.read_only_window", str(tmp_path), mode],
                env=home.env,
                capture_output=True,
                text=True,
            )
            assert done.returncode == 0, done.stderr[-4000:]
            assert "Traceback" not in done.stderr, done.stderr[-4000:]
            found[mode] = json.loads(done.stdout.splitlines()[-1])
    shown = found["turns"]["shown"]
    assert all("read-only file system" in each for each in shown), shown
    for name in ("the training ended", "project.studio.json", "notes.json", "drafts", "net.py"):
        assert any(name in each for each in shown), name
    assert (tmp_path / "home" / "net.py").read_text() == "from engine import nn\n"
    assert found["next"]["shown"] == []
    assert found["next"]["epochs"] == 6  # what was saved before
    ((state, step, _),) = found["next"]["runs"]
    assert state == "interrupted"
    assert step > 2
