"""The first lines of a child process: it exits with the process that started it, even while it imports.

What the child does hears of that end through its pipe, but only once the engine is being imported. This
module therefore imports nothing that multiprocessing has not imported before, but for a constant.
"""

from __future__ import annotations

import os
import threading
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait

from studio.session.work.exit_status import ORPHANED


def start(connection: Connection, crash_path: str) -> None:
    """Watch the parent until the job begins, and run ``worker_main.main``."""
    begun = threading.Event()
    threading.Thread(target=_watch, args=(begun,), name="parent-watch", daemon=True).start()
    from studio.session.work.worker_main import main

    main(connection, crash_path, begun)


def _watch(begun: threading.Event) -> None:
    parent = parent_process()
    assert parent is not None
    wait([parent.sentinel])
    if not begun.is_set():  # else the receiver lets the job write a checkpoint
        os._exit(ORPHANED)
