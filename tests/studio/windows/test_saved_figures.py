"""Figures, tables and scripts are written in a thread: a slow disk does not stop the window."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QFileDialog

from tests.studio.held_thread import HeldThread


@pytest.fixture
def asked(stage: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Whatever is saved goes to a file of this name."""

    def ask(name: str) -> Path:
        path = tmp_path / name
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))
        return path

    return ask


def test_charts_and_scripts_wait_for_the_disk_in_a_thread(stage: Any, asked: Any) -> None:
    stage.start()
    plot = stage.studio.train_page.curves.plot("loss")
    waiting = HeldThread(stage.session.files.writing)
    chart, points, script = asked("loss.png"), asked("loss.csv"), asked("session.sh")
    for kind, path in (("png", chart), ("csv", points)):
        asked(path.name)
        plot.actions_bar.kinds[kind].trigger()
    asked(script.name)
    assert stage.studio.actions.trigger("export_script") == ""
    assert not any(path.exists() for path in (chart, points, script))  # the window went on
    waiting.finish()
    assert chart.read_bytes().startswith(b"\x89PNG")
    assert points.read_text().startswith("series,step,value")
    assert script.stat().st_mode & 0o100
    assert str(script) in stage.window.toast.text()


def test_a_chart_that_cannot_be_written_says_so_afterwards(stage: Any, asked: Any) -> None:
    stage.start()
    plot = stage.studio.train_page.curves.plot("loss")
    failed: list[str] = []
    plot.export_failed.connect(failed.append)
    waiting = HeldThread(stage.session.files.writing)
    path = asked("absent/loss.svg")
    plot.actions_bar.kinds["svg"].trigger()
    assert failed == []
    waiting.finish()
    (words,) = failed
    assert words.startswith(f"{path}: nothing was saved")
