"""us a tiny op with autograd in the engine, next to bare NumPy and, with ``--peer``, torch and Paddle.

``python -m bench.ops [--peer PYTHON] [--against CHECKOUT] [--calls 2000] [--rounds 50]``. With
``--against``, the engine of another checkout takes part, in alternation. One thread; the shortest turn
counts, because the cost of an op is what it takes when nothing disturbs it.

``--pools`` measures poolings and their gradients instead, as CPU time, next to Paddle; "+" is with gradient.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path

from bench.peers.poolings import ROWS
from bench.peers.protocol import CHECKOUT, Worker, libraries
from bench.peers.tiny_ops import OPS
from bench.timing import paired_ratio, table, take_turns

BEFORE = "before"
POOLS_TURN, POOLS_ROUNDS = 0.005, 20  # seconds of a turn, and turns


def main(arguments: list[str] | None = None) -> None:
    """Measure and print one table."""
    parser = argparse.ArgumentParser(prog="python -m bench.ops", description=__doc__.splitlines()[0])
    parser.add_argument("--peer", metavar="PYTHON", help="interpreter that has torch and/or paddle")
    parser.add_argument(
        "--against", metavar="CHECKOUT", type=Path, help="another checkout, measured in alternation"
    )
    parser.add_argument("--calls", type=int, default=2000, help="calls in one turn")
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--pools", action="store_true", help="poolings instead, 20 rounds of a few ms")
    options = parser.parse_args(arguments)
    who = {} if options.pools else {"numpy": sys.executable}
    who["engine"] = sys.executable
    if options.against is not None:
        who[BEFORE] = sys.executable
    if options.peer is not None:
        wanted = ["paddle"] if options.pools else ["torch", "paddle"]
        who |= dict.fromkeys(libraries(options.peer, wanted), options.peer)
    with ExitStack() as stack:
        module = "bench.peers.poolings" if options.pools else "bench.peers.tiny_ops"
        workers: dict[str, Worker] = {}
        for name, python in who.items():
            own = {CHECKOUT: str(options.against.resolve())} if name == BEFORE else {}
            library = "engine" if name == BEFORE else name
            workers[name] = Worker(python, module, [library], threads=1, environment=own)
            stack.callback(workers[name].close)
        print(", ".join(worker.version for worker in workers.values()))
        if options.pools:
            _measure_pools(workers)
        else:
            _measure_tiny(workers, options.calls, options.rounds)


def _measure_tiny(workers: Mapping[str, Worker], calls: int, rounds: int) -> None:
    def turn(worker: Worker, op: str) -> Callable[[], float]:
        return lambda: float(worker.repeat(calls, op)["seconds"]) / calls

    series = take_turns({f"{n} {op}": turn(w, op) for op in OPS for n, w in workers.items()}, rounds)
    best = {one.name: one.best * 1e6 for one in series}
    times = {one.name: one for one in series}
    heads = ["engine / numpy", *(["engine / before"] if BEFORE in workers else [])]
    rows = [["us an op, shape (3,)", *workers, *heads]]
    for op in OPS:
        ratio = best[f"engine {op}"] / best[f"numpy {op}"]
        row = [op, *(f"{best[f'{name} {op}']:.3f}" for name in workers), f"{ratio:.2f}"]
        if BEFORE in workers:
            row.append(f"{paired_ratio(times[f'engine {op}'], times[f'{BEFORE} {op}']):.3f}")
        rows.append(row)
    print(table(rows))


def _measure_pools(workers: Mapping[str, Worker]) -> None:
    others = [name for name in workers if name != "engine"]
    rows = [["us of CPU a pooling", *workers, *(f"engine / {name}" for name in others)]]
    for job in (f"{row}{ending}" for row in ROWS for ending in ("", " +")):
        first = max(float(worker.repeat(5, job)["cpu"]) / 5 for worker in workers.values())
        calls = max(5, round(POOLS_TURN / first))

        def turn(worker: Worker, job: str = job, calls: int = calls) -> Callable[[], float]:
            return lambda: float(worker.repeat(calls, job)["cpu"]) / calls

        series = take_turns({name: turn(worker) for name, worker in workers.items()}, POOLS_ROUNDS)
        best = {one.name: one.best * 1e6 for one in series}
        ratios = [f"{best['engine'] / best[name]:.2f}" for name in others]
        rows.append([job, *(f"{best[name]:.1f}" for name in workers), *ratios])
    print(table(rows))


if __name__ == "__main__":
    main()
