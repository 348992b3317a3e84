"""`python -m widgets.number_table.demo`: a table of four rows and three columns."""

from __future__ import annotations

import sys

import numpy as np
from PySide6.QtWidgets import QWidget

from widgets.cards import Card
from widgets.demo import run_demo
from widgets.number_table import NumberTable


def make() -> QWidget:
    """A table on a card."""
    card, table = Card("Measured"), NumberTable()
    table.set_values(np.arange(12.0).reshape(4, 3) / 4)
    card.body.addWidget(table)
    return card


if __name__ == "__main__":
    sys.exit(run_demo(make, "Numbers", (360, 260)))
