"""The engine next to other libraries, row by row: time of a step, ratio, loss and memory, measured in
alternation.

``python -m bench.suite [--rows lenet,mlp,...] [--contenders NAME,...] [--peer PYTHON] [--paddle PYTHON]
[--against CHECKOUT] [--rounds N] [--seconds S] [--threads N] [--json FILE]``. A step of a training is
forward, loss, backward and Adam. ``--peer`` is an interpreter with torch, onnx and onnxruntime (this one,
where it has torch), ``--paddle`` one with Paddle. Each contender of a row runs in a separate process, pinned
to as many cores as it has threads, and runs about ``--seconds`` in ``--rounds`` turns. All start from the
same weights and see the same batch: the loss after a few steps is printed, and marked where it differs from
the reference's. With ``--against``, the engine of another checkout takes part in each mode, and the ratio to
it is printed.

``engine layer`` is a converted network in an ordinary loop, ``engine static`` a step converted as a whole,
both with NumPy alone; ``engine fast`` is the latter with compiled kernels, and is measured when they are
ready. ``python -m bench.report FILE`` puts what ``--json`` wrote into bench/README.md.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from bench.arguments import add_shared, listed
from bench.contest import BEFORE, Contest, can_take_part, contenders
from bench.nets import ROWS
from bench.results import against_lines, as_json, conditions, describe, row_table

REFERENCES = {"train": "torch eager", "predict": "onnxruntime", "operator": "torch operator"}
NOT_BY_DEFAULT = ("engine layer",)


def main(arguments: list[str] | None = None) -> None:
    """Measure, print a table a row, and write the figures where ``--json`` says."""
    options = _options(arguments)
    against = "" if options.against is None else str(options.against.resolve())
    found = contenders(options.peer, options.paddle, against)
    names = options.contenders or [name for name in found if name.removesuffix(BEFORE) not in NOT_BY_DEFAULT]
    if options.contenders and against:
        names = [each for name in names for each in (name, name + BEFORE) if each in found]
    report: dict[str, Any] = {
        "what": "suite",
        **conditions(options.threads, options.rounds, options.seconds),
        "rows": {},
    }
    print(describe(report), flush=True)
    for name in options.rows:
        row = ROWS[name]
        with Contest(row, can_take_part(row, names, found), options.threads) as contest:
            results = contest.run(options.rounds, options.seconds)
        report["rows"][name] = as_json(row, REFERENCES[row.kind], results)
        print(f"\n{row.title}\n{row_table(report['rows'][name])}", flush=True)
        for line in against_lines(results, BEFORE):
            print(line, flush=True)
        if options.json is not None:
            options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def _options(arguments: list[str] | None) -> argparse.Namespace:
    made = argparse.ArgumentParser(
        prog="python -m bench.suite",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--rows", type=listed(list(ROWS)), default=list(ROWS), help=", ".join(ROWS))
    made.add_argument(
        "--against", metavar="CHECKOUT", type=Path, help="another checkout, measured in alternation"
    )
    add_shared(made, list(contenders(None, None)), rounds=7, seconds=1.0)
    return made.parse_args(arguments)


if __name__ == "__main__":
    main()
