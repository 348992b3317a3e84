"""What the passes gain: the time of a step with and without them, for training and for prediction.

``python -m bench.passes [--row lenet|mlp|...] [--kind train|layer|program|predict] [--without PASS]
[--rounds 10] [--seconds 3]``. The rows are those of ``bench.suite``. ``train``: a step (forward, loss,
backward and Adam) that is converted as a whole; ``layer``: a converted network in an ordinary loop;
``program``: the step as a static Program that an Executor runs; ``predict``: the converted network alone.
Each ``--without`` (the name of a pass's function) adds a line in which that pass is left out. All start from
the same weights.
"""

from __future__ import annotations

import argparse
import sys

from bench.contest import Contender, Contest
from bench.nets import ROWS
from bench.peers.engine_passes import KINDS
from bench.results import as_json, row_table

REFERENCE = "without passes"


def main(arguments: list[str] | None = None) -> None:
    """Measure and print one table."""
    made = argparse.ArgumentParser(prog="python -m bench.passes", description=__doc__.splitlines()[0])
    made.add_argument("--row", choices=[n for n, row in ROWS.items() if row.kind == "train"], default="lenet")
    made.add_argument("--kind", choices=KINDS, default="train")
    made.add_argument("--without", metavar="PASS", action="append", default=[])
    made.add_argument("--rounds", type=int, default=10, help="turns that the time is divided into")
    made.add_argument("--seconds", type=float, default=3.0, help="of each line")
    options = made.parse_args(arguments)

    def line(level: str, *without: str) -> Contender:
        return Contender(sys.executable, "bench.peers.engine_passes", (level, options.kind, *without))

    found = {REFERENCE: line("0"), "with passes": line("1")}
    found |= {f"without {name}": line("1", name) for name in options.without}
    row = ROWS[options.row]
    with Contest(row, found, threads=1) as contest:
        results = contest.run(options.rounds, options.seconds)
    print(f"{row.title}, {options.kind}, one thread")
    print(row_table(as_json(row, REFERENCE, results)))


if __name__ == "__main__":
    main()
