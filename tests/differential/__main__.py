"""Compares random calls with the real Paddle 2.6.2.

``python -m tests.differential --seed 1 --calls 3000 --paddle PYTHON [--only TEXT] [--show N] [--json FILE]``;
without ``--paddle`` the interpreter that MODEL_STUDIO_PADDLE names. Ends with 1 where a call differs.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

from tests.differential.calls import calls
from tests.differential.runs import run


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.differential")
    parser.add_argument("--seed", type=int, action="append", help="may be given several times")
    parser.add_argument("--calls", type=int, default=3000)
    parser.add_argument("--paddle", default=os.environ.get("MODEL_STUDIO_PADDLE", ""))
    parser.add_argument("--only", default="", help="functions whose path contains this text")
    parser.add_argument("--show", type=int, default=20, help="how many different calls are printed")
    parser.add_argument("--folder", type=Path, help="where calls and results are written")
    chosen = parser.parse_args()
    if not chosen.paddle:
        parser.error("--paddle or MODEL_STUDIO_PADDLE must name a Python that has Paddle 2.6.2")
    found = 0
    for seed in chosen.seed or [1]:
        with tempfile.TemporaryDirectory() as scratch:
            folder = (chosen.folder or Path(scratch)) / f"seed{seed}"
            report = run(seed, list(calls(seed, chosen.calls, chosen.only)), chosen.paddle, folder)
        print(*report.lines(), sep="\n")
        for call, mode, outcome in report.differ[: chosen.show]:
            arguments = json.dumps([call["args"], call["named"]])
            print(f"\n{seed}:{call['number']} {call['name']} {mode} [{call['twisted']}] {arguments}")
            print(f"  {outcome.category}: {outcome.detail}")
        found += len(report.differ)
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
