"""Prints line coverage of the packages and of their least covered rooms, from coverage's JSON report.

``python .ci/coverage_report.py REPORT.json``. A room is a folder directly in a package. Code that
only child processes run (the worker of the studio, the guarded reader) counts as not covered.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import TypedDict

PACKAGES = ("engine", "studio", "widgets")
SHOWN = 12


class Summary(TypedDict):
    """The fields of coverage's summary of a file that are read here: numbers of lines with statements."""

    covered_lines: int
    num_statements: int


def table(files: Mapping[str, Summary]) -> str:
    """Totals of the packages, then the least covered rooms, as lines of text."""
    packages: dict[str, list[int]] = {}
    rooms: dict[str, list[int]] = {}
    for name, summary in files.items():
        parts = PurePath(name.replace("\\", "/")).parts
        if parts[0] not in PACKAGES:
            continue
        room = "/".join(parts[:2]) if len(parts) > 2 else parts[0] + "/*.py"
        for totals, key in ((packages, parts[0]), (rooms, room)):
            total = totals.setdefault(key, [0, 0])
            total[0] += summary["covered_lines"]
            total[1] += summary["num_statements"]
    lines = ["line coverage:"]
    lines += [_line(name, *packages[name]) for name in PACKAGES if name in packages]
    lines.append("least covered rooms:")
    filled = [(name, covered, lines_of) for name, (covered, lines_of) in rooms.items() if lines_of]
    filled.sort(key=lambda room: (room[1] / room[2], room[0]))
    lines += [_line(*room) for room in filled[:SHOWN]]
    return "\n".join(lines)


def _line(name: str, covered: int, statements: int) -> str:
    share = 100.0 * covered / statements if statements else 100.0
    return f"  {name:<28} {share:5.1f} %  {covered} of {statements} lines"


def main(path: str) -> None:
    """Read the report at ``path`` and print the table."""
    report = json.loads(Path(path).read_text(encoding="utf-8"))
    print(table({name: entry["summary"] for name, entry in report["files"].items()}))


if __name__ == "__main__":
    main(sys.argv[1])
