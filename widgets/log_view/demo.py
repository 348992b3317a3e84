"""`python -m widgets.log_view.demo`: a log and two problems."""

from __future__ import annotations

import sys

from PySide6.QtWidgets import QVBoxLayout, QWidget

from widgets.cards import Card
from widgets.demo import run_demo
from widgets.log_view import LogView, ProblemList

TRACEBACK = """Traceback (most recent call last):
  File "/home/me/lenet.py", line 14, in forward
    x = self.linear1(x)
ShapeError: matmul_v2: inner sizes differ: [64, 400] and [256, 120]"""


def make() -> QWidget:
    """Both in cards, one above the other."""
    page = QWidget()
    layout = QVBoxLayout(page)
    log, problems = LogView(), ProblemList()
    log.append("data: built-in digits, 1000 of 20 000 ready", "info", 1.7e9)
    log.append("epoch 1 of 5: loss 0.2113, accuracy 93.8 %", "info", 1.7e9 + 14)
    log.append("step 356: the loss is not finite", "warning", 1.7e9 + 15)
    log.append("worker: the training process ended with signal 9", "error", 1.7e9 + 16)
    log.flush()
    problems.add_problem("checkpoint: almost no room left: 12 MB on /home", level="warning", time=1.7e9)
    problems.add_problem("lenet.py:14: shapes don't fit: [64, 400] and [256, 120]", TRACEBACK, time=1.7e9 + 5)
    for title, widget in (("Log", log), ("Problems", problems)):
        card = Card(title)
        card.body.addWidget(widget)
        layout.addWidget(card)
    return page


if __name__ == "__main__":
    sys.exit(run_demo(make, "Log and problems", (640, 640)))
