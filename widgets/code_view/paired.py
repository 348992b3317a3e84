"""PairedScroll: two texts that scroll together by lines that belong to each other."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QPlainTextEdit


class PairedScroll(QObject):
    """Whichever of two views is scrolled, the other one follows to the line that stands for its topmost one.

    Between two lines that belong together the other view moves in proportion, so that nothing jumps.
    """

    def __init__(self, left: QPlainTextEdit, right: QPlainTextEdit) -> None:
        super().__init__(left)
        self._left, self._right = left, right
        self._pairs: list[tuple[int, int]] = []
        self._following = False
        left.verticalScrollBar().valueChanged.connect(lambda: self._follow(self._left, self._right, 0))
        right.verticalScrollBar().valueChanged.connect(lambda: self._follow(self._right, self._left, 1))

    def set_lines(self, lines: Mapping[int, Sequence[int]]) -> None:
        """For lines of the left text (counted from 1) those of the right one; none lets each scroll alone."""
        pairs: list[tuple[int, int]] = []
        for line in sorted(lines):
            # Preserve the order: scrolling down can't reach a line that is further up on the other side.
            other = min(lines[line], default=0)
            if other and (not pairs or other > pairs[-1][1]):
                pairs.append((line, other))
        self._pairs = pairs
        self.align()

    def align(self) -> None:
        """Bring the right view to where the left one is."""
        self._follow(self._left, self._right, 0)

    def _follow(self, moved: QPlainTextEdit, other: QPlainTextEdit, side: int) -> None:
        if self._following or not self._pairs or not other.isVisible():
            return
        top = moved.verticalScrollBar().value() + 1
        to = counterpart([(pair[side], pair[1 - side]) for pair in self._pairs], top)
        self._following = True
        other.verticalScrollBar().setValue(round(to) - 1)
        self._following = False


def counterpart(pairs: Sequence[tuple[int, int]], line: float) -> float:
    """The place on the other side of a line: between two pairs in proportion, outside of them as far away."""
    at = bisect_right(pairs, line, key=lambda pair: pair[0])
    if at == 0:
        return max(1.0, pairs[0][1] - (pairs[0][0] - line))
    before = pairs[at - 1]
    if at == len(pairs):
        return before[1] + (line - before[0])
    after = pairs[at]
    return before[1] + (line - before[0]) * (after[1] - before[1]) / (after[0] - before[0])
