"""`python -m widgets.parallel.demo`: invented runs of a sweep over axes."""

from __future__ import annotations

import sys

from PySide6.QtWidgets import QWidget

from widgets.cards import Card
from widgets.demo import run_demo
from widgets.diagram.demo import example_columns
from widgets.parallel import ParallelCoordinates


def make() -> QWidget:
    """200 runs, those with a small rate selected."""
    card, diagram = Card("Runs"), ParallelCoordinates()
    columns = example_columns()
    keys = [f"run-{row}" for row in range(len(columns[0]))]
    diagram.set_data(keys, [f"MLP {row}" for row in range(len(keys))], columns, columns[-1])
    diagram.brush(0, 0.25, 0.7)
    card.body.addWidget(diagram)
    return card


if __name__ == "__main__":
    sys.exit(run_demo(make, "Parallel coordinates", (900, 420)))
