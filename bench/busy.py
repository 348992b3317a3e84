"""What a busy core costs: a training step alone, and next to a process that burns one of the two cores.

``python -m bench.busy [--rows lenet,mlp,...] [--contenders NAME,...] [--peer PYTHON] [--against CHECKOUT]
[--rounds N] [--seconds S] [--json FILE]``. Each contender has a process with two threads on two cores. A
round measures all of them alone, then all of them while another process computes on the second core without
pause; the ratio is the median over the rounds. One core and a half would take 1.33 times as long; 2 is what
one core takes alone, and is marked where it is passed; a team of threads that waits for its slowest member
takes several times that. About three minutes with the defaults.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from statistics import median
from typing import Any

from bench.arguments import add_against, add_shared, listed
from bench.contest import BEFORE, FORMER, Contest, contenders
from bench.nets import ROWS
from bench.peers.protocol import cores, pinned
from bench.results import conditions, describe
from bench.timing import table

THREADS = 2
ROWS_HERE = ("lenet", "mlp", "vgg", "lstm", "transformer")
DOUBLE = 2.0  # times as long next to a busy core: the second core helps no longer
DEFAULT = ("engine static", "engine plan", "torch eager")


@contextmanager
def burning(core: Sequence[int]) -> Iterator[None]:
    """Within the block another process computes on ``core``."""
    with pinned(core):
        burner = subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"])
    try:
        yield
    finally:
        burner.kill()
        burner.wait()


def measure(contest: Contest, rounds: int, seconds: float) -> dict[str, dict[str, list[float]]]:
    """Seconds a step of each contender, ``alone`` and ``busy``, one entry a round."""
    found: dict[str, dict[str, list[float]]] = {}
    for _ in range(rounds):
        for what in ("alone", "busy"):
            with burning(cores(THREADS)[-1:]) if what == "busy" else nullcontext():
                results = contest.run(1, seconds)
            for one in results:
                if not one.skipped:
                    times = found.setdefault(one.name, {"alone": [], "busy": []})
                    times[what] += one.seconds
    return found


def ratio(times: dict[str, list[float]]) -> float:
    """How many times as long a step takes next to a busy core: the median over the rounds."""
    return median(busy / alone for alone, busy in zip(times["alone"], times["busy"], strict=True))


def main(arguments: list[str] | None = None) -> None:
    """Measure, print a table a row, and write the figures where ``--json`` says."""
    made = argparse.ArgumentParser(
        prog="python -m bench.busy", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    rows = [name for name, row in ROWS.items() if row.kind == "train"]
    made.add_argument("--rows", type=listed(rows), default=list(ROWS_HERE))
    add_shared(made, list(contenders(None, None)), 5, 0.5, FORMER)
    add_against(made)
    options = made.parse_args(arguments)
    if len(cores(THREADS)) < THREADS:
        raise SystemExit("bench.busy: needs two cores that processes can be pinned to (Linux)")
    everybody = contenders(options.peer, options.paddle, str(options.against or ""))
    names = [
        each for name in options.contenders or DEFAULT for each in (name, name + BEFORE) if each in everybody
    ]
    report: dict[str, Any] = {
        "what": "busy",
        **conditions(THREADS, options.rounds, options.seconds),
        "rows": {},
    }
    print(describe(report), flush=True)
    for row in options.rows:
        with Contest(ROWS[row], {name: everybody[name] for name in names}, THREADS) as contest:
            found = measure(contest, options.rounds, options.seconds)
            skipped = {one.name: one.skipped for one in contest.results.values() if one.skipped}
        report["rows"][row] = {name: {**times, "ratio": ratio(times)} for name, times in found.items()}
        lines = [["", "alone min", "median", "busy min", "median", "ratio"]]
        for name, times in found.items():
            x = ratio(times)
            figures = [pick(times[what]) * 1e3 for what in ("alone", "busy") for pick in (min, median)]
            lines.append([name, *(f"{value:.2f} ms" for value in figures), f"{x:.2f}" + " !" * (x >= DOUBLE)])
        print(f"\n{ROWS[row].title}\n{table(lines)}", flush=True)
        for name, why in skipped.items():
            print(f"{name}: {why}", flush=True)
        if options.json is not None:
            options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
