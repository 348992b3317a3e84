"""Lists of runs and models use the height that there is."""

from __future__ import annotations

from typing import Any

import pytest

from studio.windows.predict.model_panel import ModelPanel
from studio.windows.project.project_panel import ProjectPanel
from studio.windows.runs.runs_list import ROW_HEIGHT, TWO_LINES, LateRow, RunRow, RunsList


@pytest.mark.parametrize(
    ("height", "program", "rows"),
    [(540, "tree", 5), (540, "", 8), (700, "tree", 6), (700, "none", 9), (970, "tree", 10), (970, "", 17)],
)
def test_runs_take_the_height_that_the_program_leaves(
    qtbot: Any, height: int, program: str, rows: int
) -> None:
    panel = ProjectPanel()
    qtbot.addWidget(panel)
    panel.runs.set_rows([RunRow(f"{number}", f"run {number}", "97.00 %", 0) for number in range(40)])
    panel.set_counts(40, 40)
    panel.set_has_program(program == "tree")
    panel.set_program_visible(bool(program))
    panel.resize(232, height)
    panel.show()
    assert panel.runs.height() // TWO_LINES >= rows
    if program == "tree":
        assert panel.tree.height() > 95
    panel.runs.set_rows(panel.runs.rows()[:3])
    qtbot.waitUntil(lambda: panel.runs.height() == 3 * TWO_LINES + 2)
    assert panel.runs.y() < 160  # no gap above


def test_models_take_the_height_that_their_facts_leave(qtbot: Any) -> None:
    panel = ModelPanel()
    qtbot.addWidget(panel)
    panel.set_models([(f"{number}", f"run {number}", "97.00 %") for number in range(30)], [], [])
    panel.resize(300, 700)
    panel.show()
    assert panel.models.height() // ROW_HEIGHT >= 16


def test_only_rows_in_sight_are_made_and_made_again_where_they_have_changed(qtbot: Any) -> None:
    runs, made = RunsList(), list[str]()
    qtbot.addWidget(runs)

    def make(key: str) -> RunRow:
        made.append(key)
        return RunRow(key, f"run {key}", "", 0)

    def late(changed: str = "") -> list[LateRow]:
        return [(f"{number}", f"{number}" == changed) for number in range(10_000)]

    runs.set_rows(late(), make)
    runs.resize(232, 440)
    runs.show()
    runs.grab()
    assert set(made) == {f"{number}" for number in range(len(made))}
    assert 8 <= len(made) <= 12
    made.clear()
    runs.set_rows(late("3"), make)
    runs.grab()
    assert made == ["3"]
    runs.choose("9999")
    assert runs.chosen() == ["9999"]
    assert runs.row("9999") == RunRow("9999", "run 9999", "", 0)


def test_the_selected_run_stays_in_view_when_the_list_becomes_shorter(qtbot: Any) -> None:
    runs = RunsList()
    qtbot.addWidget(runs)
    runs.set_rows([RunRow(f"{number}", f"run {number}", "", 0) for number in range(40)])
    runs.resize(232, 10 * TWO_LINES)
    runs.show()
    runs.choose("9")
    runs.resize(232, 4 * TWO_LINES)
    assert runs.viewport().rect().contains(runs.place_of("9").center())
    runs.verticalScrollBar().setValue(runs.verticalScrollBar().maximum())
    runs.resize(232, 3 * TWO_LINES)  # scrolled away by hand: it stays there
    assert runs.verticalScrollBar().value() > 20 * TWO_LINES
