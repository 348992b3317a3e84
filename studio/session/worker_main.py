"""The child process: does one job, sends events in batches, ends when its parent is gone."""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import threading
import time
import traceback
from multiprocessing.connection import Connection
from typing import Any

from resources.memory import memory_used
from resources.output_lines import OutputLines
from studio.session.jobs import Event, Inbox, is_command, perform

BATCH_SECONDS = 0.05
VITALS_SECONDS = 1.0
# The user waits for these: they, and what came before them, are sent at once.
URGENT = ("paused", "resumed", "stopping", "rate_changed", "finished", "stopped", "cancelled", "failed")
ORPHAN_SECONDS = 5.0
ORPHANED = 3


class Outbox:
    """Collects events and sends them as one list every ``BATCH_SECONDS`` at most, urgent ones at once."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._condition = threading.Condition()
        self._events: list[Event] = []
        self._closed = False
        self._urgent = threading.Event()
        self._thread = threading.Thread(target=self._work, name="outbox", daemon=True)
        self._thread.start()

    def put(self, event: Event) -> None:
        with self._condition:
            self._events.append(event)
            if event["event"] in URGENT:
                self._urgent.set()
            self._condition.notify()

    def close(self) -> None:
        """Send what is left and stop."""
        with self._condition:
            self._closed = True
            self._condition.notify()
        self._thread.join()

    def _work(self) -> None:
        vitals_at = 0.0
        while True:
            with self._condition:
                self._condition.wait_for(lambda: self._events or self._closed, timeout=VITALS_SECONDS)
                batch, self._events = self._events, []
                self._urgent.clear()
                closed = self._closed
            now = time.monotonic()
            if now - vitals_at >= VITALS_SECONDS:
                vitals_at = now
                batch.append({"event": "vitals", "time": time.time(), "memory": memory_used()})
            try:
                if batch:
                    self._connection.send(batch)
            except OSError:
                return  # the parent is gone; the receiver sees the same and ends the process
            if closed:
                with self._condition:
                    if not self._events:
                        return
            else:
                self._urgent.wait(BATCH_SECONDS)


def main(connection: Connection, crash_path: str) -> None:
    """The life of the child: wait for a job, do it, say so, end."""
    # Ctrl-C in a terminal, and the terminal's end, reach the whole group; what they mean for the training is
    # the parent's to decide. Where the parent dies of them the connection ends, and a checkpoint is written.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    crash_file = open(crash_path, "w")  # noqa: SIM115  (faulthandler needs it open until the very end)
    faulthandler.enable(crash_file)
    outbox, inbox = Outbox(connection), Inbox()
    sys.stdout, sys.stderr = OutputLines(outbox.put, "stdout"), OutputLines(outbox.put, "stderr")
    jobs: list[dict[str, Any]] = []
    arrived = threading.Event()
    receiver = threading.Thread(
        target=_receive, args=(connection, outbox, inbox, jobs, arrived), name="receiver", daemon=True
    )
    receiver.start()
    try:
        import engine.training  # noqa: F401  (while nobody waits: a worker may be started ahead of its job)

        outbox.put({"event": "worker_ready", "time": time.time(), "pid": os.getpid()})
        arrived.wait()
        ok = perform(jobs[0], outbox.put, inbox)
    except BaseException:
        traceback.print_exc(file=crash_file)
        crash_file.flush()
        outbox.close()
        raise
    sys.stdout.flush()
    sys.stderr.flush()
    outbox.put({"event": "job_done", "time": time.time(), "ok": ok})
    outbox.close()


def _receive(
    connection: Connection, outbox: Outbox, inbox: Inbox, jobs: list[dict[str, Any]], arrived: threading.Event
) -> None:
    while True:
        try:
            message = connection.recv()
        except (EOFError, OSError):
            _orphaned(inbox, arrived)
            return
        command = message["command"]
        if command == "ping":
            outbox.put({"event": "pong", "time": time.time(), "sent": message["sent"]})
        elif command == "job" and not jobs:
            jobs.append(message["job"])
            arrived.set()
        elif is_command(command) or command.startswith("{"):  # a request of data_job
            inbox.put(command)


def _orphaned(inbox: Inbox, arrived: threading.Event) -> None:
    """The parent is gone: let a training write its checkpoint, then end in any case."""
    if arrived.is_set():
        inbox.put("interrupt")
        time.sleep(ORPHAN_SECONDS)
    os._exit(ORPHANED)
