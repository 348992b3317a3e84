"""Kills processes of a data-parallel training: ``python -m tests.robust.killed_processes --kills 100``.

One job is started again after each kill (``launch --max_restart``) and continues from its last checkpoint. A
kill hits a rank after a drawn step, its guard, or either of them while they start. After each kill all
processes of that start must end, and neither shared memory nor a pipe may stay; at the end the parameters of
both ranks are bit-equal to those of a training that was never killed.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tests.robust.parallel_training import EVERY

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = Path(__file__).with_name("parallel_training.py")
SECONDS = 60.0
STEPS = 2 * EVERY  # the most that one start gets on before its kill
OURS = ("PADDLE_", "PMI_", "OMP_", "OPENBLAS_", "MKL_", "FLAGS_")


@dataclass
class Report:
    """What came of the kills: how often each kind, failures in words, the longest until all had ended."""

    kinds: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    longest: float = 0.0
    seconds: float = 0.0

    def __str__(self) -> str:
        kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(self.kinds.items()))
        return (
            f"{self.kinds.total()} kills ({kinds}), {len(self.failures)} failures, all processes ended "
            f"within {self.longest:.2f} s, {self.seconds:.0f} s in all"
        )


class Launched:
    """A launch of the training in ``folder``, whose output is read line by line."""

    def __init__(self, folder: Path, steps: int, restarts: int) -> None:
        (folder / "temporary").mkdir(parents=True)
        self.folder = folder
        self.errors = folder / "errors"
        inherited = {name: text for name, text in os.environ.items() if not name.startswith(OURS)}
        with self.errors.open("wb") as errors:
            self.process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "engine.distributed.launch",
                    "--nproc_per_node=2",
                    "--print_config=no",
                    f"--max_restart={restarts}",
                    str(SCRIPT),
                    str(folder),
                    str(steps),
                ],
                env=inherited | {"PYTHONPATH": str(ROOT), "TMPDIR": str(folder / "temporary")},
                text=True,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )

    def line(self) -> list[str]:
        """The words of the next line; none at the end."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().split()  # the training prints no empty line

    def finished(self) -> list[np.ndarray]:
        """The parameters, equal in both ranks, after the end."""
        if self.process.wait(SECONDS):
            raise AssertionError(f"exit status {self.process.returncode}: {self.errors.read_text()[-2000:]}")
        assert self.process.stdout is not None
        self.process.stdout.close()
        first, second = (np.load(self.folder / f"final.{rank}.npz") for rank in range(2))
        for name in first.files:
            np.testing.assert_array_equal(first[name], second[name])
        if list((self.folder / "temporary").iterdir()):
            raise AssertionError("pipes are left")
        return [first[name] for name in first.files]


class Killer:
    """Kills in one launch, by a drawn plan, and looks at what each leaves."""

    def __init__(self, launched: Launched, draw: random.Random, report: Report) -> None:
        self._launched, self._draw, self._report = launched, draw, report
        self._gone: set[int] = set()  # processes of earlier starts

    def run(self, kills: int) -> None:
        """Kill so many times, then read to the end."""
        for restart in range(kills):
            if self._draw.random() < 0.2:
                self._while_it_starts()
            else:
                self._at_a_step(restart)
        while self._launched.line():
            pass

    def _at_a_step(self, restart: int) -> None:
        pids: list[tuple[int, int]] = []  # of each rank, and of its guard
        while len(pids) < 2:
            word, *numbers = self._words()
            if word == "began" and int(numbers[0]) == restart:
                pids.insert(int(numbers[1]), (int(numbers[2]), int(numbers[3])))
                first = int(numbers[4])
        step, rank = first + self._draw.randint(1, STEPS), self._draw.randrange(2)
        while self._words() != ["step", str(rank), str(step)]:
            pass
        kind = self._draw.choice(("rank", "rank", "rank", "guard"))
        self._kill(kind, pids[rank][kind == "guard"], {pid for pair in pids for pid in pair})

    def _while_it_starts(self) -> None:
        deadline = time.monotonic() + SECONDS
        while len(started := descendants(self._launched.process.pid) - self._gone) < 6:
            # mpiexec, its proxy, two guards and two ranks.
            if time.monotonic() > deadline:
                raise AssertionError("nothing starts")
        time.sleep(self._draw.uniform(0.0, 1.0))  # until any moment of the start
        started |= descendants(self._launched.process.pid) - self._gone
        self._kill("while it starts", self._draw.choice(sorted(pythons(started))), pythons(started))

    def _words(self) -> list[str]:
        words = self._launched.line()
        if not words:
            raise AssertionError(f"it ended: {self._launched.errors.read_text()[-2000:]}")
        return words

    def _kill(self, kind: str, pid: int, everyone: set[int]) -> None:
        time.sleep(self._draw.uniform(0.0, 0.01))
        shared = {name for each in everyone for name in mapped(each)}
        began = time.monotonic()
        os.kill(pid, signal.SIGKILL)
        self._report.kinds[kind] += 1
        while left := {each for each in everyone if is_alive(each)}:
            if time.monotonic() > began + SECONDS:
                raise AssertionError(f"killed {kind} {pid}, {left} of {everyone} are still there")
        self._report.longest = max(self._report.longest, time.monotonic() - began)
        while [name for name in shared if Path("/dev/shm", name).exists()]:
            if time.monotonic() > began + SECONDS:
                raise AssertionError(f"killed {kind} {pid}, left {shared} in shared memory")
        self._gone |= everyone


def _stat(pid: int | str) -> list[str]:
    """State and parent of a process, and what follows; empty where there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def is_alive(pid: int) -> bool:
    """Whether the process runs; one that only waits to be asked for its status does not."""
    return _stat(pid)[:1] not in ([], ["Z"])


def descendants(pid: int) -> set[int]:
    """The processes below ``pid``."""
    parents = {int(path.name): _stat(path.name) for path in Path("/proc").glob("[0-9]*")}
    found = {pid}
    while more := {each for each, stat in parents.items() if stat and int(stat[1]) in found} - found:
        found |= more
    return found - {pid}


def pythons(pids: set[int]) -> set[int]:
    """Those of ``pids`` that are guards or ranks."""
    found = set()
    for pid in pids:
        try:
            if b"guard.py" in Path(f"/proc/{pid}/cmdline").read_bytes() and b"mpiexec" not in _name(pid):
                found.add(pid)
        except OSError:
            continue
    return found


def _name(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes().partition(b"\0")[0]


def mapped(pid: int) -> set[str]:
    """The names of MPICH's shared memory in a process, also of what has been removed."""
    try:
        lines = Path(f"/proc/{pid}/maps").read_text(errors="replace").splitlines()
    except OSError:
        return set()
    return {
        line.partition("/dev/shm/")[2].removesuffix(" (deleted)")
        for line in lines
        if "/dev/shm/mpich_" in line
    }


def count(kills: int, seed: int, place: Path) -> Report:
    """Carry out ``kills`` kills in one job; a failure is in the report, which the job does not outlive."""
    report, began = Report(), time.monotonic()
    steps = STEPS * kills + EVERY
    reference = Launched(place / "reference", steps, 0)
    while reference.line():
        pass
    expected = reference.finished()
    launched = Launched(place / "killed", steps, kills)
    try:
        Killer(launched, random.Random(seed), report).run(kills)
        for value, other in zip(launched.finished(), expected, strict=True):
            np.testing.assert_array_equal(value, other)
        said = launched.errors.read_text().count("ended by signal 9 (SIGKILL)")
        if said != kills:
            raise AssertionError(f"{said} messages for {kills} kills: {launched.errors.read_text()[-2000:]}")
    except AssertionError as failure:
        report.failures.append(f"seed {seed}, kill {report.kinds.total()}: {failure}")
    finally:
        launched.process.kill()
        launched.process.wait()
    report.seconds = time.monotonic() - began
    return report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kills-") as place:
        report = count(given.kills, given.seed, Path(place))
    print("\n".join([*report.failures, str(report)]))
    sys.exit(1 if report.failures else 0)


if __name__ == "__main__":
    main()
