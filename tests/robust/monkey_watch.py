"""What watches the monkey's window: gaps of its loop, warnings, errors, child processes, memory."""

from __future__ import annotations

import ctypes
import faulthandler
import gc
import logging
import os
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QTimer, QtMsgType, qInstallMessageHandler

TOKEN = "MODEL_STUDIO_MONKEY"
# Seconds without a turn of the loop that are too long, without those that the thread waited for a processor.
FREEZE = "MODEL_STUDIO_MONKEY_FREEZE"
BEAT_MS = 20
# What this test's own clicks cause, not the product.
OURS = ("Mouse event ", "QTest", "propagateSizeHints")

Say = Callable[[str, str], None]


def stat(pid: int | str) -> list[str]:
    """State, parent and what follows of a process; empty where there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def command_line(pid: int) -> str:
    """How a process was started; empty where there is none."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def of_token(token: str) -> dict[int, str]:
    """The command lines of all processes that inherited this token, wherever they hang in the tree."""
    found = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if f"{TOKEN}={token}\0".encode() in (path / "environ").read_bytes() and stat(path.name)[0] != "Z":
                found[int(path.name)] = command_line(int(path.name))
        except (OSError, IndexError):
            continue
    return found


def waited(pid: int) -> float:
    """Seconds that a process waited for a processor; 0 where there is none."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
    except OSError:
        return 0.0


def children(pid: int) -> dict[int, str]:
    """The children of a process with their states."""
    found = {path.name: stat(path.name) for path in Path("/proc").glob("[0-9]*")}
    return {int(name): state[0] for name, state in found.items() if state and int(state[1]) == pid}


def memory() -> int:
    """Bytes of this process that no file backs, after its garbage is gone."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    return 0


class Loop(QObject):
    """The longest gaps of the event loop: seconds on the clock, and those in which the thread ran or slept.

    The system says how long the thread waited for a processor (schedstat): on a shared machine that time is
    not the program's. ``asleep`` leaves out the time on a processor too: the thread waited for a file or a
    lock. Only that counts where ``asleep_only``. A second thread takes the stack of a gap while it lasts.
    """

    def __init__(self, say: Say, freeze: float, asleep_only: bool = False) -> None:
        super().__init__()
        self._say, self._freeze, self._asleep_only = say, freeze, asleep_only
        self.clock = self.own = self.processor = self.asleep = 0.0
        self.action = ""
        self._path = Path(f"/proc/self/task/{threading.get_native_id()}/schedstat")
        self._thread = threading.get_ident()
        self._at, self._ran, self._waited = self._now()
        self._stack = ""
        self._timer = QTimer(self, interval=BEAT_MS)
        self._timer.timeout.connect(self.beat)
        self._timer.start()
        self._ended = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def _now(self) -> tuple[float, float, float]:
        ran, waited, _ = self._path.read_text().split()
        return time.monotonic(), int(ran) / 1e9, int(waited) / 1e9

    def forgive(self) -> None:
        """What came since the last turn was this test's own work."""
        self._at, self._ran, self._waited = self._now()
        self._stack = ""

    def beat(self) -> None:
        """The loop turns."""
        at, ran, waited = self._now()
        clock = at - self._at - BEAT_MS / 1000
        own = clock - (waited - self._waited)
        self.clock, self.processor = max(self.clock, clock), max(self.processor, ran - self._ran)
        asleep = own - (ran - self._ran)
        self.own, self.asleep = max(self.own, own), max(self.asleep, asleep)
        if (asleep if self._asleep_only else own) > self._freeze:
            self._say(
                "freeze",
                f"{clock:.2f} s, {own:.2f} s without waiting for a processor, {ran - self._ran:.2f} s of it "
                f"on one, after {self.action}\n{self._stack}",
            )
        self._at, self._ran, self._waited, self._stack = at, ran, waited, ""

    def _watch(self) -> None:
        while not self._ended.wait(0.1):
            late = time.monotonic() - self._at
            if late > 0.6 and self._stack.count("-----") < min(3, late):
                self._stack += f"----- after {late:.1f} s\n{self._stacks()}"

    def _stacks(self) -> str:
        """Where the threads are. A frame that is looked at from Python would keep its painter alive."""
        with tempfile.TemporaryFile() as file:
            faulthandler.dump_traceback(file, all_threads=True)
            file.seek(0)
            text = file.read().decode()
        mine = text.partition(f"Thread 0x{self._thread:016x}")[2].partition("\n\n")[0]
        return "\n".join(mine.splitlines()[:22]) + "\n"

    def close(self) -> None:
        self._ended.set()
        self._timer.stop()


class Logs(logging.Handler):
    """Each record of level WARNING or above is a finding; so is each warning of Python or of Qt."""

    def __init__(self, say: Say) -> None:
        super().__init__(logging.WARNING)
        self._say = say
        logging.getLogger().addHandler(self)
        warnings.simplefilter("always", ResourceWarning)
        warnings.showwarning = self._warned
        qInstallMessageHandler(self._of_qt)

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if record.exc_info:
            text += "\n" + "".join(traceback.format_exception(*record.exc_info))
        self._say("log", f"{record.levelname} {record.name}: {text}")

    def _warned(self, message: Any, category: Any, filename: str, lineno: int, *_: Any) -> None:
        self._say("warning", f"{filename}:{lineno}: {category.__name__}: {message}")

    def _of_qt(self, kind: QtMsgType, context: Any, text: str) -> None:
        if kind not in (QtMsgType.QtDebugMsg, QtMsgType.QtInfoMsg) and not any(own in text for own in OURS):
            stack = "".join(traceback.format_stack(limit=12)[:-1])
            self._say("Qt", f"{kind.name}: {text}\n{stack}")


# A model of the page Predict whose process was killed while it was idle: the next request starts another.
IDLE = "inference/process_main.py"


class Children:
    """Children that have ended are waited for, and there are never many."""

    MOST = 14

    def __init__(self, say: Say) -> None:
        self._say = say
        self._ended: dict[int, float] = {}
        self._said: set[int] = set()
        self._started: dict[int, str] = {}  # how each was started: a zombie does not say it

    def check(self) -> None:
        now, found = time.monotonic(), children(os.getpid())
        self._started = {pid: command_line(pid) or self._started.get(pid, "") for pid in found}
        zombies = {pid for pid, state in found.items() if state == "Z" and IDLE not in self._started[pid]}
        self._ended = {pid: self._ended.get(pid, now) for pid in zombies}
        for pid, since in self._ended.items():
            if now - since > 5.0 and pid not in self._said:
                self._said.add(pid)
                self._say(
                    "zombie", f"{pid} ended {now - since:.1f} s ago, not waited for: {self._started[pid]}"
                )
        if len(found) > self.MOST:
            lines = [command_line(pid)[:200] for pid in found]
            self._say("children", f"{len(found)} children: {lines}")
