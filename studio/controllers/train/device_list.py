"""The list of devices in the settings of a run: each GPU with name and memory, asked next to the window."""

from __future__ import annotations

import threading
from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget

from resources.settings import RUN_SETTINGS
from resources.words import shown
from studio.session.train.devices import NO_CUPY, Devices, ask, has_cupy
from widgets import theme

AGAIN_MS = 5000
"""Memory that is free changes: a list that was opened is asked again after so long."""


class DeviceList(QObject):
    """Asks for the devices when the form's list is about to be used; ``changed`` is emitted if they differ.

    A thread of its own asks, and its answer comes through a signal into Qt's thread. Where CuPy is absent
    nothing is asked.
    """

    changed = Signal()
    _came = Signal(object)

    def __init__(self, control: QWidget, parent: QObject, asks: Callable[[], Devices] | None = None) -> None:
        super().__init__(parent)
        self._asks = asks or ask
        self._can_ask = asks is not None or has_cupy()
        self.devices: Devices | None = None if self._can_ask else NO_CUPY
        self._thread: threading.Thread | None = None
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(AGAIN_MS)
        self._came.connect(self._take)
        control.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Enter, QEvent.Type.FocusIn, QEvent.Type.Show):
            self.refresh()
        return False

    def refresh(self) -> None:
        """Ask, unless that was done a moment ago or goes on."""
        if not self._can_ask or self._pause.isActive() or self._thread is not None:
            return
        self._thread = threading.Thread(target=self._run, name="devices", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        found = self._asks()
        try:
            self._came.emit(found)
        except RuntimeError:  # the window was closed meanwhile
            return

    def _take(self, found: Devices) -> None:
        self._thread = None
        self._pause.start()
        if found != self.devices:
            self.devices = found
            self.changed.emit()

    def choices(self, chosen: str) -> tuple[tuple[tuple[str, str], ...], dict[str, str]]:
        """What the list offers while ``chosen`` is chosen, and why some of it can't be: (value, words), and
        reasons by value."""
        words = dict(RUN_SETTINGS["device"].choices)
        offered = [("cpu", self.tr("CPU")), ("auto", self.tr("GPU if available"))]
        reasons: dict[str, str] = {}
        found = self.devices
        if found is None or not found.gpus:
            title = self.tr("GPU")
            if found is not None:
                short = self.tr("CuPy is not installed") if not found.cupy else self.tr("none can be used")
                title, reasons["gpu"] = self.tr("GPU ({0})").format(short), shown(found.why)
            offered.append(("gpu", title))
        else:
            first = "gpu" if chosen == "gpu" else "gpu:0"
            text = self.tr("GPU {0}: {1} ({2} of {3} GB free)")
            for gpu in found.gpus:
                free, total = (theme.format_number(round(size / 2**30, 1)) for size in (gpu.free, gpu.total))
                value = f"gpu:{gpu.index}" if gpu.index else first
                offered.append((value, text.format(gpu.index, gpu.name, free, total)))
        if chosen not in dict(offered):  # a GPU that a project names and that is not here
            offered.append((chosen, self.tr(words.get(chosen, chosen))))
        return tuple(offered), reasons
