"""Workers in the window: the field, and what is shown of each during a training."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from studio.controllers.runs.run_facts import MOST_WORKERS, slowest


def test_the_field_under_more_settings(stage: Any) -> None:
    pytest.importorskip("mpi4py", reason="needs the extra distributed", exc_type=ImportError)
    panel = stage.studio.settings_panel
    field = panel.form.control("workers")
    assert not field.isVisible()
    QTest.mouseClick(panel.more, Qt.MouseButton.LeftButton)
    assert field.isVisible()
    assert field.isEnabled()
    field.selectAll()
    QTest.keyClicks(field, "3")
    assert stage.session.train.settings.workers == 3
    batch = panel.form.control("batch_size")
    batch.selectAll()
    QTest.keyClicks(batch, "2")
    assert "got 3 workers for batches of 2" in stage.session.blocked("start")


def test_without_the_extra_the_field_says_why_it_is_off(stage: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    panel = stage.studio.settings_panel
    field = panel.form.control("workers")
    stage.session.change_setting("seed", 7)
    assert not field.isEnabled()
    assert field.toolTip().endswith("mpi4py is not installed; pip install 'model-studio[distributed]'")
    panel.retranslate()
    assert "pip install" in field.toolTip()
    assert panel.form.control("seed").isEnabled()
    stage.session.change_setting("workers", 2)  # a project of another machine
    assert field.isEnabled()
    assert "pip install" in stage.session.blocked("start")


def test_the_pace_of_each_worker_is_shown(stage: Any) -> None:
    stage.start()
    stage.steps(1, 2.5)
    facts = stage.studio.settings_panel.facts
    assert not [name for name, _ in facts.rows() if name.startswith("Worker")]
    pace = [(312.4, 0.081), (7.25, 0.0)]
    stage.tell(
        "steps",
        steps=[2],
        losses=[2.0],
        accuracies=[0.5],
        step=2,
        epoch=1,
        total_steps=10,
        samples_per_second=100.0,
        seconds_left=1.0,
        elapsed=1.0,
        learning_rate=0.001,
        ranks=[
            {"rank": rank, "steps_per_second": speed, "waiting": share}
            for rank, (speed, share) in enumerate(pace)
        ],
    )
    shown = [(name, text.replace("\u2009", " ")) for name, text in facts.rows() if name.startswith("Worker")]
    assert shown == [("Worker 0", "312 steps/s, waits 8.10 %"), ("Worker 1", "7.2 steps/s, waits 0.00 %")]
    stage.steps(3, 1.5)
    assert len([name for name, _ in facts.rows() if name.startswith("Worker")]) == 2


def test_of_many_workers_the_slowest_are_shown() -> None:
    paces = [{"rank": rank, "steps_per_second": 100.0 - rank, "waiting": 0.0} for rank in range(20)]
    assert [pace["rank"] for pace in slowest(paces)] == list(range(20 - MOST_WORKERS, 20))
