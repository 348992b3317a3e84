"""us a tiny op with autograd in the engine, next to bare NumPy and, with ``--peer``, torch and Paddle.

``python -m bench.ops [--peer PYTHON] [--calls 20000] [--rounds 9]``. One thread; the shortest turn counts,
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
    parser.add_argument("--calls", type=int, default=20000, help="calls in one turn")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args(arguments)

    who = {"numpy": sys.executable, "engine": sys.executable}
    if options.peer is not None:
        who |= dict.fromkeys(libraries(options.peer, ["torch", "paddle"]), options.peer)
    rows = [["us an op, shape (3,)", *who, "engine / numpy"]]
    versions: list[str] = []
    for op in OPS:
        with ExitStack() as stack:
            workers: dict[str, Worker] = {}
            for name, python in who.items():
                workers[name] = Worker(python, "bench.peers.tiny_ops", [name, op], threads=1)
                stack.callback(workers[name].close)
                workers[name].repeat(max(1, options.calls // 10))

            def turn(worker: Worker) -> Callable[[], float]:
                return lambda: float(worker.repeat(options.calls)["seconds"]) / options.calls

            series = take_turns({name: turn(worker) for name, worker in workers.items()}, options.rounds)
            versions = [worker.version for worker in workers.values()]
        best = {one.name: one.best * 1e6 for one in series}
        ratio = best["engine"] / best["numpy"]
        rows.append([op, *(f"{best[name]:.3f}" for name in who), f"{ratio:.2f}"])
    print(", ".join(versions))
    print(table(rows))


if __name__ == "__main__":
    main()
