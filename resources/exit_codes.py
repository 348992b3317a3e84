"""The exit code of a child process, whichever thread finds its end."""

from __future__ import annotations

import time
from multiprocessing.process import BaseProcess

SECONDS = 5.0


def exit_code(process: BaseProcess) -> int | None:
    """The exit code of a process that has ended; None if it has not after SECONDS.

    Another thread that starts a process looks for the end of all: if it found this one's, the code is known
    only when that thread continues. Until then the process counts as alive, and can't be closed.
    """
    until = time.monotonic() + SECONDS
    while (code := process.exitcode) is None and time.monotonic() < until:
        time.sleep(0.001)
    return code
