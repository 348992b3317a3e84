"""``BackwardStrategy``: how gradients are summed, which is in one order here."""

from __future__ import annotations


class BackwardStrategy:
    """``sort_sum_gradient`` asks for a fixed order of sums, which there always is: it has no effect."""

    def __init__(self) -> None:
        self.sort_sum_gradient = False
