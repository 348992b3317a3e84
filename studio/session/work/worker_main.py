"""The child process: does one job, sends events in batches, exits when its parent does."""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import threading
import time
import traceback
from multiprocessing.connection import Connection
from typing import Any, NoReturn

from resources.memory import memory_used
from resources.output_lines import OutputLines
from resources.typed_values import MOST_TEXT, WireError, checked
from studio.session.work.exit_status import ORPHANED
from studio.session.work.job import Event, Inbox, is_command, perform_sent, plain_message
from studio.session.work.wire import encode, receive, send

BATCH_SECONDS = 0.05
VITALS_SECONDS = 1.0
# The user waits for these: they, and what came before them, are sent at once.
URGENT = (
    *("paused", "resumed", "stopping", "rate_changed", "finished", "stopped", "cancelled", "failed"),
    *("debug_opened", "debug_stopped", "debug_shown", "debug_refused"),
)
ORPHAN_SECONDS = 5.0
CONFUSED = 4


class Outbox:
    """Collects events and sends them as one list every ``BATCH_SECONDS`` at most, urgent ones at once."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._condition = threading.Condition()
        self._frames: list[bytes] = []
        self._closed = False
        self._urgent = threading.Event()
        self._thread = threading.Thread(target=self._work, name="outbox", daemon=True)
        self._thread.start()

    def put(self, event: Event) -> None:
        """Raises WireError: the event can't be sent."""
        frame = encode(event)
        with self._condition:
            self._frames.append(frame)
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
                self._condition.wait_for(lambda: self._frames or self._closed, timeout=VITALS_SECONDS)
                batch, self._frames = self._frames, []
                self._urgent.clear()
                closed = self._closed
            now = time.monotonic()
            if now - vitals_at >= VITALS_SECONDS:
                vitals_at = now
                batch.append(encode({"event": "vitals", "time": time.time(), "memory": memory_used()}))
            try:
                if batch:
                    send(self._connection, batch)
            except OSError:
                return  # the parent is gone; the receiver sees the same and ends the process
            if closed:
                with self._condition:
                    if not self._frames:
                        return
            else:
                self._urgent.wait(BATCH_SECONDS)


def main(connection: Connection, crash_path: str, begun: threading.Event) -> None:
    """The life of the child: wait for a job, set ``begun``, do the job, report it, and return."""
    # Ctrl-C in a terminal, and the terminal's end, reach the whole group; what they mean for the training is
    # the parent's to decide. Where the parent dies of them the connection ends, and a checkpoint is written.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        crash_file = open(crash_path, "w")  # noqa: SIM115  (faulthandler needs it open until the very end)
    except FileNotFoundError:  # the window was killed meanwhile, and its folder removed
        return
    faulthandler.enable(crash_file)
    outbox, inbox = Outbox(connection), Inbox()
    sys.stdout, sys.stderr = OutputLines(outbox.put, "stdout"), OutputLines(outbox.put, "stderr")
    jobs: list[Any] = []
    arrived = threading.Event()
    receiver = threading.Thread(
        target=_receive, args=(connection, outbox, inbox, jobs, arrived, begun), name="receiver", daemon=True
    )
    receiver.start()
    try:
        import engine.training  # noqa: F401  (before the job arrives: a worker may be started ahead of its job)

        outbox.put({"event": "worker_ready", "time": time.time(), "pid": os.getpid()})
        arrived.wait()
        begun.set()
        ok = perform_sent(jobs[0], outbox.put, inbox)
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
    connection: Connection,
    outbox: Outbox,
    inbox: Inbox,
    jobs: list[Any],
    arrived: threading.Event,
    begun: threading.Event,
) -> None:
    while True:
        try:
            for values in receive(connection):
                message = checked(values, dict[str, Any], "message")
                command = checked(message.get("command"), str, "command")
                if command == "ping":
                    outbox.put({"event": "pong", "time": time.time(), "sent": message.get("sent")})
                elif command == "job" and not jobs:
                    jobs.append(message.get("job"))
                    arrived.set()
                elif command == "request" or is_command(command):
                    inbox.put(message)
                else:
                    raise WireError(f"command: unknown: {command!r}")
        except (EOFError, OSError):
            _give_up(inbox, begun, ORPHANED)
        except Exception as error:  # a WireError, or what the job says of the request
            said = " ".join(str(error)[:MOST_TEXT].splitlines())
            print(f"worker process: invalid message from the window: {said}", file=sys.stderr, flush=True)
            _give_up(inbox, begun, CONFUSED)


def _give_up(inbox: Inbox, begun: threading.Event, status: int) -> NoReturn:
    """The parent has exited, or sends nonsense: let a training write its checkpoint, then exit."""
    if begun.is_set():
        inbox.put(plain_message("interrupt"))
        time.sleep(ORPHAN_SECONDS)
    os._exit(status)
