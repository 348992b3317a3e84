"""The sources of two runs next to each other: lines that belong together, and what differs within them."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["file", "same", "changed", "removed", "added"]
Span: TypeAlias = tuple[int, int]

ALIKE = 0.4  # two lines that share less than this are shown without the parts that differ
LONG_LINE = 500
MANY_LINES = 3000  # of more lines, frequent ones do not count when lines are matched


@dataclass(frozen=True)
class PairedLine:
    """A line of each source. A number is 0 and a text empty where a side has no line; a ``file`` line names
    the file that follows. The spans of a changed line are the characters that differ.
    """

    kind: Kind
    left: int = 0
    right: int = 0
    left_text: str = ""
    right_text: str = ""
    left_spans: tuple[Span, ...] = ()
    right_spans: tuple[Span, ...] = ()


def paired_lines(first: Mapping[str, str], second: Mapping[str, str]) -> list[PairedLine]:
    """All files that differ, side by side; empty where none does."""
    lines: list[PairedLine] = []
    for name in _differing(first, second):
        left, right = (name if name in each else "" for each in (first, second))
        lines.append(PairedLine("file", left_text=left, right_text=right))
        lines += _paired(first.get(name, "").splitlines(), second.get(name, "").splitlines())
    return lines


def unified_difference(first: Mapping[str, str], second: Mapping[str, str]) -> str:
    """The same as a unified diff, for the clipboard; empty where nothing differs."""
    parts: list[str] = []
    for name in _differing(first, second):
        before, after = first.get(name, "").splitlines(), second.get(name, "").splitlines()
        parts.append("\n".join(difflib.unified_diff(before, after, name, name, lineterm="")))
    return "\n".join(parts)


def _differing(first: Mapping[str, str], second: Mapping[str, str]) -> Iterator[str]:
    for name in dict.fromkeys((*first, *second)):
        if name not in first or name not in second or first[name].splitlines() != second[name].splitlines():
            yield name


def _paired(before: list[str], after: list[str]) -> Iterator[PairedLine]:
    many = len(before) + len(after) > MANY_LINES
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, before, after, many).get_opcodes():
        if tag == "equal":
            for left, right in zip(range(i1, i2), range(j1, j2), strict=True):
                yield PairedLine("same", left + 1, right + 1, before[left], after[right])
            continue
        for at, to in zip_longest(range(i1, i2), range(j1, j2)):
            if to is None:
                yield PairedLine("removed", left=at + 1, left_text=before[at])
            elif at is None:
                yield PairedLine("added", right=to + 1, right_text=after[to])
            else:
                spans = _spans(before[at], after[to])
                yield PairedLine("changed", at + 1, to + 1, before[at], after[to], *spans)


def _spans(left: str, right: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """What differs within two lines; nothing for lines with little in common, which differ as a whole."""
    if max(len(left), len(right)) > LONG_LINE:
        return (), ()
    matcher = difflib.SequenceMatcher(None, left, right, False)
    if matcher.ratio() < ALIKE:
        return (), ()
    parts = [code[1:] for code in matcher.get_opcodes() if code[0] != "equal"]
    return tuple((i, j) for i, j, _, _ in parts if j > i), tuple((i, j) for _, _, i, j in parts if j > i)
