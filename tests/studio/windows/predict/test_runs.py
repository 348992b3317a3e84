"""Predict with runs: without an export, over their checkpoints, several side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from studio.windows.agreement_dialog import AgreementDialog
from tests.studio.answering_run import make_run
from tests.studio.windows.conftest import Stage
from tests.studio.windows.runs.run_folders import make_run as make_journal

WAIT = 60_000
OWN_MODEL = """
from engine import nn

class Mine(nn.Layer):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(784, 10)

    def forward(self, x):
        return self.line(x.flatten(1))
"""


@pytest.fixture
def page(stage: Stage) -> Stage:
    stage.studio.frame.show_page("predict")
    return stage


def click(qtbot: QtBot, page: Stage, name: str, modifier: Any = Qt.KeyboardModifier.NoModifier) -> None:
    models = page.studio.model_panel.models
    middle = models.place_of(next(row.key for row in models.rows() if Path(row.key).name == name)).center()
    qtbot.mouseClick(models.viewport(), Qt.MouseButton.LeftButton, modifier, middle)


def test_a_run_answers_without_an_export_and_its_checkpoints_are_scrubbed(
    page: Stage, qtbot: QtBot, tmp_path: Path
) -> None:
    make_run(tmp_path / "runs" / "first", {10: 3, 20: 7, 40: 1}, best=20)
    make_run(tmp_path / "runs" / "second", {40: 4}, best=40)
    page.session.refresh_runs()
    view, shown, panel = page.session.predict, page.studio.predict_page, page.studio.model_panel
    click(qtbot, page, "first")
    name = page.session.run_title(str(tmp_path / "runs" / "first"))
    assert page.window.status.field("task") == f"Loading {name}"
    qtbot.mouseClick(shown.pad, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bool(view.ranking), timeout=WAIT)
    assert view.ranking[0][0] == "digit 7", "the best weights come first"
    assert panel.checkpoint.text() == "best weights, step 20"
    assert panel.checkpoints.maximum() == 3
    assert ("Place", str(tmp_path / "runs" / "first")) in panel.facts.rows()
    panel.checkpoints.setFocus()
    qtbot.keyClick(panel.checkpoints, Qt.Key.Key_Home)
    qtbot.waitUntil(lambda: view.ranking[0][0] == "digit 3", timeout=WAIT)
    assert panel.checkpoint.text() == "step 10 \u00b7 epoch 0.5 of 2"
    panel.checkpoints.setValue(2)
    qtbot.waitUntil(lambda: view.ranking[0][0] == "digit 1", timeout=WAIT)
    # A second run next to the first one, on the same drawing.
    click(qtbot, page, "second", Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: bool(view.comparisons) and bool(view.comparisons[0].ranking), timeout=WAIT)
    [(name, words)] = shown.comparisons.rows()
    assert (name, words.partition(" \u00b7")[0]) == ("Linear, 2nd", "digit 4")
    assert view.ranking[0][0] == "digit 1"
    assert view.model is not None
    assert view.model.name == "first"
    click(qtbot, page, "first")
    assert shown.comparisons.rows() == []


def test_code_of_a_run_runs_after_the_agreement_only(page: Stage, qtbot: QtBot, tmp_path: Path) -> None:
    own = tmp_path / "mine.py"
    own.write_text(OWN_MODEL)
    folder = make_run(tmp_path / "runs" / "mine", {10: 6}, best=10, model=f"{own}:Mine")
    (folder / "source").mkdir()
    (folder / "source" / "mine.py").write_text(OWN_MODEL)
    page.session.refresh_runs()
    view = page.session.predict
    click(qtbot, page, "mine")
    shown = page.studio.predict_page
    assert not view.loading
    assert not page.window.findChildren(AgreementDialog)
    assert "mine.py: this run contains code" in shown.detail.text()
    assert shown.again_button.text() == "Allow and load…"
    qtbot.mouseClick(shown.again_button, Qt.MouseButton.LeftButton)
    (dialog,) = page.window.findChildren(AgreementDialog)
    assert dialog.code.code() == OWN_MODEL.removesuffix("\n")
    qtbot.mouseClick(dialog.allow, Qt.MouseButton.LeftButton)
    qtbot.mouseClick(page.studio.predict_page.pad, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bool(view.ranking), timeout=WAIT)
    assert view.ranking[0][0] == "digit 6"


def test_the_list_of_models_names_a_figure_that_is_no_percentage(page: Stage, tmp_path: Path) -> None:
    folder = make_journal(tmp_path / "runs" / "rents", accuracy=0.989)
    journal = (folder / "journal.jsonl").read_text()
    journal = journal.replace('"started",', '"started", "task": "numbers",')
    (folder / "journal.jsonl").write_text(journal.replace('"best_accuracy"', '"best_r2"'))
    make_journal(tmp_path / "runs" / "flats", accuracy=0.9625)
    page.session.refresh_runs()
    values = {Path(row.key).name: row.value for row in page.studio.model_panel.models.rows()}
    assert (values["rents"], values["flats"]) == ("R² 0.9890", "96.25\u2009%")
