"""The real program as a process that a test drives, see driven.py."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

WAIT = 90.0  # seconds that a busy machine may take

ROOT = Path(__file__).resolve().parents[3]


def until(condition: Callable[[], Any], what: str) -> Any:
    """Wait for a true value."""
    end = time.monotonic() + WAIT
    while not (found := condition()):
        assert time.monotonic() < end, f"waited {WAIT:.0f} s for {what}"
        time.sleep(0.05)
    return found


class Program:
    """One running Model Studio."""

    def __init__(self, display: str) -> None:
        env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
        env |= {"QT_QPA_PLATFORM": "xcb", "DISPLAY": display} if display else {"QT_QPA_PLATFORM": "offscreen"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.studio.program.driven"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=env,
        )
        assert self._answer() == "shown"

    def _answer(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            assert self.process.stderr is not None
            raise AssertionError(f"the program has ended: {self.process.stderr.read()}")
        kind, outcome = json.loads(line)
        assert kind == "ok", outcome
        return outcome

    def do(self, *words: Any) -> Any:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(words) + "\n")
        self.process.stdin.flush()
        return self._answer()

    def get(self, path: str) -> Any:
        return self.do("get", path)

    def until(self, path: str, *wanted: Any) -> Any:
        return until(lambda: (found := self.get(path)) in wanted and (found or True), f"{path}: {wanted}")

    def train(self, bars: Path, epochs: int) -> Path:
        """Start a training by a click on the page's button, and wait for its first steps.

        Its steps have one image: the end of an epoch, with its checkpoint, takes longer than all steps do.
        """
        for name, value in (("data", str(bars)), ("model", "linear"), ("epochs", epochs), ("batch_size", 1)):
            self.do("set", name, value)
        self.do("click", "train_page.welcome.start")
        until(lambda: self.get("session.train.step") > 0, "the first step")
        return Path(self.get("session.train.folder"))

    def row(self, folder: Path) -> list[str]:
        """What the list of runs shows of a run: its key, title, value and tip."""
        return until(
            lambda: next((r for r in self.do("rows") if r[0] == str(folder)), None), f"{folder} in the list"
        )

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
