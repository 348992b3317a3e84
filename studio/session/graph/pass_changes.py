"""Which passes of a conversion changed which lines."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

MOST_LINES = 3000
"""Longer sources are not compared: it would take longer than the dry run."""


def line_passes(passes: Sequence[tuple[str, str]]) -> list[list[list[int]]]:
    """For the source after each pass, for each of its lines, the numbers of the passes that changed it.

    The first of ``passes`` is the source as written. A line that is only indented further is unchanged; one
    that takes the place of others has their passes too. Nothing for sources that are too long.
    """
    sources = [[line.strip() for line in code.splitlines()] for _, code in passes]
    if max(map(len, sources), default=0) > MOST_LINES:
        return []
    found: list[list[list[int]]] = []
    for number, lines in enumerate(sources):
        if not number:
            found.append([[] for _ in lines])
            continue
        before, known = sources[number - 1], found[-1]
        now: list[list[int]] = []
        for kind, a, b, c, d in SequenceMatcher(None, before, lines, autojunk=False).get_opcodes():
            if kind == "equal":
                now += known[a:b]
            else:
                earlier = sorted({each for line in known[a:b] for each in line})
                now += [[*earlier, number] for _ in range(c, d)]
        found.append(now)
    return found
