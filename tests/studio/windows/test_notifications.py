"""Messages of the system: for a long training that ends while the window is in the background."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QSystemTrayIcon, QWidget

from studio.session.project.project_file import read_preferences
from studio.windows import system_notifications
from studio.windows.preferences import PreferencesDialog
from studio.windows.system_notifications import SystemNotifications


class Notes:
    """What a system would show."""

    def __init__(self) -> None:
        self.shown: list[tuple[str, str, bool]] = []

    def show(self, title: str, text: str, is_problem: bool) -> None:
        self.shown.append((title, text, is_problem))


class Desk:
    """A window with a clock that the test sets."""

    def __init__(self, stage: Any) -> None:
        self.stage, self.notes, self.now = stage, Notes(), 0.0
        stage.studio.notifications.notifier = self.notes
        stage.studio.notifications._clock = lambda: self.now

    def train(self, seconds: float, end: str = "finished", **values: Any) -> list[tuple[str, str, bool]]:
        """Let a training of this time end so; what was shown of it."""
        view = self.stage.session.train
        self.notes.shown.clear()
        view.go_to("running", "Training")
        self.now += seconds
        view.take({"event": end, "step": 10, "seconds": seconds, "best_step": -1, **values})
        return self.notes.shown


@pytest.fixture
def desk(stage: Any) -> Desk:
    return Desk(stage)


def test_a_long_training_in_the_background_is_reported_unless_switched_off(desk: Desk) -> None:
    desk.stage.window.activateWindow()
    assert desk.train(61) == []  # the window is seen
    desk.stage.window.showMinimized()
    assert desk.train(60) == []  # too short
    ((title, text, is_problem),) = desk.train(61)
    assert title.startswith("Training finished: ")
    assert (text, is_problem) == ("After 1\u2009min 01\u2009s: Finished", False)
    failure = {"error": "ValueError", "message": "data: it has changed", "details": "", "where": "data"}
    ((title, text, is_problem),) = desk.train(61, "failed", **failure)
    assert (title.startswith("Training failed: "), is_problem) == (True, True)
    assert text.endswith("data: it has changed")
    desk.stage.studio.actions.trigger("preferences")
    dialog = desk.stage.window.findChild(PreferencesDialog)
    assert dialog.notify.isChecked()
    QTest.mouseClick(dialog.notify, Qt.MouseButton.LeftButton, pos=dialog.notify.rect().center() / 4)
    dialog.reject()
    assert not read_preferences()[0].notify
    assert desk.train(61) == []
    # A click on a message shows the run.
    window, session = desk.stage.window, desk.stage.session
    desk.stage.start()
    desk.stage.studio.frame.show_page("graph")
    session.select_run("")
    window.showMinimized()
    window.findChild(SystemNotifications).clicked.emit()
    assert not window.isMinimized()
    assert (window.current_page(), session.selected_run) == ("train", session.train.folder)


@pytest.mark.parametrize("tray", [True, False])
def test_a_system_without_a_tray_gets_an_alert(
    qtbot: Any, monkeypatch: pytest.MonkeyPatch, tray: bool
) -> None:
    asked: list[str] = []
    window = QWidget()
    qtbot.addWidget(window)
    system = SystemNotifications(window)
    monkeypatch.setattr(QApplication, "alert", lambda window: asked.append("alert"))
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", lambda: tray)
    monkeypatch.setattr(QSystemTrayIcon, "supportsMessages", lambda: True)
    monkeypatch.setattr(QSystemTrayIcon, "show", lambda tray: None)  # Qt warns on a platform of tests
    monkeypatch.setattr(QSystemTrayIcon, "showMessage", lambda *of: asked.append(of[1]))
    system.show("title", "text", True)
    assert asked == []  # no desktop
    monkeypatch.setattr(system_notifications, "WITHOUT_DESKTOP", ())
    system.show("title", "text", True)
    assert asked == (["title"] if tray else ["alert"])
