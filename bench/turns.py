"""The turns of a window's loop: processor time of its thread in each, and the slowest stacks.

A turn on a busy machine takes long because others compute: only the thread's own processor time says what the
code costs. A turn that waits for a file or a lock costs none; tests/robust/slow_window.py looks for those.
"""

from __future__ import annotations

import faulthandler
import gc
import re
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QEvent, QEventLoop
from PySide6.QtWidgets import QApplication

if TYPE_CHECKING:
    from studio.app import Studio

SLOW_S, NOTED_S = 0.030, 0.020
_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+) in (?P<name>\S+)')


class Turn(NamedTuple):
    """One turn: seconds of the thread and on the clock, and those of the garbage collector in it; what the
    window was doing, and where the code was, innermost first, when the turn became slow."""

    own: float
    clock: float
    garbage: float
    doing: str
    stack: tuple[str, ...]


class Turns:
    """Lets the window live, and notes the turns of its loop that take long.

    ``close`` ends the thread that watches.
    """

    def __init__(self) -> None:
        self.doing = ""
        self.turns: list[Turn] = []
        self._ident = threading.get_ident()
        self._clock = time.pthread_getcpuclockid(self._ident)
        self._begin: float | None = None  # of the turn that lasts, in processor time of the thread
        self._stack: tuple[str, ...] = ()
        self._garbage = self._collecting = 0.0
        gc.callbacks.append(self._collected)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def start(self, studio: Studio, seconds: float) -> None:
        """Show the window as the command does, and wait for the end of its start. Raises TimeoutError as
        ``live``."""
        settled: list[bool] = []

        def freeze() -> None:
            gc.freeze()
            settled.append(True)

        studio.settled = freeze
        studio.session.files.begin()
        studio.show()
        self.live(lambda: bool(settled), seconds)

    def live(self, done: Callable[[], bool], seconds: float) -> None:
        """Turn the loop until ``done``. Raises TimeoutError after so many seconds."""
        end = time.perf_counter() + seconds
        while not done():
            if time.perf_counter() > end:
                raise TimeoutError(f"bench: nothing came in {seconds:g} s: {self.doing}")
            self.turn()
            time.sleep(0.001)

    def live_for(self, seconds: float) -> None:
        """Turn the loop for so long."""
        end = time.perf_counter() + seconds
        self.live(lambda: time.perf_counter() >= end, seconds + 60.0)

    def turn(self) -> None:
        """Process what waits for the loop."""
        self.handle(_process)

    def handle(self, act: Callable[[], object]) -> None:
        """Do what a click or a key does, as a turn."""
        self._stack, self._garbage = (), 0.0
        clock, own = time.perf_counter(), time.thread_time()
        self._begin = own
        act()
        self._begin = None
        taken = time.thread_time() - own
        if taken > NOTED_S:  # not all: their memory would count as the window's
            self.turns.append(
                Turn(taken, time.perf_counter() - clock, self._garbage, self.doing, self._stack)
            )

    def slowest(self, count: int) -> list[Turn]:
        """The turns with most processor time."""
        return self.slowest_of("", count)

    def slowest_of(self, doing: str, count: int) -> list[Turn]:
        """Those among the turns in whose ``doing`` these words appear."""
        found = (turn for turn in self.turns if doing in turn.doing)
        return sorted(found, key=lambda turn: turn.own, reverse=True)[:count]

    def _collected(self, phase: str, _: dict[str, int]) -> None:
        if threading.get_ident() == self._ident:
            if phase == "start":
                self._collecting = time.thread_time()
            else:
                self._garbage += time.thread_time() - self._collecting

    def _watch(self) -> None:
        with tempfile.TemporaryFile() as file:
            while not self._ended.wait(0.004):
                begin = self._begin
                if begin is None or self._stack or time.clock_gettime(self._clock) - begin < SLOW_S:
                    continue
                # A frame that is looked at from Python would keep its painter alive.
                file.seek(0)
                file.truncate()
                faulthandler.dump_traceback(file, all_threads=True)
                file.seek(0)
                text = file.read().decode()
                mine = text.partition(f"Thread 0x{self._ident:016x}")[2].partition("\n\n")[0]
                if self._begin == begin:
                    self._stack = tuple(_short(*found) for found in _FRAME.findall(mine))

    def close(self) -> None:
        """Watch no longer."""
        self._ended.set()
        self._thread.join()
        gc.callbacks.remove(self._collected)


def _process() -> None:
    QApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents)
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def _short(file: str, line: str, name: str) -> str:
    for folder in ("studio", "widgets", "resources", "engine", "bench"):
        if f"/{folder}/" in file:
            return f"{folder}/{file.rpartition(f'/{folder}/')[2]}:{line} {name}"
    return f"{file.rpartition('site-packages/')[2].removeprefix(sys.base_prefix)}:{line} {name}"


def described(turn: Turn) -> str:
    """A line about a slow turn: the innermost frame, and the innermost ones of the window's own code."""
    found = [frame for frame in turn.stack if frame.startswith(("studio/", "widgets/"))]
    inner = turn.stack[:1] if found[:1] != list(turn.stack[:1]) else ()
    place = " < ".join((*inner, *found[:3])) or "-"
    garbage = f", {turn.garbage * 1e3:.0f} of it garbage" if turn.garbage > 0.001 else ""
    return f"{turn.own * 1e3:4.0f} ms{garbage}, {turn.doing}: {place}"
