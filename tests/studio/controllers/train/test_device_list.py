"""The list of devices in the settings: what it offers, what is grey and why, and that it does not block."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QApplication, QComboBox

from studio.controllers.train.device_list import DeviceList
from studio.session.train.devices import Devices, Gpu
from widgets.param_form import Field, ParamForm

TWO = Devices((Gpu(0, "NVIDIA H100", 64 << 30, 80 << 30), Gpu(1, "NVIDIA A10", 3 << 29, 24 << 30)))
NONE = Devices(why="can't be used: CuPy finds no working GPU (cudaErrorNoDevice); check the driver")


class Shown:
    """A form with the list in it, as the controller joins them."""

    def __init__(self, qtbot: Any, asks: Any, chosen: str = "cpu") -> None:
        self.form = ParamForm([Field("device", "Device", "choice", "cpu", choices=(("cpu", "CPU"),))])
        qtbot.addWidget(self.form)
        self.box: QComboBox = self.form.control("device")  # type: ignore[assignment]
        self.list = DeviceList(self.box, QObject(self.form), asks)
        self.list.changed.connect(self.offer)
        self.chosen = chosen
        self.offer()
        self.form.set_value("device", chosen)

    def offer(self) -> None:
        self.form.set_choices("device", *self.list.choices(self.chosen))

    def texts(self) -> list[str]:
        return [self.box.itemText(row) for row in range(self.box.count())]

    def is_grey(self, row: int) -> bool:
        return not self.box.model().flags(self.box.model().index(row, 0)) & Qt.ItemFlag.ItemIsEnabled


def test_gpus_with_name_and_memory(qtbot: Any) -> None:
    shown = Shown(qtbot, lambda: TWO, "gpu:1")
    assert shown.texts() == ["CPU", "GPU if available", "GPU", "gpu:1"]
    shown.list.refresh()
    qtbot.waitUntil(lambda: "H100" in shown.texts()[2], timeout=20_000)
    assert shown.texts()[2:] == [
        "GPU 0: NVIDIA H100 (64 of 80 GB free)",
        "GPU 1: NVIDIA A10 (1.5 of 24 GB free)",
    ]
    assert shown.form.value("device") == "gpu:1"
    assert not any(map(shown.is_grey, range(4)))
    assert [value for value, _ in shown.list.choices("gpu")[0]] == ["cpu", "auto", "gpu", "gpu:1"]
    assert shown.box.accessibleName() == "Device"


def test_none_is_grey_and_says_why(qtbot: Any) -> None:
    shown = Shown(qtbot, lambda: NONE)
    shown.list.refresh()
    qtbot.waitUntil(lambda: shown.texts()[2] == "GPU (none can be used)", timeout=20_000)
    assert [shown.is_grey(row) for row in range(3)] == [False, False, True]
    for role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleDescriptionRole):
        assert shown.box.itemData(2, role) == NONE.why


def test_without_cupy_nothing_is_asked(qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studio.controllers.train.device_list.has_cupy", lambda: False)
    shown = Shown(qtbot, None)
    assert shown.texts() == ["CPU", "GPU if available", "GPU (CuPy is not installed)"]
    assert shown.is_grey(2)
    assert "pip install 'model-studio[gpu]'" in shown.box.itemData(2, Qt.ItemDataRole.ToolTipRole)
    shown.list.refresh()
    assert shown.list._thread is None


def test_the_window_goes_on_while_the_driver_is_asked(qtbot: Any) -> None:
    go, asked = threading.Event(), []

    def asks() -> Devices:
        asked.append(threading.current_thread())
        assert go.wait(20)
        return TWO

    shown = Shown(qtbot, asks)
    QApplication.sendEvent(shown.box, QEvent(QEvent.Type.Enter))
    QApplication.sendEvent(shown.box, QEvent(QEvent.Type.Enter))
    qtbot.waitUntil(lambda: len(asked) == 1, timeout=20_000)
    assert asked[0] is not threading.main_thread()
    assert shown.texts()[2] == "GPU"
    go.set()
    qtbot.waitUntil(lambda: "H100" in shown.texts()[2], timeout=20_000)
    QApplication.sendEvent(shown.box, QEvent(QEvent.Type.Enter))
    assert shown.list._thread is None  # asked a moment ago
