"""What the passes gain: the time of a step with and without them, for training and for prediction.

``python -m bench.passes [--rows lenet,mlp,...|all] [--kind train|layer|program|predict] [--without PASS]
[--each] [--fast] [--rounds 10] [--seconds 3]``. The rows are those of ``bench.suite``. ``train``: a step
(forward, loss, backward and Adam) that is converted as a whole, next to the same eagerly; ``layer``: a
converted network in an ordinary loop; ``program``: the step as a static Program that an Executor runs;
``predict``: the converted network alone. Each ``--without`` (the name of a pass's function, or
``fuse_elementwise``, which runs when a plan is made) adds a line in which that pass is omitted, ``--each``
such a line for every pass of level 1. With ``--fast`` all lines but the eager one take compiled kernels, and
are measured when they are ready. All start from the same weights.
"""

from __future__ import annotations

import argparse
import sys

from bench.contest import Contender, Contest, engine_contender
from bench.nets import ROWS
from bench.peers.engine_passes import EXACT_PASSES, KINDS
from bench.results import as_json, row_table

REFERENCE = "without passes"
TRAINED = [name for name, row in ROWS.items() if row.kind == "train"]


def main(arguments: list[str] | None = None) -> None:
    """Measure, and print a table a row."""
    made = argparse.ArgumentParser(prog="python -m bench.passes", description=__doc__.splitlines()[0])
    made.add_argument("--rows", default="lenet", help=f"'all', or of {', '.join(TRAINED)}")
    made.add_argument("--kind", choices=KINDS, default="train")
    made.add_argument("--without", metavar="PASS", action="append", default=[])
    made.add_argument("--each", action="store_true", help="omit each pass of level 1 in turn")
    made.add_argument("--fast", action="store_true", help="with compiled kernels")
    made.add_argument("--rounds", type=int, default=10, help="turns that the time is divided into")
    made.add_argument("--seconds", type=float, default=3.0, help="of each line")
    options = made.parse_args(arguments)
    names = TRAINED if options.rows == "all" else options.rows.split(",")
    unknown = [name for name in names if name not in TRAINED]
    if unknown:
        made.error(f"--rows: {unknown} are none of {', '.join(TRAINED)}")
    without = [*dict.fromkeys([*options.without, *(EXACT_PASSES if options.each else [])])]
    kernels = "fast" if options.fast else "numpy"

    def line(level: str, *left_out: str) -> Contender:
        arguments = (level, options.kind, *left_out)
        environment = {"MODEL_STUDIO_KERNELS": kernels}
        return Contender(sys.executable, "bench.peers.engine_passes", arguments, environment=environment)

    found = {REFERENCE: line("0"), "with passes": line("1")}
    found |= {f"without {name}": line("1", name) for name in without}
    if options.kind == "train":
        found["eager"] = engine_contender("eager", "numpy")
    for name in names:
        row = ROWS[name]
        with Contest(row, found, threads=1) as contest:
            results = contest.run(options.rounds, options.seconds)
        print(f"{row.title}, {options.kind}, one thread, kernels {kernels}")
        print(row_table(as_json(row, REFERENCE, results)), flush=True)


if __name__ == "__main__":
    main()
