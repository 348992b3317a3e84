"""An hour of everything at once in one process: do memory, descriptors, threads, files grow?

``python -m bench.soak [--minutes 60] [--only NAME ...] [--out FILE]``. All kinds of work are done in
alternation; after each round the garbage is collected and what the process holds is measured. The first
quarter is warm-up (caches fill). Of the rest the slope of each series is printed with its standard error, and
whether it can be distinguished from zero (bench/slopes.py). With ``--out`` every measurement is appended to a
file as a line of JSON.

Measured: resident memory of this process without that of files (the system takes pages of libraries away when
others need memory), Python's allocated blocks and the objects that its collector knows, open descriptors,
threads, child processes, entries below the temporary folder. Linux only, as it reads /proc.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import os
import sys
import tempfile
import threading
import time
from array import array
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from bench.slopes import Slope, slope
from bench.timing import table

WARM_UP = 0.25  # of the time
FEWEST = 8  # measurements
SERIES = {
    "memory": "KiB",
    "blocks": "",
    "objects": "",
    "descriptors": "",
    "threads": "",
    "children": "",
    "files": "",
}


def measured(folder: Path, cleared: Sequence[Path]) -> dict[str, float]:
    """What this process holds now. What users keep below ``cleared``, runs of theirs, is not counted."""
    gc.collect()
    with open("/proc/self/status", encoding="ascii") as file:
        memory = next(int(line.split()[1]) for line in file if line.startswith("RssAnon:"))
    children = sum(len(p.read_text().split()) for p in Path("/proc/self/task").glob("*/children"))
    return {
        "memory": memory,
        "blocks": sys.getallocatedblocks(),
        "objects": len(gc.get_objects()),
        "descriptors": len(os.listdir("/proc/self/fd")),
        "threads": threading.active_count(),
        "children": children,
        "files": sum(
            len(names) + len(folders)
            for place, folders, names in os.walk(folder)
            if not any(Path(place).is_relative_to(path) for path in cleared)
        ),
    }


def trimmed() -> None:
    """Give free memory back to the system, where its library can."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    gc.collect()
    if trim is not None:
        trim(0)


def isolated(folder: Path) -> None:
    """Temporary files, settings and state of this process and its children go below ``folder``."""
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
    for variable in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        os.environ[variable] = str(folder / "home" / variable)
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.environ.setdefault("QT_LOGGING_RULES", "default.warning=false")  # what that platform can't do


class Measurements:
    """All measurements, by series. Arrays, so that storing them does not count as growth."""

    def __init__(self) -> None:
        self.times = array("d")
        self.values = {name: array("d") for name in SERIES}
        self.done: dict[str, int] = {}

    def add(self, seconds: float, found: dict[str, float]) -> None:
        self.times.append(seconds)
        for name, values in self.values.items():
            values.append(found[name])

    def after_warm_up(self) -> int:
        """The place of the first measurement after the warm-up."""
        end = self.times[-1]
        return next(n for n, seconds in enumerate(self.times) if seconds >= WARM_UP * end)

    def slopes(self) -> dict[str, Slope]:
        """The slope of each series in an hour, without the warm-up."""
        first = self.after_warm_up()
        hours = [seconds / 3600 for seconds in self.times[first:]]
        return {name: slope(hours, values[first:]) for name, values in self.values.items()}

    def report(self) -> tuple[str, bool]:
        """A table, and whether no series grows."""
        rows = [["series", "at first", "at last", "slope an hour", "standard error", "limit (1 %)", ""]]
        first, slopes = self.after_warm_up(), self.slopes()
        for name, each in slopes.items():
            values = self.values[name]
            rows.append(
                [
                    f"{name} {SERIES[name]}".strip(),
                    f"{values[first]:.0f}",
                    f"{values[-1]:.0f}",
                    f"{each.value:+.2f}",
                    f"{each.error:.2f}",
                    f"{each.limit:.2f}",
                    "stays" if each.is_zero else "CHANGES",
                ]
            )
        counts = ", ".join(f"{count:,} {name}" for name, count in self.done.items())
        head = f"{self.times[-1] / 60:.1f} minutes, {len(self.times)} measurements; units: {counts}"
        return f"{head}\n{table(rows)}", all(each.is_zero or each.value < 0 for each in slopes.values())


def soak(minutes: float, names: Sequence[str], out: Path | None = None) -> Measurements:
    """Work for ``minutes`` and measure after every round."""
    from bench.soak_work import WORK

    found = Measurements()
    found.done = dict.fromkeys(names, 0)
    with tempfile.TemporaryDirectory(prefix="soak-") as name, ExitStack() as stack:
        folder = Path(name)
        isolated(folder)
        folders = [folder / "runs", folder / "window-runs", folder / "home"]
        units = {each: stack.enter_context(WORK[each][0](folder)) for each in names}
        begin = time.monotonic()
        while time.monotonic() - begin < minutes * 60 or len(found.times) < FEWEST:
            for each, unit in units.items():
                for _ in range(WORK[each][1]):
                    unit()
                found.done[each] += WORK[each][1]
            now = measured(folder, folders)
            found.add(time.monotonic() - begin, now)
            if out is not None:
                with out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"time": found.times[-1], **now, "done": found.done}) + "\n")
    return found


def main(arguments: list[str] | None = None) -> int:
    """Soak and print; 1 where something grows."""
    from bench.soak_work import WORK

    parser = argparse.ArgumentParser("bench.soak", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--only", nargs="+", choices=sorted(WORK), default=list(WORK))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(arguments)

    text, stays = soak(options.minutes, options.only, options.out).report()
    print(text)
    return 0 if stays else 1


if __name__ == "__main__":
    raise SystemExit(main())
