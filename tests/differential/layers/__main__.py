"""Compares layers with the real Paddle 2.6.2.

``python -m tests.differential.layers --paddle PYTHON [--only TEXT]``; without ``--paddle`` the
interpreter that MODEL_STUDIO_PADDLE names. Ends with 1 where a layer differs.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from tests.differential.layers.sweep import sweep


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.differential.layers")
    parser.add_argument("--paddle", default=os.environ.get("MODEL_STUDIO_PADDLE", ""))
    parser.add_argument("--only", default="", help="cases whose name contains this text")
    parser.add_argument("--folder", type=Path, help="where cases and results are written")
    chosen = parser.parse_args()
    if not chosen.paddle:
        parser.error("--paddle or MODEL_STUDIO_PADDLE must name a Python that has Paddle 2.6.2")
    with tempfile.TemporaryDirectory() as scratch:
        report = sweep(chosen.paddle, chosen.folder or Path(scratch), chosen.only)
    print(*report.lines(), sep="\n")
    return int(bool(report.differ))


if __name__ == "__main__":
    sys.exit(main())
