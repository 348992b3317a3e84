"""Garbage is looked for between events, each generation when its number is reached."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from studio.controllers import start_up
from studio.controllers.start_up import collect_between_events, collect_garbage


class Cycle:
    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def thresholds() -> Iterator[None]:
    before = gc.get_threshold()
    gc.collect()
    gc.disable()
    yield
    gc.set_threshold(*before)
    gc.enable()


@pytest.mark.usefixtures("thresholds")
def test_garbage_is_collected_when_its_generation_is_due() -> None:
    gone = weakref.ref(Cycle())
    gc.set_threshold(1_000_000, 1_000_000, 1_000_000)
    collect_garbage()
    assert gone() is not None
    gc.set_threshold(1, 1_000_000, 1_000_000)
    collect_garbage()
    assert gone() is None


@pytest.mark.usefixtures("thresholds")
def test_the_oldest_generation_that_is_due_is_collected() -> None:
    old = Cycle()
    gone = weakref.ref(old)
    gc.collect()  # it is of the oldest generation now
    del old
    for _ in range(3):
        gc.collect(1)
    gc.set_threshold(1_000_000, 1_000_000, 2)
    collect_garbage()
    assert gone() is None


@pytest.mark.usefixtures("thresholds")
def test_collections_come_from_the_loop_of_events(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start_up, "COLLECTING_MS", 1)
    gc.set_threshold(1, 1_000_000, 1_000_000)
    parent, gone = QObject(), weakref.ref(Cycle())
    end = collect_between_events(parent)
    assert not gc.isenabled()
    qtbot.waitUntil(lambda: gone() is None, timeout=5000)
    end()
    assert gc.isenabled()
