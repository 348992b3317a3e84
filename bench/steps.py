"""What the benches of training steps share: contenders in processes of their own, in turns, in one table."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from contextlib import ExitStack

from bench.peers.protocol import Worker, libraries
from bench.timing import paired_ratio, table, take_turns

# Label -> interpreter, module and arguments of its worker.
Contenders = dict[str, tuple[str, str, list[str]]]


def parser(prog: str, about: str, batch: int, steps: int, rounds: int) -> argparse.ArgumentParser:
    """The arguments that these benches share, with their defaults."""
    made = argparse.ArgumentParser(prog=f"python -m {prog}", description=about)
    made.add_argument("--peer", metavar="PYTHON", help="interpreter that has torch and/or paddle")
    made.add_argument("--batch", type=int, default=batch)
    made.add_argument("--steps", type=int, default=steps, help="steps of each contender, after the warm-up")
    made.add_argument("--rounds", type=int, default=rounds, help="turns that the steps are divided into")
    made.add_argument("--threads", type=int, help="of every contender; else engine 1, others all")
    return made


def contenders(prog: str, peer: str | None, job: str, arguments: list[str]) -> Contenders:
    """The engine, and torch and Paddle where ``peer`` has them; ``job`` names the workers' modules."""
    module = f"bench.peers.paddle_{job}"
    found: Contenders = {
        f"engine {mode}": (sys.executable, module, ["engine", mode, *arguments])
        for mode in ("eager", "static")
    }
    if peer is None:
        return found
    names = libraries(peer, ["torch", "paddle"])
    if not names:
        raise SystemExit(f"{prog}: --peer {peer}: neither torch nor paddle is installed there")
    if "torch" in names:
        found["torch eager"] = (peer, f"bench.peers.torch_{job}", arguments)
    if "paddle" in names:
        for mode in ("eager", "static"):
            found[f"paddle {mode}"] = (peer, module, ["paddle", mode, *arguments])
    return found


def compare(title: str, found: Contenders, options: argparse.Namespace, warm_up: int) -> None:
    """Measure the contenders in turns and print one table."""
    per_round = max(1, options.steps // options.rounds)
    with ExitStack() as stack:
        workers: dict[str, Worker] = {}
        for label, (python, module, arguments) in found.items():
            own = 1 if label.startswith("engine") else os.cpu_count() or 1
            workers[label] = Worker(python, module, arguments, options.threads or own)
            stack.callback(workers[label].close)
            workers[label].repeat(warm_up)
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
    print(f"{title}, batch {options.batch}, {steps} steps in {options.rounds} turns, {threads} threads")
    print(", ".join(dict.fromkeys(versions.values())))
    print(table(rows))
    print("x: median over the turns of the row's time divided by the column's; below 1 is faster")
