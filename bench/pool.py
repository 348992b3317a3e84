"""What it costs to hand shards over to another thread: ``python -m bench.pool [--repeats N]``.

Eight shards of a function that does nearly nothing, on two threads: by one plain call, through the
interpreter, and in compiled code (with llvmlite), right after each other and after pauses in which the
workers fall asleep. Microseconds: the least, median and 9 of 10.
"""

from __future__ import annotations

import argparse
import ctypes
import functools
import time
from collections.abc import Callable
from typing import Any

from bench.timing import table

PAUSES = (0.0, 1e-4, 1e-3)  # seconds


def spent(call: Callable[[], Any], pause: float, repeats: int) -> list[str]:
    """Microseconds of ``call``, each after a pause of computing."""
    times = []
    for _ in range(repeats):
        until = time.perf_counter() + pause
        while time.perf_counter() < until:
            pass
        start = time.perf_counter()
        call()
        times.append((time.perf_counter() - start) * 1e6)
    times.sort()
    return [f"{times[int(part * (repeats - 1))]:.1f}" for part in (0, 0.5, 0.9)]


def main() -> None:
    """Measure and print."""
    made = argparse.ArgumentParser(prog="python -m bench.pool", description=__doc__)
    made.add_argument("--repeats", type=int, default=500)
    repeats = made.parse_args().repeats
    from engine.kernels.cpu import pool
    from engine.kernels.cpu.threads import set_num_threads
    from engine.kernels.fast.compiler import function
    from engine.kernels.fast.linalg import handoff
    from engine.kernels.fast.vectors import Frame

    set_num_threads(2)
    nothing = function("bench: nothing", lambda module, name: Frame(module, name).close())
    if not nothing.wait(60):
        raise SystemExit("bench.pool: nothing could be compiled; see the log")
    args = (ctypes.c_int64 * 1)()
    tasks = [functools.partial(nothing.call, args, n, n + 1) for n in range(8)]
    ways: dict[str, Callable[[], Any]] = {
        "one call": lambda: nothing.call(args, 0, 8),
        "interpreter": lambda: pool.run(tasks),
    }
    if handoff.supported():
        crew = handoff.Crew()
        crew.wait(60)
        crew.resize(1)
        ways["compiled"] = lambda: crew.call(nothing.address, ctypes.addressof(args), 8, 8)
    rows = [["", "pause", "min", "median", "9 of 10"]]
    for pause in PAUSES:
        rows += [[name, f"{pause * 1e6:.0f}", *spent(way, pause, repeats)] for name, way in ways.items()]
    print(table(rows))


if __name__ == "__main__":
    main()
