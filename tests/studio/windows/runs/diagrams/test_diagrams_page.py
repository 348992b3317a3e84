"""The page Runs in the whole window: diagrams follow a sweep while it trains, and lead to the curves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from tests.studio.windows.runs.run_folders import make_run

LEFT = Qt.MouseButton.LeftButton
TRIALS = 24


def test_24_trials_appear_while_they_finish_and_lead_to_their_curves(stage: Any, qtbot: QtBot) -> None:
    runs = Path(stage.session.runs_folder)
    stage.studio.actions.trigger("page_runs")
    panel = stage.studio.diagrams.panel
    for trial in range(TRIALS):
        make_run(
            runs / f"lenet-static-{trial:03}",
            started=float(trial),
            accuracy=0.5 + trial / 100,
            learning_rate=(0.1, 0.01, 0.001)[trial % 3],
            batch_size=16 << (trial // 3 % 3),
        )
        if trial % 6 == 5:
            stage.session.refresh_runs()
            qtbot.waitUntil(lambda: not stage.studio.diagrams.busy)
            assert f"{trial + 1} rows over 3 axes" in panel.parallel.accessibleDescription()
    diagram = panel.parallel
    layout = diagram.layout_of_axes()
    x = round(layout.xs[2])
    qtbot.mousePress(diagram, LEFT, pos=QPoint(x, round(layout.y(0.9))))
    qtbot.mouseMove(diagram, QPoint(x, round(layout.y(1.0))))
    qtbot.mouseRelease(diagram, LEFT, pos=QPoint(x, round(layout.y(1.0)) - 2))
    best = [str(runs / f"lenet-static-{trial:03}") for trial in (21, 22, 23)]
    assert sorted(stage.session.runs_selection.folders) == best
    qtbot.mouseClick(panel.curves, LEFT)
    assert stage.window.current_page() == "train"
    assert sorted(stage.window.project.runs.chosen()) == best
    make_run(runs / "lenet-static-100", started=99.0, accuracy=0.99, learning_rate=0.01)
    stage.session.refresh_runs()
    stage.studio.actions.trigger("page_runs")
    qtbot.waitUntil(lambda: not stage.studio.diagrams.busy)
    assert len(stage.session.runs_selection.folders) == 4  # the range holds for the new trial
    make_run(runs / "linear-static-001", started=100.0, accuracy=0.1, model="linear", learning_rate=0.1)
    make_run(runs / "lenet-static-101", started=101.0, accuracy=0.1, data="/other", learning_rate=0.1)
    stage.session.refresh_runs()
    stage.session.diagrams.choose(across="learning_rate", up="batch_size")
    tabs = panel.tabs
    qtbot.mouseClick(tabs, LEFT, pos=tabs.tabRect(2).center())
    qtbot.waitUntil(lambda: not stage.studio.diagrams.busy)
    assert panel.heat_map.cells().counts.sum() == TRIALS + 1
    assert panel.left_out.isVisible()
    words = "Omitted, since they have another model, other data or another task: "
    assert panel.left_out.text().startswith(words)
    assert panel.left_out.text().count("Linear") == 1
    qtbot.mouseClick(tabs, LEFT, pos=tabs.tabRect(3).center())
    qtbot.waitUntil(lambda: words in panel.importance.note.text())
    assert f"{TRIALS + 1} runs" in panel.importance.note.text()
    stage.session.select_run(str(runs / "linear-static-001"))
    qtbot.mouseClick(tabs, LEFT, pos=tabs.tabRect(2).center())
    qtbot.waitUntil(lambda: not stage.studio.diagrams.busy)
    assert panel.heat_map.cells().counts.sum() == 1
