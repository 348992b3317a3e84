"""The list of tasks shows exactly the tasks of the session."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QProgressBar

from studio.controllers.output import OutputController
from studio.session.work.task import RequestTask
from studio.windows.main_window import MainWindow
from tests.studio.session.conftest import Stage


@pytest.fixture
def desk(qtbot: Any, tmp_path: Path) -> Iterator[Any]:
    """A session over fake workers, with its output panel."""
    made = Stage(tmp_path / "runs")
    window = MainWindow(str(tmp_path / "layout.ini"))
    qtbot.addWidget(window)
    controller = OutputController(made.session, window)
    made.window = window  # type: ignore[attr-defined]
    yield made
    controller.close()
    made.session.close(0.0)


def rows(desk: Any) -> list[tuple[str, str, float | None]]:
    """Title, text and share of each row, from top to bottom."""
    tasks = desk.window.output.tasks
    found = []
    for box in (tasks._rows[key].box for key in tasks.tasks()):
        title, text = (label.text() for label in box.findChildren(QLabel))
        bar = box.findChild(QProgressBar)
        found.append((title, text, bar.value() / bar.maximum() if bar.maximum() else None))
    return found


def test_trainings_searches_and_models_are_shown_alike(desk: Any, qtbot: Any) -> None:
    session, tabs = desk.session, desk.window.output.tabs
    assert rows(desk) == []
    session.start()
    desk.started()
    desk.steps(0.5, 0.4)
    training = desk.worker
    name = "LeNet"
    session.find_rate()
    desk.tell("rates_tried", steps=4, rates=[0.1], losses=[1.0], smoothed=[1.0])
    asked: list[str] = []
    model = session.tasks.add(RequestTask("Loading {0}", "lenet", lambda: asked.append("stop")))
    assert rows(desk) == [
        (f"Training {name}", session.train.message, 0.2),
        ("Finding a learning rate", "", 0.25),
        ("Loading lenet", "", None),
    ]
    assert tabs.tabText(2) == "Tasks (3)"
    buttons = [row.cancel for row in desk.window.output.tasks._rows.values()]
    assert [button.accessibleName() for button in buttons] == [
        f"Cancel: Training {name}",
        "Cancel: Finding a learning rate",
        "Cancel: Loading lenet",
    ]
    for button in buttons:
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    session.pump()
    assert training.commands == ["stop_early"]
    assert asked == ["stop"]
    assert [title for title, _, _ in rows(desk)] == [f"Training {name}", "Loading lenet"]
    model.end("cancelled")
    assert rows(desk) == [(f"Training {name}", "Stopping…", 0.2)]
    training.end()
    session.pump()
    assert (rows(desk), tabs.tabText(2)) == ([], "Tasks")


def test_a_task_with_a_delay_appears_without_another_event(desk: Any, qtbot: Any) -> None:
    task = RequestTask("Loading {0}", "lenet", lambda: None)
    task.delay = 0.03
    desk.session.tasks.add(task)
    assert rows(desk) == []
    qtbot.waitUntil(lambda: rows(desk) == [("Loading lenet", "", None)])
    task.end("done")
    assert rows(desk) == []


def test_a_training_that_does_not_respond_is_ended(desk: Any, qtbot: Any) -> None:
    desk.session.start()
    desk.started()
    desk.session.stop_early()
    desk.session.train.unanswered = True
    ((_, text, _),) = rows(desk)
    assert text == "Stopping… It does not respond. You can end the process; checkpoints stay."
    (row,) = desk.window.output.tasks._rows.values()
    qtbot.mouseClick(row.cancel, Qt.MouseButton.LeftButton)
    assert desk.worker.killed


def test_a_failure_leaves_the_list_and_is_a_problem(desk: Any) -> None:
    desk.session.find_rate()
    assert [title for title, _, _ in rows(desk)] == ["Finding a learning rate"]
    desk.worker.end(clean=False, message="training process: it crashed: signal SIGSEGV; report it")
    desk.session.pump()
    assert rows(desk) == []
    (problem,) = desk.window.output.problems.problems()
    assert "it crashed" in str(problem)
