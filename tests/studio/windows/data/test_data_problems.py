"""The list of problems of the data, and what a check says."""

from __future__ import annotations

from typing import Any

from PySide6.QtWidgets import QApplication

from studio.windows.data.data_problems import DataProblems


def test_the_result_of_a_check_has_the_whole_width(qtbot: Any) -> None:
    problems = DataProblems()
    qtbot.addWidget(problems)
    problems.resize(280, 200)
    problems.show()
    problems.set_progress(0.5, "200 of 240 samples were checked")
    QApplication.processEvents()
    assert problems.state.width() > 250
    problems.set_progress(None, "All 240 samples were checked: no problem")
    QApplication.processEvents()
    assert problems.state.height() >= problems.state.heightForWidth(problems.state.width())
