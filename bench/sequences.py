"""ms a training step of recurrent nets, a Transformer and MLPs: the engine's ways next to torch, in
alternation.

``python -m bench.sequences [--peer PYTHON] [--rows lstm,gru,...] [--rounds N] [--seconds S] [--threads N]``.
The rows of ``bench.suite`` whose time is in products and in what stands between them, and a GRU, by default
with one thread: ratios of CPU time hold on a machine that others use, too.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys

from bench.contest import Contest, can_take_part, contenders
from bench.nets import ROWS, Job, Row
from bench.results import as_json, conditions, describe, row_table

CHOSEN = {
    "lstm": ROWS["lstm"],
    "gru": Row("GRU 64 -> 128, 64 steps, batch 32", "train", Job("gru", 32, (64, 64, 128))),
    "transformer": ROWS["transformer"],
    "mlp": ROWS["mlp"],
    "mlp-small": ROWS["mlp-small"],
}
NAMES = ("engine eager", "engine layer", "engine static", "engine plan", "torch eager")


def main(arguments: list[str] | None = None) -> None:
    """Measure and print a table a row."""
    own = sys.executable if importlib.util.find_spec("torch") else None
    made = argparse.ArgumentParser(prog="python -m bench.sequences", description=__doc__.splitlines()[0])
    made.add_argument("--peer", metavar="PYTHON", default=own, help="interpreter that has torch")
    made.add_argument("--rows", default=",".join(CHOSEN), help=", ".join(CHOSEN))
    made.add_argument("--rounds", type=int, default=7, help="turns that the time is divided into")
    made.add_argument("--seconds", type=float, default=1.5, help="of each contender in each row")
    made.add_argument("--threads", type=int, default=1, help="of each contender")
    options = made.parse_args(arguments)
    unknown = set(options.rows.split(",")) - CHOSEN.keys()
    if unknown:
        made.error(f"--rows: {', '.join(sorted(unknown))}: choose from {', '.join(CHOSEN)}")

    print(describe(conditions(options.threads, options.rounds, options.seconds)), flush=True)
    found = contenders(options.peer, None)
    for name in options.rows.split(","):
        row = CHOSEN[name]
        with Contest(row, can_take_part(row, NAMES, found), options.threads) as contest:
            results = contest.run(options.rounds, options.seconds)
        print(f"\n{row.title}\n{row_table(as_json(row, NAMES[-1], results))}", flush=True)


if __name__ == "__main__":
    main()
