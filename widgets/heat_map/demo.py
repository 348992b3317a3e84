"""`python -m widgets.heat_map.demo`: the accuracy of invented runs over optimizer and width."""

from __future__ import annotations

import sys

from PySide6.QtWidgets import QWidget

from widgets.cards import Card
from widgets.demo import run_demo
from widgets.diagram.demo import example_columns
from widgets.heat_map import HeatMap


def make() -> QWidget:
    """Means of 16 runs, some cells are empty."""
    card, diagram = Card("Runs"), HeatMap()
    columns = example_columns(16)
    keys = [f"run-{row}" for row in range(len(columns[0]))]
    diagram.set_data(keys, keys, columns[1], columns[3], columns[5])
    diagram.click_cell(1, 1)
    card.body.addWidget(diagram)
    return card


if __name__ == "__main__":
    sys.exit(run_demo(make, "Heat map", (560, 380)))
