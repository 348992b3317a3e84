"""The dock of facts: what it showed before is never drawn under what it shows now."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from studio.windows.graph.graph_inspector import GraphInspector


def visible(panel: GraphInspector) -> list[str]:
    return [label.text() for label in panel.findChildren(QLabel) if label.isVisibleTo(panel) and label.text()]


def test_other_sections_leave_nothing_of_the_former(qtbot: QtBot) -> None:
    panel = GraphInspector()
    qtbot.addWidget(panel)
    panel.set_sections([("", [("Name", "first")]), ("Files", [("a", "1 kB"), ("b", "2 kB")])])
    assert visible(panel) == ["Name", "first", "Files", "a", "1 kB", "b", "2 kB"]
    panel.set_sections([("Files", [("c", "3 kB")])])  # no event is handled in between
    assert visible(panel) == ["Files", "c", "3 kB"]
    assert panel.rows() == [("c", "3 kB")]
    panel.show_nothing("Select an operator")
    assert visible(panel) == ["Select an operator"]
    assert panel.rows() == []
