"""Shows one widget in a window, or saves a screenshot of it: called by `python -m widgets.NAME.demo`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QWidget

from widgets import theme
from widgets.layouts import vertical


def run_demo(make: Callable[[], QWidget], title: str, size: tuple[int, int] = (720, 480)) -> int:
    """Open the widget in a window; `--shot FILE` saves a screenshot instead, `--theme` chooses the look."""
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("--theme", choices=("system", "light", "dark"), default="system")
    parser.add_argument("--shot", metavar="FILE", help="save a PNG screenshot and exit")
    options = parser.parse_args()
    app = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(app, QApplication)
    theme.apply_theme(app, options.theme)
    window = QWidget()
    window.setWindowTitle(title)
    layout = vertical(window, theme.PAGE_PADDING, spacing=None)
    layout.addWidget(make())
    window.resize(*size)
    window.show()
    if not options.shot:
        return app.exec()
    # Long enough for the batched redraws of the widgets to have happened.
    QTimer.singleShot(250, app.quit)
    app.exec()
    return 0 if window.grab().save(options.shot) else 1
