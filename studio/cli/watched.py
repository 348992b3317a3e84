"""``model-studio`` for a process that watches it: stops as with Ctrl+C when its standard input ends.

The process that started it holds the other end, so that it ends with that process on every system.
"""

from __future__ import annotations

import _thread
import os
import signal
import threading
import time

from studio.cli import main as command_line

GRACE = 20.0  # seconds in which a training can write its last checkpoint
ORPHANED = 3


def main(agreed: str | None = None) -> None:
    """Run the command; its own standard input is empty.

    ``agreed``: the digest of the user's code that may run, None for what the command names.
    """
    watched = os.dup(0)
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.close(nowhere)
    threading.Thread(target=_watch, args=(watched,), name="watch", daemon=True).start()
    if agreed is not None:
        from engine.core.models.local_imports import AGREED

        AGREED.set(agreed)
    command_line()


def _watch(descriptor: int) -> None:
    while os.read(descriptor, 1024):
        pass
    # Without a handler the call would do nothing: the command has not begun, or has ended.
    if signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        _thread.interrupt_main(signal.SIGTERM)
        time.sleep(GRACE)
    os._exit(ORPHANED)
