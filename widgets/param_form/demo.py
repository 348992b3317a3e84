"""`python -m widgets.param_form.demo`: the settings of a run."""

from __future__ import annotations

import sys

from PySide6.QtWidgets import QWidget

from widgets.cards import Card
from widgets.demo import run_demo
from widgets.param_form import Field, ParamForm

FIELDS = [
    Field("data", "Data", "choice", "digits", choices=(("digits", "Digits (built in)"), ("mnist", "MNIST"))),
    Field("folder", "Folder", "path", "/data/mnist", help="Where the IDX files are"),
    Field("optimizer", "Optimizer", "choice", "adam", choices=(("sgd", "SGD"), ("adam", "Adam"))),
    Field("rate", "Rate", "float", 0.001, minimum=1e-8, maximum=10.0),
    Field("batch", "Batch", "int", 64, minimum=1, maximum=4096, unit="img"),
    Field("epochs", "Epochs", "int", 5, minimum=1),
    Field("static", "Static", "bool", True, help="Run the converted Program"),
    Field("seed", "Seed", "int", 2026),
    Field("device", "Device", "choice", "cpu", choices=(("cpu", "CPU · 2 threads"),)),
]


def make() -> QWidget:
    """A form with one wrong entry and one that is disabled."""
    card, form = Card("Run settings"), ParamForm(FIELDS)
    form.set_value("batch", 0)
    form.set_enabled_keys(set(form.keys()) - {"device"})
    card.body.addWidget(form)
    card.body.addStretch()
    return card


if __name__ == "__main__":
    sys.exit(run_demo(make, "Settings", (300, 480)))
