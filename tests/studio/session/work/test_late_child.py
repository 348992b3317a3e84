"""Children that begin while their window is killed, or after it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from multiprocessing import Pipe
from pathlib import Path

import pytest

from studio.session.work.worker_main import main

WINDOW = """
import os, signal, sys, time
from importlib.abc import MetaPathFinder

class Slow(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            open(sys.argv[2], "w").close()
            time.sleep(600)

if __name__ == "__main__":
    from studio.session.work.worker import ProcessWorker
    worker = ProcessWorker()
    print(worker.pid, flush=True)
    while not os.path.exists(sys.argv[2]):
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGKILL)
else:  # the child
    sys.meta_path.insert(0, Slow())
"""


def test_a_child_whose_folder_was_removed_ends_without_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    connection, other = Pipe()
    with connection, other:
        assert main(connection, str(tmp_path / "removed" / "crash.txt"), threading.Event()) is None


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
@pytest.mark.parametrize("name", ["studio.session.work.worker_main", "numpy", "engine.training"])
def test_a_child_whose_window_is_killed_while_it_imports_ends_at_once(
    name: str, tmp_path: Path, repo_root: Path
) -> None:
    script, reached = tmp_path / "window.py", tmp_path / "reached"
    script.write_text(WINDOW)
    with (tmp_path / "output").open("w+") as output:  # no pipe, which the child would keep open
        window = subprocess.run(
            [sys.executable, str(script), name, str(reached)],
            env={**os.environ, "PYTHONPATH": str(repo_root), "TMPDIR": str(tmp_path)},
            stdout=output,
            check=False,
        )
        output.seek(0)
        child = Path("/proc") / output.read().strip()
    assert window.returncode == -signal.SIGKILL
    try:
        until = time.monotonic() + 10.0  # its import takes 600 s
        while child.exists() and time.monotonic() < until:
            threading.Event().wait(0.01)
        assert not child.exists()
    finally:
        if child.exists():
            os.kill(int(child.name), signal.SIGKILL)
