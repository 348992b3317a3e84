"""ms from a function to a plan: tracing (conversion and building), the passes, and planning.

``python -m bench.compile [--against CHECKOUT] [--network NAME] [--rounds 7]``. LeNet, ResNet-50 and a
Transformer encoder of 12 layers, for inference and for training (whose plan holds the backward part). With
``--against``, the engine of another checkout takes part in the same run, in alternation. One thread
and its processor time; every trace converts the function anew; no stage is counted in another. The shortest
round counts. Budget: 250 ms to trace, optimize and plan ResNet-50.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from bench.peers.engine_compile import COUNTS, SHAPES, STAGES
from bench.peers.protocol import ROOT, Worker
from bench.timing import table, take_turns


def _cell(milliseconds: list[float]) -> str:
    return f"{min(milliseconds):.1f} / {median(milliseconds):.1f}" if milliseconds else "-"


def main(arguments: list[str] | None = None) -> None:
    """Measure and print one table."""
    parser = argparse.ArgumentParser(prog="python -m bench.compile", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--against", metavar="CHECKOUT", type=Path, help="another checkout, measured in alternation"
    )
    parser.add_argument(
        "--network", choices=list(SHAPES), action="append", help="only this one; may be repeated"
    )
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args(arguments)

    roots = {"this": ROOT}
    if options.against is not None:
        roots[str(options.against)] = options.against.resolve()
    jobs = [f"{name} {kind}" for name in options.network or SHAPES for kind in ("infer", "train")]
    found: dict[tuple[str, str], list[dict[str, list[float]]]] = {}
    with ExitStack() as stack:
        workers: dict[str, Worker] = {}
        for label, root in roots.items():
            workers[label] = Worker(sys.executable, "bench.peers.engine_compile", [str(root)], threads=1)
            stack.callback(workers[label].close)
            for job in jobs:
                workers[label].repeat(1, job)  # modules that are imported at first use

        def turn(label: str, job: str) -> Callable[[], float]:
            def run() -> float:
                answer = workers[label].repeat(1, job)
                found.setdefault((job, label), []).append(answer)
                return float(answer["seconds"])

            return run

        take_turns({f"{job} {label}": turn(label, job) for job in jobs for label in roots}, options.rounds)
        versions = [f"{label}: {worker.version}" for label, worker in workers.items()]

    rows = [["ms, min / median", "engine", "ops traced > planned", *STAGES, "together"]]
    for job in jobs:
        for label in roots:
            answers = found[job, label]
            stages = {s: [ms for a in answers for ms in a.get(s, [])] for s in STAGES}
            whole = [sum(column) for column in zip(*filter(None, stages.values()), strict=True)]
            operators = " > ".join(f"{answers[0][count][0]:.0f}" for count in COUNTS)
            rows.append([job, label, operators, *map(_cell, stages.values()), _cell(whole)])
    print("; ".join(versions))
    print(table(rows))
    if not any("optimize" in answer for answers in found.values() for answer in answers):
        print("optimize: no pass pipeline in these checkouts")


if __name__ == "__main__":
    main()
