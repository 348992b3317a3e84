"""The program neither sends nor fetches anything: no update check, no telemetry, no downloads."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.arch.repository_files import ROOT

PARTS = ("studio", "engine", "widgets", "resources")
# Modules that reach other computers, and Qt's.
_NETWORK = re.compile(
    r"^\s*(?:import|from)\s+(?:urllib\.(?:request|error)|http\b|ssl\b|socket\b|requests\b|ftplib|smtplib|xmlrpc"
    r"|asyncio|PySide6\.QtNetwork)",
    re.MULTILINE,
)
ALLOWED = {
    "studio/controllers/bridge.py": "a pair of sockets within the process wakes the window",
    "studio/session/display_check.py": "asks the display's socket of this computer",
    "resources/locks.py": "the name of this computer in a lock",
    "engine/profiler/profiler.py": "the name of this computer in a trace",
    "engine/vision/datasets/download.py": "what a user's script asks for with download=True",
    "engine/training/team/channel.py": "ranks of a training, which the user starts",
    "engine/distributed/processes/listeners.py": "ranks of a job, which the user starts",
    "engine/distributed/launch/hosts.py": "the machines of a job, which the user names",
}
# Raises where anything of the process uses a socket that is not of this computer's own kind.
SITE = """import sys


def refuse(event, values):
    if event in ("socket.connect", "socket.sendto", "socket.bind") and isinstance(values[-1], tuple):
        raise RuntimeError(f"{event} {values[-1]}")
    if event in ("socket.getaddrinfo", "socket.gethostbyname", "urllib.Request"):
        raise RuntimeError(f"{event} {values}")


sys.addaudithook(refuse)
"""
WINDOW = """
import sys
from PySide6.QtCore import QTimer
from studio import app
from studio.app import Studio

class Closing(Studio):
    def show(self):
        self.settled = lambda: QTimer.singleShot(0, self.window.close)
        super().show()

app.Studio = Closing
sys.exit(app.main())
"""


def test_only_these_files_can_use_a_network() -> None:
    found = {
        path.relative_to(ROOT).as_posix()
        for part in PARTS
        for path in (ROOT / part).rglob("*.py")
        if _NETWORK.search(path.read_text(encoding="utf-8"))
    }
    assert found == set(ALLOWED)


def test_commands_and_window_open_no_connection(tmp_path: Path) -> None:
    """Also in the processes that they start with the same environment."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site/usercustomize.py").write_text(SITE, encoding="utf-8")
    (tmp_path / "site/sitecustomize.py").write_text(SITE, encoding="utf-8")
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(tmp_path / "site"), str(ROOT)]),
        "QT_QPA_PLATFORM": "offscreen",
        "HOME": str(tmp_path),
    }

    def run(*words: str) -> None:
        done = subprocess.run(
            [sys.executable, *words],
            cwd=tmp_path,
            env=env,
            capture_output=True,
            text=True,
            check=False,
            timeout=100,
        )
        assert done.returncode == 0, (words, done.stderr)

    refused = subprocess.run(
        [sys.executable, "-c", "import socket; socket.create_connection(('127.0.0.1', 9))"],
        env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "RuntimeError: socket" in refused.stderr
    run("-m", "studio", "train", "--data", "digits", "--model", "linear", "--epochs", "1", "--out", "run")
    run("-m", "studio", "export", "run", "--out", "saved/model")
    run("-m", "studio", "inspect", "saved/model")
    run("-c", WINDOW)
