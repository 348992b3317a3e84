"""How the time of a training step grows with batch, width and depth of a network, next to torch.

``python -m bench.growth [--axes batch,width,depth] [--contenders NAME,...] [--peer PYTHON] [--rounds N]
[--seconds S] [--threads N] [--isa avx2] [--json FILE] [--image FILE]``. A network of linear layers of one
width with ReLU between them; one of the three sizes grows, the others stay. A size that takes more than 1.5
times as long as the line through its neighbours says is a cliff, and marked. ``--isa avx2`` as in
``bench.suite``. ``python -m bench.report FILE`` puts times, exponents and cliffs into bench/README.md.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from bench.arguments import add_isa, add_shared, listed
from bench.contest import FORMER, Contest, contenders, limited
from bench.growth_table import AXES, STAY, growth_table
from bench.nets import Job, Row
from bench.quiet import Others
from bench.results import Result, as_json, conditions, describe

CONTENDERS = ["engine static", "engine plan", "torch eager"]
REFERENCE = "torch eager"


def main(arguments: list[str] | None = None) -> None:
    """Measure, print a table an axis, and write figures and image where asked for."""
    made = argparse.ArgumentParser(
        prog="python -m bench.growth",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--axes", type=listed(list(AXES)), default=list(AXES), help=", ".join(AXES))
    add_shared(made, list(contenders(None, None)), 5, 0.4, FORMER)
    add_isa(made)
    made.add_argument("--image", type=Path, metavar="FILE.png", help="draw the growth there")
    options = made.parse_args(arguments)
    found = limited(contenders(options.peer, options.paddle), options.isa)
    names = options.contenders or CONTENDERS
    shared = conditions(options.threads, options.rounds, options.seconds, options.isa)
    report: dict[str, Any] = {"what": "growth", **shared, "axes": {}}
    print(describe(report), flush=True)
    others = Others()
    for axis in options.axes:
        report["axes"][axis] = points = {}
        for size in AXES[axis]:
            row = row_of(axis, size)
            with Contest(row, {name: found[name] for name in names}, options.threads) as contest:
                results: list[Result] = contest.run(options.rounds, options.seconds)
            points[str(size)] = as_json(row, REFERENCE, results)
        print(f"\n{growth_table(axis, points)}", flush=True)
        report["others"] = others.share()
        if options.json is not None:
            options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    if options.image is not None:
        from bench.growth_figure import draw

        draw(report, options.image)


def row_of(axis: str, size: int) -> Row:
    """A network of linear layers whose ``axis`` has ``size``."""
    sizes = STAY[axis] | {axis: size}
    widths = (sizes["width"],) * sizes["depth"] + (10,)
    return Row(f"{axis} {size}", "train", Job("mlp", sizes["batch"], widths))


if __name__ == "__main__":
    main()
