"""Every quantity on the main screens is written in its one format (resources/quantities.py)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QAbstractTableModel, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QLabel,
    QPlainTextEdit,
    QToolTip,
    QWidget,
)

from tests.studio.windows.runs.run_folders import make_run
from widgets.plot import CurvePlot

THIN = "\u2009"
# What looks like a percentage, a time or a size, and the only form in which each is right.
FORMS = {
    "percentage": (r"[<>]?-?\d[\d.,\u2009]*\s?%", rf"<?-?\d{{1,3}}({THIN}\d{{3}})*\.\d\d{THIN}%"),
    "clock": (r"(?<![\d:-])\d+:\d\d(?!\d)", r"(?!)"),
    "time": (
        r"(?<![\w.+/-])\d[\d.]*\s?(?:h|min|s|ms|us|µs|sec|seconds?)(?!\w)",
        rf"(\d+{THIN}(h|min|s|ms|µs)|\d+\.\d{THIN}(s|ms|µs))",
    ),
    "size": (r"\d[\d.]*\s?(?:[kKMG]i?B|bytes?)\b", rf"\d[\d.]*{THIN}(B|kB|MB|GB)"),
}
# What was chosen is shown as it was given, and a heading of a table has the unit of its numbers.
CHOSEN = ("smoothing",)


def texts(window: QWidget) -> Iterator[str]:
    """Everything that can be read: texts, tooltips, descriptions, rows of lists and tables."""
    for widget in (window, *window.findChildren(QWidget)):
        if isinstance(widget, QLabel | QAbstractButton):
            yield widget.text()
        if isinstance(widget, QComboBox):
            yield from (widget.itemText(row) for row in range(widget.count()))
        if isinstance(widget, QPlainTextEdit) and widget.isReadOnly():
            yield widget.toPlainText()
        if isinstance(widget, QAbstractItemView) and widget.model() is not None:
            model = widget.model()
            for row in range(min(model.rowCount(), 100)):
                for column in range(model.columnCount() if isinstance(model, QAbstractTableModel) else 1):
                    for role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
                        yield str(model.data(model.index(row, column), role) or "")
        if isinstance(widget, CurvePlot):
            yield widget.summary()
            yield widget._rows_at(5.0)
        yield widget.toolTip()
        yield widget.accessibleDescription()


def wrong(window: QWidget) -> set[str]:
    """The texts with a quantity in another form."""
    found = set()
    for text in texts(window):
        plain = re.sub(r"<[^<>]*>", " ", text) if "<td" in text else text
        plain = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?|^\d\d:\d\d:\d\d", "", plain, flags=re.MULTILINE)
        for name, (like, right) in FORMS.items():
            for seen in re.findall(like, plain):
                whole = seen if isinstance(seen, str) else seen[0]
                if not re.fullmatch(right, whole.strip()) and not any(
                    each in plain.lower() for each in CHOSEN
                ):
                    found.add(f"{name} {whole!r} in {text[:100]!r}")
    return found


@pytest.fixture
def trained(stage: Any, tmp_path: Path) -> Any:
    """Two runs in the list and a training at its second epoch."""
    make_run(tmp_path / "runs" / "lenet-static-001", started=1.0, accuracy=0.975, loss=0.3)
    make_run(
        tmp_path / "runs" / "lenet-static-002", started=2.0, learning_rate=0.01, accuracy=0.97654, loss=9.7
    )
    stage.session.refresh_runs()
    stage.start()
    stage.steps(1, 2.3, 1.2, 0.9, 0.50001, 0.5)
    stage.tell(
        "epoch", epoch=1, step=5, partial=False, train_loss=1.0, train_accuracy=0.5, validation_loss=0.1,
        validation_accuracy=0.977, confusion=[[3] * 10] * 10, best=True, seconds=72.0, hardest=[],
        pictures=np.zeros((0, 28, 28), np.uint8),
    )  # fmt: skip
    return stage


def test_the_main_screens_have_one_format_for_each_quantity(trained: Any, qtbot: Any) -> None:
    window, found = trained.window, set()
    for page in ("train", "data", "export", "predict", "train"):
        trained.studio.frame.show_page(page)
        QApplication.processEvents()
        found |= wrong(window)
    runs = window.project.runs
    keys = [key for key in runs.keys() if "002" in key or "001" in key]  # noqa: SIM118  (a list)
    runs.choose(*keys)
    for order in ("loss", "time", "steps", "accuracy"):
        trained.session.run_list.sort_by(order)
        QApplication.processEvents()
        found |= wrong(window)
    QTest.mouseClick(window.project.strip.button("compare_runs"), Qt.MouseButton.LeftButton)
    found |= wrong(window)
    assert found == set()


def test_the_same_figure_reads_the_same_in_every_place(trained: Any, tmp_path: Path) -> None:
    folder, session, window = tmp_path / "runs" / "lenet-static-002", trained.session, trained.window
    window.project.runs.choose(str(folder))
    QApplication.processEvents()
    page = trained.studio.train_page
    accuracy, loss = f"97.65{THIN}%", "9.700"
    assert window.project.runs.row(str(folder)).value == accuracy
    assert page.figures["accuracy"]._value.text() == accuracy
    assert page.figures["loss"]._value.text() == loss
    assert accuracy in page.accuracy.summary()
    assert accuracy in page.accuracy._rows_at(5.0)
    assert f"last {loss} at 5" in page.loss.summary()
    session.run_list.sort_by("loss")
    assert window.project.runs.row(str(folder)).value == loss
    session.run_list.sort_by("time")
    assert window.project.runs.row(str(folder)).value == f"20.0{THIN}s"
    QToolTip.hideText()
