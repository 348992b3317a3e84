"""The engine next to other libraries, row by row: time of a step, ratio, loss and memory, measured in
alternation.

``python -m bench.suite [--rows lenet,mlp,...] [--contenders NAME,...] [--peer PYTHON] [--paddle PYTHON]
[--against CHECKOUT] [--isa avx2] [--runs N] [--rounds N] [--seconds S] [--threads N] [--json FILE]``. A step
of a training is forward, loss, backward and Adam. ``--peer`` is an interpreter with torch, onnx and
onnxruntime (this one, where it has torch), ``--paddle`` one with Paddle. Each contender of a row runs in a
separate process, pinned to as many cores as it has threads, and runs about ``--seconds`` in ``--rounds``
turns. All start from the same weights and see the same batch: the loss after a few steps is printed, and
marked where it differs from the reference's. With ``--against``, the engine of another checkout takes part
in each mode, and the ratio to it is printed.

``engine eager`` is the loop as it is written, ``engine layer`` the same loop with a converted network,
``engine plan`` a step converted as a whole, all three with the kernels that an installation takes, measured
when the compiled ones have come; ``engine static`` is the last with NumPy alone. The memory is the most that
a process had, ``first step`` the time from its start to the end of its first step, imports included.

``--isa avx2`` limits all workers to AVX2 on a CPU that has AVX-512, so that the table shows what most
desktops do. ``--runs 3`` measures everything three times: each row gives the median of the runs, and the
worst of them. ``python -m bench.report FILE`` puts what ``--json`` wrote into bench/README.md.
"""

from __future__ import annotations

import argparse
import compileall
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.arguments import add_against, add_isa, add_shared, listed, positive
from bench.contest import BEFORE, FORMER, Contest, can_take_part, contenders, limited
from bench.nets import ROWS
from bench.peers.protocol import ROOT
from bench.quiet import Others
from bench.results import Result, against_lines, as_json, conditions, describe, merged, row_table

REFERENCES = {"train": "torch eager", "predict": "onnxruntime", "operator": "torch operator"}


def main(arguments: list[str] | None = None) -> None:
    """Measure, print a table a row, and write the figures where ``--json`` says."""
    options = _options(arguments)
    against = "" if options.against is None else str(options.against)
    found = limited(contenders(options.peer, options.paddle, against), options.isa)
    names = options.contenders or list(found)
    if options.contenders and against:
        names = [each for name in names for each in (name, name + BEFORE) if each in found]
    report: dict[str, Any] = {
        "what": "suite",
        **conditions(options.threads, options.rounds, options.seconds, options.isa),
        "runs": options.runs,
        "rows": {},
    }
    print(describe(report), flush=True)
    compile_sources([ROOT, *([options.against] if options.against else [])])
    others = Others()
    measured: dict[str, list[dict[str, Result]]] = {}
    for run in range(1, options.runs + 1):
        for name in options.rows:
            row = ROWS[name]
            with Contest(row, can_take_part(row, names, found), options.threads) as contest:
                results = contest.run(options.rounds, options.seconds)
            measured.setdefault(name, []).append({one.name: one for one in results})
            together = list(merged(measured[name]).values())
            report["rows"][name] = as_json(row, REFERENCES[row.kind], together)
            title = row.title + (f", {run} of {options.runs} runs" if options.runs > 1 else "")
            print(f"\n{title}\n{row_table(report['rows'][name])}", flush=True)
            for line in against_lines(together, BEFORE):
                print(line, flush=True)
            report["others"] = others.share()
            if options.json is not None:
                options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(f"\n{describe(report)}", flush=True)


def compile_sources(checkouts: Sequence[Path]) -> None:
    """Compile the engine's sources as an installation does: the first step of a process does not."""
    for checkout in checkouts:
        for name in ("engine", "resources", "bench"):
            compileall.compile_dir(checkout / name, quiet=2)


def _options(arguments: list[str] | None) -> argparse.Namespace:
    made = argparse.ArgumentParser(
        prog="python -m bench.suite",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--rows", type=listed(list(ROWS)), default=list(ROWS), help=", ".join(ROWS))
    add_against(made)
    made.add_argument("--runs", type=positive, default=1, help="complete runs, one after another")
    add_isa(made)
    add_shared(made, list(contenders(None, None)), 7, 1.0, FORMER)
    return made.parse_args(arguments)


if __name__ == "__main__":
    main()
