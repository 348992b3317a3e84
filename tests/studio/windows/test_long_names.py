"""Names of 120 characters without a space: the window and its dialogs keep their width."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QApplication, QComboBox, QDialog, QToolTip

from studio.windows.runs.comparison_dialog import ComparisonDialog
from studio.windows.runs.run_notes_dialog import RunNotesDialog
from tests.studio.windows.runs.run_folders import make_run
from widgets.cards import Chip
from widgets.elided import ElidedLabel

LONG = "x" * 119


def dialog(stage: Any, command: str) -> QDialog:
    """The dialog that the command opens."""
    assert stage.studio.actions.trigger(command) == ""
    QApplication.processEvents()
    shown = [each for each in stage.window.findChildren(QDialog) if each.isVisible()]
    assert len(shown) == 1
    return shown[0]  # type: ignore[no-any-return]


@pytest.mark.styled
def test_long_names_widen_neither_window_nor_dialogs(stage: Any, tmp_path: Path) -> None:
    session, window = stage.session, stage.window
    runs = [str(make_run(tmp_path / "runs" / f"lenet-static-00{place}", started=place)) for place in (1, 2)]
    session.refresh_runs()
    window.resize(1000, 650)
    for place, run in enumerate(runs):
        session.run_changes.describe(run, f"{LONG}{place}", ("t" * 50, "u" * 50), "n" * 300)
    session.rename_project(LONG)
    window.project.runs.choose(*runs)
    QApplication.processEvents()
    assert window.width() == 1000
    assert window.minimumSizeHint().width() < 700
    chips = [chip for chip in stage.studio.train_page.loss.findChildren(Chip) if LONG in chip.text()]
    assert len(chips) == 2
    assert max(chip.geometry().right() for chip in chips) < stage.studio.train_page.loss.width()
    QApplication.sendEvent(chips[0], QHelpEvent(QHelpEvent.Type.ToolTip, QPoint(5, 5), QPoint(5, 5)))
    assert QToolTip.text() == chips[0].text()
    QToolTip.hideText()
    for command, kind in (("compare_runs", ComparisonDialog), ("run_notes", RunNotesDialog)):
        shown = dialog(stage, command)
        assert isinstance(shown, kind)
        assert shown.minimumSizeHint().width() < 560
        assert all(box.width() < 400 for box in shown.findChildren(QComboBox))
        shown.close()
    for command in ("save_project_as", "rename_project", "delete_run"):
        stage.studio.actions.trigger(command)
        QApplication.processEvents()
        for shown in window.findChildren(QDialog):
            if shown.isVisible():
                assert shown.minimumSizeHint().width() < 560, command
                assert shown.width() < 700, command
                shown.close()


@pytest.mark.styled
def test_a_question_about_a_long_name_is_no_wider_than_the_window(
    stage: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.start()
    monkeypatch.setattr(stage.session, "run_title", lambda folder: LONG)
    shown = dialog(stage, "cancel")
    assert shown.minimumSizeHint().width() < 560
    assert LONG in shown.informativeText().replace("\u200b", "")  # type: ignore[attr-defined]
    shown.close()


def test_an_elided_label_shows_the_whole_text_as_its_tooltip(qtbot: Any) -> None:
    label = ElidedLabel(LONG)
    qtbot.addWidget(label)
    label.resize(100, 20)
    assert label.shown_text().endswith("\u2026")
    QApplication.sendEvent(label, QHelpEvent(QHelpEvent.Type.ToolTip, QPoint(5, 5), QPoint(5, 5)))
    assert QToolTip.text() == LONG
    QToolTip.hideText()
    clicks: list[int] = []
    label.clicked.connect(lambda: clicks.append(1))
    for leads in (False, True):
        label.set_leads(leads)
        qtbot.mouseClick(label, Qt.MouseButton.LeftButton)
    assert clicks == [1]
