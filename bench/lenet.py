"""ms a training step of LeNet (forward, loss, backward, Adam), eager and static, beside other libraries.

``python -m bench.lenet [--peer PYTHON] [--batch 64] [--steps 200] [--rounds 10] [--threads N]``. With
``--peer`` (an interpreter that has torch or paddle, or both) those take part in the same run, in turns, each
as its users run it: the engine with one BLAS thread, as its training does (a second one gains nothing on
matrices of this size), the others with all cores. ``--threads`` gives all the same number. Every contender
starts from the same weights and sees the same batch; its last loss is printed, so that a contender that does
other work is noticed.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from contextlib import ExitStack

from bench.peers.protocol import Worker, libraries
from bench.timing import paired_ratio, table, take_turns

WARM_UP = 10


def contenders(peer: str | None, batch: int) -> dict[str, tuple[str, str, list[str]]]:
    """Label -> interpreter, module and arguments of its worker."""
    module, size = "bench.peers.paddle_lenet", str(batch)
    found = {
        "engine eager": (sys.executable, module, ["engine", "eager", size]),
        "engine static": (sys.executable, module, ["engine", "static", size]),
    }
    if peer is None:
        return found
    names = libraries(peer, ["torch", "paddle"])
    if not names:
        raise SystemExit(f"bench.lenet: --peer {peer}: neither torch nor paddle is installed there")
    if "torch" in names:
        found["torch eager"] = (peer, "bench.peers.torch_lenet", [size])
    if "paddle" in names:
        found["paddle eager"] = (peer, module, ["paddle", "eager", size])
        found["paddle static"] = (peer, module, ["paddle", "static", size])
    return found


def main(arguments: list[str] | None = None) -> None:
    """Measure and print one table."""
    parser = argparse.ArgumentParser(prog="python -m bench.lenet", description=__doc__.splitlines()[0])
    parser.add_argument("--peer", metavar="PYTHON", help="interpreter that has torch and/or paddle")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--steps", type=int, default=200, help="steps of each contender, after the warm-up")
    parser.add_argument("--rounds", type=int, default=10, help="turns that the steps are divided into")
    parser.add_argument("--threads", type=int, help="of every contender; else engine 1, others all")
    options = parser.parse_args(arguments)
    per_round = max(1, options.steps // options.rounds)

    with ExitStack() as stack:
        workers: dict[str, Worker] = {}
        for label, (python, module, arguments_) in contenders(options.peer, options.batch).items():
            own = 1 if label.startswith("engine") else os.cpu_count() or 1
            workers[label] = Worker(python, module, arguments_, options.threads or own)
            stack.callback(workers[label].close)
            workers[label].repeat(WARM_UP)
        losses: dict[str, float] = {}

        def turn(label: str) -> Callable[[], float]:
            def run() -> float:
                answer = workers[label].repeat(per_round)
                losses[label] = answer["loss"]
                return float(answer["seconds"]) / per_round

            return run

        series = take_turns({label: turn(label) for label in workers}, options.rounds)
        versions = {label: worker.version for label, worker in workers.items()}

    peers = [s for s in series if not s.name.startswith("engine")]
    rows = [["ms a step", "min", "median", *(f"x {s.name}" for s in [series[0], *peers]), "loss"]]
    for one in series:
        ratios = [f"{paired_ratio(one, other):.2f}" for other in [series[0], *peers]]
        loss = f"{losses[one.name]:.6f}"
        rows.append([one.name, f"{one.best * 1e3:.2f}", f"{one.typical * 1e3:.2f}", *ratios, loss])
    steps = per_round * options.rounds
    threads = options.threads or f"engine 1, others {os.cpu_count()}"
    print(f"LeNet, batch {options.batch}, {steps} steps in {options.rounds} turns, {threads} threads")
    print(", ".join(dict.fromkeys(versions.values())))
    print(table(rows))
    print("x: median over the turns of the row's time divided by the column's; below 1 is faster")


if __name__ == "__main__":
    main()
