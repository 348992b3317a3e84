"""What mpiexec starts for a rank of a launched job: a small process whose child is the rank.

It knows how the rank ended (a signal, ``os._exit``), which mpiexec reports for one rank that need not be
the first, and it ends the rank when the launcher is gone. It is run as a file (the words are the folder of
pipes, and the rank's file with its words) and imports nothing of the engine: it takes 10 MB, and the child is
forked before there is any thread.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

EVENTS, LIFE = "events", "life"
"""Pipes in the launcher's folder: the events of the ranks, and one that is closed when the launcher exits."""
_PR_SET_PDEATHSIG = 1
_OTHERS = 0.1
"""Seconds in which other guards can report a signal before mpiexec kills them: it may be the cause."""


def send_event(channel: str, **event: object) -> None:
    """Send an event to the launcher; does nothing if the launcher has exited."""
    with suppress(OSError):
        # Without waiting for a reader; a line is short enough to arrive in one piece.
        pipe = os.open(Path(channel) / EVENTS, os.O_WRONLY | os.O_NONBLOCK)
        os.write(pipe, (json.dumps(event) + "\n").encode())
        os.close(pipe)


def _end_group() -> None:
    os.killpg(os.getpgrp(), signal.SIGKILL)


def _end_with(channel: str, life: int) -> None:
    """End the rank, and all that it started, when the launcher has closed its end of the pipe.

    A launcher that was killed has left the pipes.
    """
    os.set_blocking(life, True)
    os.read(life, 1)
    with suppress(OSError):  # another guard is at it
        for pipe in os.listdir(channel):
            os.unlink(Path(channel) / pipe)
        os.rmdir(channel)
    _end_group()


def _end_with_parent(parent: int) -> None:
    """Let the system end this process when the guard is killed; elsewhere than on Linux the launcher does."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it was killed before
            os._exit(1)


def _watch(pid: int, channel: str, life: int) -> None:
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):  # the rank gets them too; this waits for how it ends
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(channel, life), daemon=True).start()
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    send_event(channel, pid=pid, code=code)
    if code > 0:
        time.sleep(_OTHERS)
    if code:
        _end_group()  # what the rank started; mpiexec sees this process end by a signal, and ends the others
    os._exit(0)


def main(words: list[str]) -> None:
    """Fork; the child returns and is the rank."""
    channel = words[0]
    if os.getpgrp() != os.getpid():
        os.setpgid(0, 0)
    life = os.open(Path(channel) / LIFE, os.O_RDONLY | os.O_NONBLOCK)
    mine = os.getpid()
    pid = os.fork()
    if pid:
        send_event(channel, pid=pid, group=os.getpgrp())
        _watch(pid, channel, life)
    os.close(life)
    _end_with_parent(mine)


if __name__ == "__main__":
    main(sys.argv[1:])
    import runpy  # of the rank only

    sys.argv = [sys.argv[2], "--channel", sys.argv[1], *sys.argv[3:]]
    runpy.run_path(sys.argv[0], run_name="__main__")
