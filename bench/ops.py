"""us a tiny op with autograd in the engine, next to bare NumPy and, with ``--peer``, torch and Paddle.

``python -m bench.ops [--peer PYTHON] [--against CHECKOUT] [--calls 2000] [--rounds 50]``. With
``--against``, the engine of another checkout takes part, in alternation. One thread; the shortest turn
counts, because the cost of an op is what it takes when nothing disturbs it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from bench.peers.protocol import CHECKOUT, Worker, libraries
from bench.peers.tiny_ops import OPS
from bench.timing import paired_ratio, table, take_turns

BEFORE = "before"


def main(arguments: list[str] | None = None) -> None:
    """Measure and print one table."""
    parser = argparse.ArgumentParser(prog="python -m bench.ops", description=__doc__.splitlines()[0])
    parser.add_argument("--peer", metavar="PYTHON", help="interpreter that has torch and/or paddle")
    parser.add_argument(
        "--against", metavar="CHECKOUT", type=Path, help="another checkout, measured in alternation"
    )
    parser.add_argument("--calls", type=int, default=2000, help="calls in one turn")
    parser.add_argument("--rounds", type=int, default=50)
    options = parser.parse_args(arguments)

    who = {"numpy": sys.executable, "engine": sys.executable}
    if options.against is not None:
        who[BEFORE] = sys.executable
    if options.peer is not None:
        who |= dict.fromkeys(libraries(options.peer, ["torch", "paddle"]), options.peer)
    with ExitStack() as stack:
        workers: dict[str, Worker] = {}
        for name, python in who.items():
            own = {CHECKOUT: str(options.against.resolve())} if name == BEFORE else {}
            library = "engine" if name == BEFORE else name
            workers[name] = Worker(python, "bench.peers.tiny_ops", [library], threads=1, environment=own)
            stack.callback(workers[name].close)

        def turn(worker: Worker, op: str) -> Callable[[], float]:
            return lambda: float(worker.repeat(options.calls, op)["seconds"]) / options.calls

        turns = {f"{name} {op}": turn(workers[name], op) for op in OPS for name in who}
        series = take_turns(turns, options.rounds)
        versions = [worker.version for worker in workers.values()]

    best = {one.name: one.best * 1e6 for one in series}
    times = {one.name: one for one in series}
    heads = ["engine / numpy", *(["engine / before"] if BEFORE in who else [])]
    rows = [["us an op, shape (3,)", *who, *heads]]
    for op in OPS:
        ratio = best[f"engine {op}"] / best[f"numpy {op}"]
        row = [op, *(f"{best[f'{name} {op}']:.3f}" for name in who), f"{ratio:.2f}"]
        if BEFORE in who:
            row.append(f"{paired_ratio(times[f'engine {op}'], times[f'{BEFORE} {op}']):.3f}")
        rows.append(row)
    print(", ".join(versions))
    print(table(rows))


if __name__ == "__main__":
    main()
