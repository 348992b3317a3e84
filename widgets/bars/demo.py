"""`python -m widgets.bars.demo`: the bars of one prediction."""

from __future__ import annotations

import sys

from PySide6.QtWidgets import QWidget

from widgets.bars import CountBars, MeasuredBars, MeasuredRow, ProbabilityBars
from widgets.cards import Card
from widgets.demo import run_demo


def make() -> QWidget:
    """Ten digits, one of them likely."""
    card, bars = Card("Prediction"), ProbabilityBars()
    shares = [0.0, 0.0, 0.002, 0.82, 0.0, 0.008, 0.0, 0.0, 0.16, 0.01]
    bars.set_probabilities(shares, [str(digit) for digit in range(10)])
    card.body.addWidget(bars)
    counts = CountBars()
    counts.set_counts(["ant", "honey bee"], [120, 80], [30, 20])
    card.body.addWidget(counts)
    errors = MeasuredBars()
    errors.setAccessibleName("Errors")
    errors.set_rows(
        [
            MeasuredRow("conv1", "conv1", (0.0008,), "0.08 %"),
            MeasuredRow("conv2", "conv2", (0.0021,), "0.21 %"),
            MeasuredRow("linear1", "linear1", (None,), "float", faint=True),
        ]
    )
    errors.choose("conv2")
    card.body.addWidget(errors)
    return card


if __name__ == "__main__":
    sys.exit(run_demo(make, "Probabilities", (480, 360)))
