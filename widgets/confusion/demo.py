"""`python -m widgets.confusion.demo`: ten digits, a few of them taken for others."""

from __future__ import annotations

import sys

import numpy as np
from PySide6.QtWidgets import QWidget

from widgets.cards import Card
from widgets.confusion import ConfusionMatrix
from widgets.demo import run_demo


def make() -> QWidget:
    """About 97 % right."""
    random = np.random.default_rng(4)
    counts = random.poisson(0.6, (10, 10)) + np.diag(random.integers(92, 108, 10))
    counts[4, 9], counts[3, 5], counts[7, 2] = 12, 9, 5
    card, matrix = Card("Confusion"), ConfusionMatrix()
    matrix.set_counts(counts, [str(digit) for digit in range(10)])
    card.body.addWidget(matrix)
    return card


if __name__ == "__main__":
    sys.exit(run_demo(make, "Confusion matrix", (420, 420)))
