"""Every widget test runs under the real theme, in light, with English words."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication

from widgets import theme


@pytest.fixture(autouse=True)
def themed(qapp: QApplication) -> Iterator[QApplication]:
    theme.apply_theme(qapp, "light")
    yield qapp
    theme.apply_theme(qapp, "light")
