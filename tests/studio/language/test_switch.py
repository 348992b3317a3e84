"""Another language in the open window: each text follows at once, and back."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QObject
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tests.studio.language.marked import OPEN, Language
from tests.studio.language.texts import texts
from tests.studio.language.untranslated import cut_off, settle, untranslated
from tests.studio.windows.conftest import Stage
from tests.studio.windows.runs.run_folders import make_run

PAGES = ("train", "data", "code", "runs", "graph", "export", "debug", "predict")


@pytest.fixture
def switch(stage: Any) -> Iterator[Language]:
    yield Language()
    Language.english()


@pytest.fixture
def trained(stage: Any, tmp_path: Path) -> Any:
    """Two runs in the list, a training at its second epoch, and all pages."""
    stage.studio.complete()
    make_run(tmp_path / "runs" / "lenet-static-001", started=1.0, accuracy=0.975, loss=0.3)
    make_run(tmp_path / "runs" / "lenet-static-002", started=2.0, learning_rate=0.01, loss=9.7)
    stage.session.refresh_runs()
    stage.start()
    stage.steps(1, 2.3, 1.2, 0.9, 0.5, 0.5)
    stage.tell(
        "epoch", epoch=1, step=5, partial=False, train_loss=1.0, train_accuracy=0.5, validation_loss=0.1,
        validation_accuracy=0.977, confusion=[[3] * 10] * 10, best=True, seconds=72.0, hardest=[],
        pictures=np.zeros((0, 28, 28), np.uint8),
    )  # fmt: skip
    return stage


def show(stage: Any, page: str) -> None:
    stage.studio.frame.show_page(page)
    while page == "runs" and stage.studio.diagrams.busy:
        QTest.qWait(10)
    settle()


def all_texts(stage: Any) -> list[str]:
    return [str(text) for text in texts(stage.window)]


def test_all_texts_follow_the_language_and_return(
    trained: Any, switch: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = trained.session.runs_table.columns
    names = {columns.short(name) for name in columns.names()}  # which filters use
    for page in PAGES:
        show(trained, page)
    switch.marked()
    found = set()
    for page in PAGES:
        show(trained, page)
        found |= untranslated(trained.window, monkeypatch, names)
    assert not found, "\n".join(sorted(found))
    switch.english()
    for page in PAGES:
        show(trained, page)
        assert [text for text in all_texts(trained) if OPEN in text] == []


@pytest.mark.styled
def test_nothing_is_cut_off_in_a_longer_language(trained: Any, switch: Language) -> None:
    trained.window.resize(1000, 650)
    switch.marked()
    found = {}
    for page in PAGES:
        show(trained, page)
        if texts := sorted(cut_off(trained.window)):
            found[page] = texts
    assert not found, "\n".join(f"{page}: {text}" for page, texts in found.items() for text in texts)


def test_a_second_window_follows(
    trained: Any, switch: Language, qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = Stage(qapp, tmp_path / "others")
    try:
        second.studio.complete()
        switch.marked()
        assert untranslated(second.window, monkeypatch, {"digits-lenet"}) == set()
        trained.studio.frame.language.use("en")
        settle()
        assert not [text for text in all_texts(second) if OPEN in text]
        assert second.session.preferences.language == "en"
    finally:
        second.close()


def test_many_switches_while_a_training_runs_leave_nothing_behind(trained: Any, switch: Language) -> None:
    """Each of the 50 switches back and forth brings steps of the training, and makes no widget that stays."""
    session, counts = trained.session, []
    trained.studio.frame.show_page("train")
    for number in range(50):
        switch.marked() if number % 2 == 0 else switch.english()
        trained.steps(6 + number, 0.5)
        settle()
        if number % 2:
            gc.collect()
            counts.append((len(QApplication.allWidgets()), len(trained.window.findChildren(QObject))))
    assert session.train.step == 55
    assert session.train.busy
    assert counts[-1] == counts[2], counts
    assert counts[12] == counts[2], counts
