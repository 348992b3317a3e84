"""Which line of a Program's text an operator is at."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_BLOCK = re.compile(r"\{ // block_idx:(\d+) ")
UPDATES = "// updates"
"""Begins the line after which the updates of a training step follow; they belong to the first block."""


class TextLines:
    """The lines of operators, by block and operator and the way back.

    Blocks whose text has another number of operators than the Program are left out.
    """

    def __init__(self, text: str, program: Mapping[str, Any]) -> None:
        found: dict[int, list[int]] = {}
        block = -1
        for number, line in enumerate(text.split("\n")):
            if line.startswith(UPDATES):
                block = 0
            elif match := _BLOCK.match(line):
                block = int(match[1])
            elif "(inputs=" in line and line.lstrip().startswith("{"):
                found.setdefault(block, []).append(number)
        counts = {each["idx"]: len(each["ops"]) for each in program.get("blocks", ())}
        self.line_of = {
            (block, index): number
            for block, numbers in found.items()
            if counts.get(block) == len(numbers)
            for index, number in enumerate(numbers)
        }
        self.operator_at = {number: place for place, number in self.line_of.items()}
