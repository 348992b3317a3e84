"""Workers as the session sees them: a child process, and a thread for debugging."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Protocol

from resources.exit_codes import exit_code
from resources.regular_files import open_regular_text
from resources.scratch import Scratch, make_scratch
from resources.typed_values import WireError
from studio.session.work.job import (
    Event,
    Inbox,
    Job,
    Request,
    checked_event,
    perform_sent,
    plain_job,
    plain_message,
    process_of,
    remedy_of,
)
from studio.session.work.wire import decode, encode, receive, send

JOIN_SECONDS = 10.0
MAX_CRASH_TEXT = 20_000


class Worker(Protocol):
    """Does one job. Events are collected with ``take``; the last one of every worker is ``worker_ended``.

    ``notify`` is called from another thread whenever there is something to take.
    """

    notify: Callable[[], None] | None

    def start(self, job: Job) -> None:
        """Begin ``job``; a worker takes one."""

    def send(self, message: str | Request) -> None:
        """Pass a request of the job, one of ``job.COMMANDS``, or ``ping``."""

    def take(self) -> list[Event]:
        """Every event that arrived since the last call; never blocks."""

    def wait(self, timeout: float) -> bool:
        """Block until there is something to take; False where ``timeout`` seconds passed."""

    def ended(self) -> bool:
        """True once ``worker_ended`` has arrived (it may still be there to take)."""

    def kill(self) -> None:
        """End it at once, whatever it does; a thread can only be asked."""

    def close(self) -> None:
        """Kill what still runs and free what it held."""


class _Mailbox:
    """The events that arrived, for one consumer."""

    def __init__(self, notify: Callable[[], None] | None) -> None:
        self.notify = notify
        self._condition = threading.Condition()
        self._events: deque[Event] = deque()
        self._ended = False

    def deliver(self, events: list[Event]) -> None:
        with self._condition:
            self._events.extend(events)
            self._ended = self._ended or any(event["event"] == "worker_ended" for event in events)
            self._condition.notify_all()
        if (notify := self.notify) is not None:  # ``close`` may forget it meanwhile
            notify()

    def take(self) -> list[Event]:
        with self._condition:
            events = list(self._events)
            self._events.clear()
            return events

    def wait(self, timeout: float) -> bool:
        with self._condition:
            return self._condition.wait_for(lambda: bool(self._events), timeout)

    def ended(self) -> bool:
        return self._ended


class ProcessWorker(_Mailbox):
    """A child process (spawn). It is started at once, so that it has imported the engine before its job
    comes; in the thread that reads its events, since a start takes up to 40 ms."""

    def __init__(self, notify: Callable[[], None] | None = None) -> None:
        super().__init__(notify)
        self._connection: Connection
        self._connection, theirs = multiprocessing.get_context("spawn").Pipe()
        self._scratch: Scratch | None = None
        self._crash_path = Path(os.devnull)
        self._oom_kills = self._memory = 0
        self._job: Job | None = None
        self._invalid = ""
        self._job_done = False
        self._killed = self._closed = False
        self._send_lock = threading.Lock()
        self._process: BaseProcess | None = None
        self._started = threading.Event()  # or it failed to start
        self._reader = threading.Thread(target=self._run, args=(theirs,), name="worker-reader", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """The number of the process, once it is started; 0 of one that has ended or could not be started."""
        self._started.wait(JOIN_SECONDS)
        process = self._process
        return 0 if self._closed or process is None else process.pid or 0

    def start(self, job: Job) -> None:
        self._job = job
        self._post({"command": "job", "job": plain_job(job)})

    def send(self, message: str | Request) -> None:
        self._post({**plain_message(message), "sent": time.time()})

    def kill(self) -> None:
        started = self._started.is_set()  # before: it may be started between the two
        process = self._process
        if self._closed or (process is None and started):
            return
        if process is None:
            self._killed = True  # its thread starts it no more, or ends it: the window does not wait
            process = self._process
        if process is not None and process.is_alive():
            self._killed = True
            process.kill()

    def close(self) -> None:
        if self._closed:
            return
        self.notify = None
        self.kill()
        self._reader.join(JOIN_SECONDS)
        self._closed = True
        if self._process is not None:
            self._process.close()

    def _post(self, message: dict[str, Any]) -> None:
        frame = encode(message)
        # The reader reports a child that has just exited; a command to it is simply too late.
        with self._send_lock, suppress(OSError, ValueError):
            send(self._connection, [frame])

    def _run(self, theirs: Connection) -> None:
        """Start the process and deliver its events until it ends."""
        try:
            process = self._start_process(theirs)
        except (OSError, RuntimeError) as error:  # RuntimeError: a main module without a guard
            process = None
            self._invalid = (
                f"{process_of(self._job)}: it could not be started: {error}; "
                f"close other programs, then {remedy_of(self._job)}"
            )
        finally:
            theirs.close()
            self._started.set()
        self._follow(process)

    def _follow(self, process: BaseProcess | None) -> None:
        """Deliver the events of the process, if it could be started, and its end."""
        if process is not None:
            self._read(process)
        code = 0 if process is None else exit_code(process) or 0
        crash = self._crash_text()
        with self._send_lock:  # else what is being sent could go to a file that gets the same number
            self._connection.close()
        self.deliver([self._ending(code, crash)])

    def _start_process(self, theirs: Connection) -> BaseProcess | None:
        """The started process; None where it was killed before. Raises OSError."""
        # A training does not need a place for a report of its crash.
        with suppress(OSError):
            self._scratch = make_scratch()
            self._crash_path = self._scratch.path / "crash.txt"
        self._oom_kills = _oom_kills()
        from studio.session.work.worker_start import start

        process = multiprocessing.get_context("spawn").Process(
            target=start, args=(theirs, str(self._crash_path)), name="model-studio-worker", daemon=True
        )
        if self._killed:
            return None
        process.start()
        self._process = process
        self._end_if_killed(process)
        return process

    def _end_if_killed(self, process: BaseProcess) -> None:
        """End a process that was killed while it started."""
        if self._killed:
            process.kill()

    def _read(self, process: BaseProcess) -> None:
        """Deliver what the process sends, until it has ended."""
        while True:
            try:
                events = [checked_event(event, self._job) for event in receive(self._connection)]
            except (EOFError, OSError):
                break
            except WireError as error:
                # Nothing after it can be trusted: the child has failed, the window goes on.
                self._invalid = f"{process_of(self._job)}: it sent an invalid message: {error}; report it"
                process.kill()
                break
            for event in events:
                if event["event"] == "vitals":
                    self._memory = event["memory"]
                elif event["event"] == "job_done":
                    self._job_done = True
            self.deliver(events)
        process.join(JOIN_SECONDS)
        if process.is_alive():
            process.kill()
            process.join()

    def _ending(self, code: int, crash: str) -> Event:
        clean = self._job_done and code == 0 and not self._invalid
        message = self._invalid
        if message:
            pass
        elif self._killed:
            message = f"{process_of(self._job)}: ended on request"
        elif not clean:
            message = death_message(self._job, code, self._memory, _oom_kills() > self._oom_kills)
        return {
            "event": "worker_ended",
            "time": time.time(),
            "clean": clean,
            "killed": self._killed,
            "exit_code": code,
            "message": message,
            "details": crash,
        }

    def _crash_text(self) -> str:
        try:
            with open_regular_text(self._crash_path, errors="replace") as file:
                return file.read(MAX_CRASH_TEXT)
        except OSError:
            return ""
        finally:
            if self._scratch is not None:
                self._scratch.remove()


class ThreadWorker(_Mailbox):
    """The same in a thread of this process, for debugging and tests: a crash of native code takes all with
    it. Jobs and events pass through the pipe's encoding all the same."""

    def __init__(self, notify: Callable[[], None] | None = None) -> None:
        super().__init__(notify)
        self._inbox = Inbox()
        self._thread: threading.Thread | None = None

    def start(self, job: Job) -> None:
        self._thread = threading.Thread(target=self._work, args=(job,), name="worker-thread", daemon=True)
        self._thread.start()

    def send(self, message: str | Request) -> None:
        if message == "ping":
            self.deliver([{"event": "pong", "time": time.time(), "sent": time.time()}])
        else:
            (sent,) = decode(encode(plain_message(message)))
            self._inbox.put(sent)

    def kill(self) -> None:
        self._inbox.put(plain_message("cancel"))

    def close(self) -> None:
        self.notify = None
        self.kill()
        if self._thread is not None:
            self._thread.join(JOIN_SECONDS)

    def _work(self, job: Job) -> None:
        def emit(event: Event) -> None:
            self.deliver([checked_event(each, job) for each in decode(encode(event))])

        (sent,) = decode(encode(plain_job(job)))
        ok = perform_sent(sent, emit, self._inbox)
        self.deliver(
            [
                {"event": "job_done", "time": time.time(), "ok": ok},
                {
                    "event": "worker_ended",
                    "time": time.time(),
                    "clean": True,
                    "killed": False,
                    "exit_code": 0,
                    "message": "",
                    "details": "",
                },
            ]
        )


def death_message(job: Job | None, code: int, memory: int, memory_ran_out: bool) -> str:
    """How the process of a job died that ended with ``code``: ``where: what: values seen; what to do``.

    Args:
        code: the exit code; below 0 the number of the signal.
        memory: bytes it held when last seen, 0 where unknown.
        memory_ran_out: True where the system ended a process for want of memory meanwhile.
    """
    process, remedy = process_of(job), remedy_of(job)
    used = f", last seen with {memory / 1e6:.0f} MB of memory" if memory else ""
    if code < 0:
        name = _signal_name(-code)
        if name == "SIGKILL" and memory_ran_out:
            return (
                f"{process}: the system ended it because memory ran out: signal {name}{used}; "
                f"take a smaller batch size or close other programs, then {remedy}"
            )
        if name in ("SIGKILL", "SIGTERM"):
            return f"{process}: it was killed from outside: signal {name}{used}; {remedy}"
        return (
            f"{process}: it crashed in native code: signal {name}{used}; "
            f"{remedy}, and report it with the details if it happens again"
        )
    shown = f"0x{code:08X}" if code > 255 else str(code)
    return (
        f"{process}: it ended without a word: exit code {shown}{used}; "
        f"look at the log for what it printed last, then {remedy}"
    )


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def _oom_kills() -> int:
    """How many processes the system (or this container) has ended for want of memory so far."""
    total = 0
    if sys.platform.startswith("linux"):
        for path in ("/proc/vmstat", "/sys/fs/cgroup/memory.events"):
            with suppress(OSError, ValueError):
                for line in Path(path).read_text(encoding="ascii").splitlines():
                    name, _, value = line.partition(" ")
                    if name == "oom_kill":
                        total += int(value)
    return total
