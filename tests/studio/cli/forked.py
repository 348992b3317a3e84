"""``model-studio`` in a forked process, which need not import the engine again and may be killed."""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

from studio.cli import main

SECONDS = 60.0


class Victim:
    """``model-studio WORDS`` in a forked process; ``stderr`` and ``stdout`` are files of what it wrote.

    Args:
        before: called in the process before the command begins.
        closed: standard output and error are closed from the start.
    """

    def __init__(
        self,
        folder: Path,
        words: list[str | Path],
        before: Callable[[], None] = lambda: None,
        closed: bool = False,
    ) -> None:
        self.stderr, self.stdout = folder / "stderr", folder / "stdout"
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid:
            return
        status = 70
        try:
            os.setsid()
            for path, number in ((self.stdout, 1), (self.stderr, 2)):
                os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), number)
            before()
            sys.stdout, sys.stderr = (os.fdopen(number, "w", encoding="utf-8") for number in (1, 2))
            if closed:
                sys.stdout = sys.stderr = None  # type: ignore[assignment]  # as Python has them after >&- 2>&-
            sys.argv = ["model-studio", *map(str, words)]
            main()
        except SystemExit as end:
            status = int(end.code or 0)
        except BaseException:
            traceback.print_exc()
        finally:
            try:
                for stream in (sys.stdout, sys.stderr):
                    stream.flush()
            except OSError:
                status = 120  # as Python does at its exit
            os._exit(status)

    def wait_for(self, reached: Callable[[], bool]) -> None:
        end = time.monotonic() + SECONDS
        while not reached():
            if time.monotonic() > end or os.waitpid(self.pid, os.WNOHANG)[0]:
                pytest.fail(f"not reached; it said: {self.stderr.read_text()}")
            time.sleep(0.01)

    def ended(self) -> int:
        """The exit status, -N after signal N."""
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pid = 0
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.01)
        pytest.fail("it did not end")

    def kill(self) -> None:
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
