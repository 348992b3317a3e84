"""us a tiny op with autograd in the engine, next to bare NumPy and, with ``--peer``, torch and Paddle.

``python -m bench.ops [--peer PYTHON] [--calls 2000] [--rounds 50]``. One thread; the shortest turn counts,
because the cost of an op is what it takes when nothing disturbs it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from contextlib import ExitStack

from bench.peers.protocol import Worker, libraries
from bench.peers.tiny_ops import OPS
from bench.timing import table, take_turns


def main(arguments: list[str] | None = None) -> None:
    """Measure and print one table."""
    parser = argparse.ArgumentParser(prog="python -m bench.ops", description=__doc__.splitlines()[0])
    parser.add_argument("--peer", metavar="PYTHON", help="interpreter that has torch and/or paddle")
    parser.add_argument("--calls", type=int, default=2000, help="calls in one turn")
    parser.add_argument("--rounds", type=int, default=50)
    options = parser.parse_args(arguments)

    who = {"numpy": sys.executable, "engine": sys.executable}
    if options.peer is not None:
        who |= dict.fromkeys(libraries(options.peer, ["torch", "paddle"]), options.peer)
    with ExitStack() as stack:
        workers: dict[str, Worker] = {}
        for name, python in who.items():
            workers[name] = Worker(python, "bench.peers.tiny_ops", [name], threads=1)
            stack.callback(workers[name].close)

        def turn(worker: Worker, op: str) -> Callable[[], float]:
            return lambda: float(worker.repeat(options.calls, op)["seconds"]) / options.calls

        turns = {f"{name} {op}": turn(workers[name], op) for op in OPS for name in who}
        series = take_turns(turns, options.rounds)
        versions = [worker.version for worker in workers.values()]

    best = {one.name: one.best * 1e6 for one in series}
    rows = [["us an op, shape (3,)", *who, "engine / numpy"]]
    for op in OPS:
        ratio = best[f"engine {op}"] / best[f"numpy {op}"]
        rows.append([op, *(f"{best[f'{name} {op}']:.3f}" for name in who), f"{ratio:.2f}"])
    print(", ".join(versions))
    print(table(rows))


if __name__ == "__main__":
    main()
