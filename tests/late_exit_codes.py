"""An order of threads: another one has found the end of a child process, and does not continue yet."""

from __future__ import annotations

import os
from typing import Any

import pytest


def let_another_thread_find_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first questions for an exit code have no answer, though the process has ended."""
    from multiprocessing.popen_fork import Popen  # not on Windows

    poll, late = Popen.poll, [None] * 5

    def poll_late(self: Any, flag: int = os.WNOHANG) -> int | None:
        code = poll(self, flag)
        return late.pop() if code is not None and late else code

    monkeypatch.setattr(Popen, "poll", poll_late)
