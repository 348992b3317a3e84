"""A delayed action happens once, however often its timer is started before."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject

from widgets.delayed import delayed


def test_starts_within_the_delay_call_the_action_once(qtbot: Any) -> None:
    parent, calls = QObject(), []
    timer = delayed(parent, 5, lambda: calls.append(1))
    assert (timer.parent(), timer.interval(), timer.isSingleShot()) == (parent, 5, True)
    assert not timer.isActive()
    timer.start()
    with qtbot.waitSignal(timer.timeout):
        timer.start()
    assert calls == [1]
    assert not timer.isActive()
