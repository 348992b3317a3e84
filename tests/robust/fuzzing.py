"""Runs the fuzz: `python -m tests.robust.fuzzing --slice 0:1000000`; resumable, since a number names a case.

The cases are read in a child (a fork of this process) with limits on memory. The parent sees how far the
child is; it ends one that takes too long and continues behind the case. What an untrusted file must not do,
an audit hook in the child notices: start a process, open a connection, write outside the scratch folder,
unpickle, run code.
"""

from __future__ import annotations

import argparse
import collections
import json
import mmap
import os
import random
import signal
import struct
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tests.robust.reader import Reader, check_message

CPU_SECONDS = 5.0
WALL_SECONDS = 60.0
ADDRESS_SPACE = 1 << 30
ROOT = Path(__file__).resolve().parents[2]
_FORBIDDEN = (
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.spawn",
    "os.fork",
    "os.forkpty",
    "os.startfile",
    "subprocess.Popen",
    "socket.connect",
    "socket.bind",
    "pickle.find_class",
)
_STARTS = ("os.fork", "os.posix_spawn", "subprocess.Popen")
_PROGRESS = struct.Struct("<qd")


@dataclass
class Finding:
    """A case that should not end so: ``how`` is an error's class, crash, hang, memory or execution."""

    reader: str
    case: int
    how: str
    text: str


@dataclass
class Count:
    """What came out of the cases of a reader."""

    cases: int = 0
    read: int = 0
    refused: int = 0
    contained: int = 0
    findings: list[Finding] = field(default_factory=list)


def generator(reader: str, case: int) -> random.Random:
    """The generator that a case is drawn from."""
    return random.Random(f"{reader}:{case}")


def reader_of(case: int, every: dict[str, Reader]) -> str:
    """The reader of a case of the whole; a thousand consecutive cases hold each reader's share."""
    return _table(tuple((name, reader.share) for name, reader in every.items()))[case % 1000]


_tables: dict[Any, list[str]] = {}


def _table(shares: tuple[tuple[str, int], ...]) -> list[str]:
    if shares not in _tables:
        places = [name for name, share in shares for _ in range(share)]
        random.Random(0).shuffle(places)
        _tables[shares] = places
    return _tables[shares]


# ----- the child --------------------------------------------------------------------------------------------


class _Watch:
    """The audit hook of the child: what it notices is a finding of the case in progress."""

    def __init__(self, scratch: str) -> None:
        self.seen: list[str] = []
        self.active = self.processes = False
        self._scratch = scratch

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.active:
            return
        if event in _FORBIDDEN and not (self.processes and event in _STARTS):
            self.seen.append(f"{event}{arguments!r:.200}")
        elif event == "open" and self._is_foreign(*arguments):
            self.seen.append(f"open{arguments!r:.200}")
        elif event == "ctypes.dlopen" and self._scratch in str(arguments[0]):
            self.seen.append(f"library {arguments[0]}")
        elif event == "exec" and self._scratch in str(getattr(arguments[0], "co_filename", "")):
            self.seen.append(f"exec of {arguments[0].co_filename}")

    def _is_foreign(self, path: Any, _: Any, flags: Any) -> bool:
        """Whether a file is opened that a case must not name, or one outside the scratch folder to write."""
        name = os.fsdecode(path) if isinstance(path, str | bytes) else ""
        writes = isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        outside = bool(name) and not os.path.realpath(name).startswith(self._scratch)
        return name.startswith("/etc/passwd") or (bool(writes) and outside and name != os.devnull)


def _isolate(scratch: Path) -> None:
    """Home and temporary files are in ``scratch``."""
    for variable in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        os.environ[variable] = str(scratch)
    tempfile.tempdir = str(scratch)
    warnings.simplefilter("ignore")


def _limit_memory() -> None:
    import resource

    with open("/proc/self/statm", "rb") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + ADDRESS_SPACE,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _peak() -> int:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def attempt(reader: Reader, case: int, scratch: Path) -> tuple[str, str]:
    """Make and read one case: ("read" or "refused", ""), or what is wrong and where."""
    made = reader.make(generator(reader.name, case))
    try:
        reader.read(made, scratch)
    except reader.allowed as error:
        try:
            check_message(error)
        except AssertionError as wrong:
            return "message", str(wrong)
        return "refused", ""
    except Exception as error:
        return type(error).__name__, _where(error)
    return "read", ""


def _where(error: BaseException) -> str:
    """The error and the last places in our own code."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(str(ROOT))]
    own = [f"{Path(f.filename).relative_to(ROOT)}:{f.lineno}" for f in frames if "robust" not in f.filename]
    return f"{' > '.join(own[-4:])}: {str(error)[:300]!r}"


def _child(
    cases: list[tuple[str, int]],
    start: int,
    every: dict[str, Reader],
    shared: mmap.mmap,
    out: int,
    scratch: Path,
) -> None:
    """Read the cases from place ``start`` on; a line of JSON for each thousand and for each finding."""
    from engine.files.untrusted import guarded

    check = guarded.check
    watch = _Watch(os.path.realpath(scratch))
    sys.dont_write_bytecode = (
        True  # a reader may import a module, whose bytecode is outside the scratch folder
    )
    sys.addaudithook(watch)
    _limit_memory()
    counts: dict[str, Count] = collections.defaultdict(Count)

    def say(kind: str, value: Any) -> None:
        os.write(out, (json.dumps([kind, value]) + "\n").encode())

    def report() -> None:
        say("counts", [place, {name: [c.cases, c.read, c.refused] for name, c in counts.items()}])
        counts.clear()

    place = start
    for place in range(start, len(cases)):
        name, case = cases[place]
        reader = every[name]
        _PROGRESS.pack_into(shared, 0, place, time.monotonic())
        # In this process: it is a child with limits itself.
        guarded.check = check if reader.processes else lambda suspects: None
        watch.processes = reader.processes
        before, watch.seen, watch.active = _peak(), [], True
        how, text = attempt(reader, case, scratch)
        watch.active = False
        count = counts[name]
        count.cases += 1
        count.read += how == "read"
        count.refused += how == "refused"
        grown = _peak() - before
        if watch.seen:
            how, text = "execution", "; ".join(watch.seen)
        elif how == "MemoryError" and reader.contained:
            how = "refused"
            count.refused += 1
        elif grown > reader.megabytes << 20:
            how, text = "memory", f"{grown >> 20} MB more, over {reader.megabytes} MB"
        if how not in ("read", "refused"):
            say("finding", asdict(Finding(name, case, how, text)))
            if how == "memory":  # the peak never falls: a new child sees the next one
                report()
                os._exit(3)
        if sum(c.cases for c in counts.values()) >= 500:
            report()
    place = len(cases)
    report()


# ----- the parent -------------------------------------------------------------------------------------------


def run(cases: list[tuple[str, int]], every: dict[str, Reader]) -> dict[str, Count]:
    """Read all cases in children; what came out, by reader."""
    totals: dict[str, Count] = collections.defaultdict(Count)
    start = 0
    with tempfile.TemporaryDirectory(prefix="model-studio-fuzz-") as scratch:
        while start < len(cases):
            start = _one_child(cases, start, every, totals, Path(scratch))
    return dict(totals)


def _one_child(
    cases: list[tuple[str, int]],
    start: int,
    every: dict[str, Reader],
    totals: dict[str, Count],
    scratch: Path,
) -> int:
    """Run a child until it ends; the place of the next case."""
    shared = mmap.mmap(-1, mmap.PAGESIZE)
    _PROGRESS.pack_into(shared, 0, start, time.monotonic())
    receive, send = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(receive)
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)  # Programs print
            os.dup2(null, 2)  # libhdf5 and malloc write there
            _isolate(scratch)
            _child(cases, start, every, shared, send, scratch)
            os._exit(0)
        except BaseException:
            os.write(send, (json.dumps(["broken", traceback.format_exc()]) + "\n").encode())
            os._exit(2)
    os.close(send)
    reported = start
    hung = False
    with os.fdopen(receive, "rb") as lines:
        os.set_blocking(lines.fileno(), False)
        rest, last, cpu = b"", -1, 0.0
        while True:
            data = lines.read()
            if data:
                rest += data
                *whole, rest = rest.split(b"\n")
                for line in whole:
                    kind, value = json.loads(line)
                    if kind == "broken":
                        raise RuntimeError(f"the harness itself failed: {value}")
                    if kind == "finding":
                        totals[value["reader"]].findings.append(Finding(**value))
                    else:
                        reported, counts = value
                        for name, (number, read, refused) in counts.items():
                            count = totals[name]
                            count.cases, count.read, count.refused = (
                                count.cases + number,
                                count.read + read,
                                count.refused + refused,
                            )
                continue
            if data == b"":
                break
            place, since = _PROGRESS.unpack_from(shared, 0)
            if not since:  # the child is writing it, which begins with zeros
                continue
            if place != last:
                last, cpu = place, _cpu_of(pid)
            elif _cpu_of(pid) - cpu > CPU_SECONDS or time.monotonic() - since > WALL_SECONDS:
                os.kill(pid, signal.SIGKILL)
                hung = True
                break
            time.sleep(0.05)
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    place, _ = _PROGRESS.unpack_from(shared, 0)
    shared.close()
    if code == 0:
        return len(cases)
    if code == 3:
        return place + 1
    name, case = cases[place]
    count = totals[name]
    # What the child read since its last report is lost with it; it is counted as neither read nor refused.
    for lost, _ in cases[reported if reported == start else reported + 1 : place + 1]:
        totals[lost].cases += 1
    how, text = ("hang", f"over {CPU_SECONDS} s") if hung else ("crash", f"ended with {code}")
    if every[name].contained and refused_by_the_child(every[name], case):
        count.contained += 1
    else:
        count.findings.append(Finding(name, case, how, text))
    return place + 1


def _cpu_of(pid: int) -> float:
    """Seconds of processor time of a process."""
    with open(f"/proc/{pid}/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def refused_by_the_child(reader: Reader, case: int) -> bool:
    """Whether the product's own guarded child refuses the file, in one line."""
    from engine.core.errors import FormatError
    from engine.files.native.in_memory import read_container_bytes
    from tests.robust.container_readers import KINDS

    data = reader.make(generator(reader.name, case))
    try:
        read_container_bytes(data, KINDS, 9, "file.h5")
    except FormatError as error:
        check_message(error)
        return True
    return False


def slice_of(text: str) -> range:
    """``A:B`` as the numbers from A to before B."""
    start, _, stop = text.partition(":")
    return range(int(start), int(stop))


def chosen(numbers: Iterable[int], every: dict[str, Reader], only: str = "") -> list[tuple[str, int]]:
    """The readers and numbers of the cases; with ``only`` those of the readers whose names hold it.

    A reader without a share of the whole has all numbers for itself.
    """
    if only in every and not every[only].share:
        return [(only, number) for number in numbers]
    found = [(reader_of(number, every), number) for number in numbers]
    return [case for case in found if only in case[0]]


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--slice", required=True, type=slice_of, help="the cases A:B")
    parser.add_argument("--only", default="", help="the cases of readers whose names hold this")
    parser.add_argument(
        "--log", type=Path, help="a file to append a line of JSON to after each thousand cases"
    )
    parser.add_argument("--step", type=int, default=5000)
    options = parser.parse_args()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from tests.robust.readers import readers

    every = readers()
    for start in range(options.slice.start, options.slice.stop, options.step):
        numbers = range(start, min(start + options.step, options.slice.stop))
        begin = time.monotonic()
        counts = run(chosen(numbers, every, options.only), every)
        line = json.dumps(
            {
                "slice": f"{numbers.start}:{numbers.stop}",
                "seconds": round(time.monotonic() - begin, 1),
                "counts": {name: [c.cases, c.read, c.refused, c.contained] for name, c in counts.items()},
                "findings": [asdict(finding) for c in counts.values() for finding in c.findings],
            }
        )
        print(line, flush=True)
        if options.log:
            with options.log.open("a") as log:
                log.write(line + "\n")


if __name__ == "__main__":
    main()
