"""Every widget test runs under the real theme, in light, with English words, and leaves no widgets behind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication

from widgets import theme


@pytest.fixture(autouse=True)
def themed(qapp: QApplication) -> Iterator[QApplication]:
    # Only where a test before changed it: dressing the whole application takes its time.
    if theme.mode() != "light" or not qapp.styleSheet():
        theme.apply_theme(qapp, "light")
    yield qapp
    # pytest-qt has closed the widgets and asked for their deletion, which waits for an event loop to do it.
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
