"""Kills of what writes files, and power cuts: forked victims, at one file operation or a random moment.

A subject prepares a folder, does something in it, and checks what a kill left. The process that calls this
has imported the engine; victims and checks are forks of it, so that neither sees what another did.
"""

from __future__ import annotations

import faulthandler
import gc
import os
import random
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from tests.robust.file_operations import Go, Operation, operations_of, watched
from tests.robust.power_cuts import WAYS, Disk

SECONDS = 120  # after which a victim or a check counts as stuck


class Subject(Protocol):
    """What is killed. All three get the same path each time, below which alone they write."""

    name: str

    def prepare(self, folder: Path) -> None:
        """Make what is there before."""

    def act(self, folder: Path) -> None:
        """Do what gets killed."""

    def check(self, folder: Path, done: bool) -> str:
        """Say in a word what was found, or raise; ``done`` where ``act`` ended before the kill."""


@dataclass(frozen=True)
class Point:
    """Where a victim ends: before operation ``at`` (0: after the last), or with ``half`` in the middle of it.

    ``way`` names what a power cut leaves, a key of ``power_cuts.WAYS``; empty for a kill.
    """

    at: int
    half: bool = False
    way: str = ""

    def __str__(self) -> str:
        kind = f"power cut ({self.way})" if self.way else "kill"
        where = f"{'in' if self.half else 'before'} operation {self.at}" if self.at else "after the end"
        return f"{kind} {where}"


class Failure(AssertionError):
    """A check that did not hold, or a victim that ended in another way than by its kill."""


class Killer:
    """Kills one subject again and again in ``place/work``.

    ``operations`` are those of an act that nothing stops. With ``warm`` this process prepares, acts and
    checks once itself: its forks import and build nothing again, and cost a quarter.
    """

    def __init__(self, subject: Subject, place: Path, warm: bool = False) -> None:
        self.subject, self._warm = subject, warm
        self._work, self._before, self._image = place / "work", place / "before", place / "image"
        for path in (self._work, self._before, self._image):
            shutil.rmtree(path, ignore_errors=True)
        self._work.mkdir(parents=True)
        self._finish(lambda: self.subject.prepare(self._work), "prepare")
        shutil.copytree(self._work, self._before, symlinks=True)
        listed = place / "operations"

        def list_operations() -> None:
            done = operations_of(self._work, self._act)
            listed.write_text("\n".join(f"{o.number} {o.kind} {o.path}" for o in done if o.changes))

        began = time.monotonic()
        self._finish(list_operations, "act")
        self.seconds = time.monotonic() - began
        self.operations = listed.read_text().splitlines()
        if warm:
            self.subject.check(self._work, True)
            gc.freeze()  # forks share these objects; their collector leaves them alone
        else:
            self._check(done=True, where="no kill")

    def points(self) -> list[Point]:
        """Every kill: before each change, in the middle of each write, and after the last."""
        found = []
        for line in self.operations:
            number, kind, _ = line.split(" ", 2)
            found.append(Point(int(number)))
            if kind == "write":
                found.append(Point(int(number), half=True))
        return [*found, Point(0)]

    def power_cuts(self) -> list[Point]:
        """A power cut of each way before each change, and after the last."""
        return [Point(point.at, way=way) for point in self.points() if not point.half for way in WAYS]

    def aimed(self, point: Point, seed: int = 0) -> str:
        """Carry out one kill or power cut and its check; returns what the check found."""
        self._reset()
        shutil.rmtree(self._image, ignore_errors=True)

        def victim() -> None:
            if point.way:
                self._cut(point, random.Random(f"{seed} {point}"))
            else:
                with watched(self._work, lambda operation, go: _kill_at(point, operation, go)):
                    self._act()

        code, said = in_child(victim)
        if code not in (0, -signal.SIGKILL):
            raise Failure(f"{self.subject.name}: {point}: the victim ended with {code}: {said}")
        if point.way:
            shutil.rmtree(self._work)
            os.rename(self._image, self._work)
        return self._check(done=code == 0, where=str(point))

    def at_random(self, draw: random.Random) -> tuple[int, str]:
        """Kill at a random moment, up to three times in a row, each time in what the last kill left.

        Returns the number of kills and what the check found.
        """
        self._reset()
        kills = 0
        for _ in range(draw.choice([1, 1, 2, 3])):
            delay = draw.uniform(0, 1.1 * self.seconds)
            act = self._act if not kills else self._again
            code, said = in_child(act, delay)
            if code == 0:
                break
            if code != -signal.SIGKILL:
                raise Failure(
                    f"{self.subject.name}: after {kills} kills the victim ended with {code}: {said}"
                )
            kills += 1
        return kills, self._check(done=not kills or code == 0, where=f"{kills} kills at random moments")

    # ----- parts -----

    def _act(self) -> None:
        self.subject.act(self._work)

    def _again(self) -> None:
        getattr(self.subject, "again", self.subject.act)(self._work)

    def _reset(self) -> None:
        shutil.rmtree(self._work, ignore_errors=True)
        shutil.copytree(self._before, self._work, symlinks=True)

    def _cut(self, point: Point, draw: random.Random) -> None:
        disk = Disk(self._work)

        def hook(operation: Operation, go: Go) -> Any:
            if operation.number == point.at:
                disk.image(self._image, point.way, draw)
                os.kill(os.getpid(), signal.SIGKILL)
            return disk.carry_out(operation, go)

        with watched(self._work, hook):
            self._act()
        disk.image(self._image, point.way, draw)

    def _finish(self, action: Callable[[], object], what: str) -> None:
        if self._warm:
            action()
            return
        code, said = in_child(action)
        if code:
            raise Failure(f"{self.subject.name}: {what}, which nothing stopped, ended with {code}: {said}")

    def _check(self, done: bool, where: str) -> str:
        left = self._work.parent / "found"

        def check() -> None:
            left.write_text(self.subject.check(self._work, done))

        code, said = in_child(check)
        if code:
            raise Failure(f"{self.subject.name}: {where}: {said or f'the check ended with {code}'}")
        return left.read_text()


def _kill_at(point: Point, operation: Operation, go: Go) -> Any:
    if operation.number == point.at:
        if point.half:
            go(half=True)
        os.kill(os.getpid(), signal.SIGKILL)
    return go()


def in_child(action: Callable[[], object], kill_after: float | None = None) -> tuple[int, str]:
    """Run ``action`` in a fork; returns its exit code (minus the signal that ended it) and its traceback."""
    reading, writing = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(reading)
            faulthandler.register(signal.SIGALRM, writing, chain=True)  # where it is stuck
            signal.alarm(SECONDS)
            action()
            code = 0
        except BaseException:
            os.write(writing, traceback.format_exc()[-4000:].encode("utf-8", "backslashreplace"))
        finally:
            os._exit(code)
    os.close(writing)
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(child, signal.SIGKILL)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read().decode("utf-8", "replace")
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code, said
