"""Memory that fails: allocation number N of a training, save, load or export, in a forked child.

``python -m tests.robust.failed_allocations --cases 2000`` counts cases; each is drawn from the seed and its
number alone. The hooks are those of CPython's own tests (``_testcapi.set_nomemory``): they fail allocations
of the interpreter, and of C code that uses its allocators. NumPy's arrays and libhdf5 do not, so one case in
four lowers the address space at a drawn moment instead. This process has done the operation once before it
forks, so that a case imports nothing; with ``--cold`` it imports, and costs four times as much.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.robust.kill_counts import own_place
from tests.robust.killed_saves import SAVES, Save
from tests.robust.killed_trainings import KINDS, Training
from tests.robust.killing import Failure, Killer, Subject, in_child

MOST = 1 << 26  # allocations that no act makes
# How many allocations fail from number N on. Not all: then h5py may look for a name without end.
LENGTHS = (1, 1, 1, 10, 1000)
EVERY = 25


class Loading:
    """Loads what a save has written."""

    def __init__(self, save: Any) -> None:
        self._save, self.name = save, f"load of {save.name}"

    def prepare(self, folder: Path) -> None:
        self._save.prepare(folder)

    def act(self, folder: Path) -> None:
        found = self._save.load(folder)
        assert found == 1, f"{found} was read"

    def check(self, folder: Path, done: bool) -> str:
        assert self._save.load(folder) == 1
        return f"loaded, {self._save.check(folder, False)}"


def subjects(place: Path) -> list[Subject]:
    """Trainings, saves and loads."""
    trainings: list[Subject] = [Training(kind, place / f"fixed {kind}", epochs=1) for kind in KINDS]
    saves: list[Any] = [save() for save in SAVES]
    return [*trainings, *saves, *(Loading(save) for save in saves if type(save).load is not Save.load)]


@contextmanager
def given_environment() -> Iterator[None]:
    """The variables that a subject sets are as before afterwards."""
    before = dict(os.environ)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _silence() -> None:
    """What CPython writes about errors that it can't raise."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


def failing(act: Callable[[], object], first: int, count: int) -> Callable[[], None]:
    """``act``, in which ``count`` allocations from number ``first`` on fail."""
    import _testcapi

    def work() -> None:
        _silence()
        _testcapi.set_nomemory(first, first + count)
        try:
            act()
        finally:
            _testcapi.remove_mem_hooks()

    return work


def with_little_memory(act: Callable[[], object], seconds: float, more: int) -> Callable[[], None]:
    """``act``; after ``seconds`` the process may take only ``more`` bytes in addition to what it has."""
    import resource

    def lower() -> None:
        time.sleep(seconds)
        with open("/proc/self/statm", "rb") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + more, resource.RLIM_INFINITY))

    def work() -> None:
        _silence()
        threading.Thread(target=lower, daemon=True).start()
        act()

    return work


class Starved(Killer):
    """Fails allocations of one subject instead of killing it."""

    def __init__(self, subject: Subject, place: Path, warm: bool) -> None:
        with given_environment():
            super().__init__(subject, place, warm)
        self.allocations = self._count()

    def _count(self) -> int:
        """About how many allocations an act makes: the least number from which on many may fail."""
        low, high = 1, 1 << 10
        while high < MOST and not self._survives(high):
            low, high = high, high * 16
        while high > 1.4 * low:
            middle = math.isqrt(low * high)
            low, high = (low, middle) if self._survives(middle) else (middle, high)
        return high

    def _survives(self, first: int) -> bool:
        self._reset()
        return in_child(failing(self._act, first, max(LENGTHS)))[0] == 0

    def case(self, draw: random.Random) -> str:
        """Carry out one case and its check; returns how the act ended and what the check found."""
        self._reset()
        if draw.random() < 0.25:
            seconds, more = draw.uniform(0, self.seconds), draw.choice((0, 1 << 16, 1 << 20, 1 << 24))
            where = f"{more} bytes more after {seconds:.3f} s"
            code, said = in_child(with_little_memory(self._act, seconds, more))
        else:
            first, count = draw.randrange(1, self.allocations), draw.choice(LENGTHS)
            where = f"allocation {first} of {self.allocations}, {count} fail"
            code, said = in_child(failing(self._act, first, count))
        if code == -signal.SIGALRM:
            raise Failure(f"{self.subject.name}: {where}: it hangs: {said}")
        found = self._check(done=code == 0, where=f"{where}: ended with {code}: {said[-600:]}")
        how = "ended well" if code == 0 else "with an error" if code == 1 else f"with {code}"
        return f"{how}: {found}"


def count(cases: int, seed: int, first: int, only: list[str], warm: bool) -> int:
    """Carry out ``cases`` cases from number ``first`` on; returns the number of failures."""
    began, failures = time.monotonic(), 0
    found: Counter[str] = Counter()
    with own_place() as place:
        chosen = [each for each in subjects(place) if not only or any(part in each.name for part in only)]
        starved: dict[int, Starved] = {}
        for case in range(first, first + cases):
            draw = random.Random(f"{seed} {case}")
            number = case % len(chosen)
            try:
                if number not in starved:
                    starved[number] = Starved(chosen[number], place / str(number), warm)
                found[starved[number].case(draw)] += 1
            except Failure as failure:
                failures += 1
                print(f"FAILED seed {seed} case {case}: {failure}", flush=True)
            if (case + 1 - first) % EVERY == 0 or case + 1 == first + cases:
                words = ", ".join(f"{times} {word}" for word, times in sorted(found.items()))
                seconds = time.monotonic() - began
                print(f"cases {first} to {case}: {failures} failures, {seconds:.0f} s ({words})", flush=True)
    return failures


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--only", nargs="+", default=[], help="subjects whose names hold one of these")
    parser.add_argument("--cold", action="store_true", help="imports and first uses belong to each case")
    given = parser.parse_args()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.exit(1 if count(given.cases, given.seed, given.first, given.only, not given.cold) else 0)


if __name__ == "__main__":
    main()
