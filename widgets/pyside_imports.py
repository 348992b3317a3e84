"""Imports after PySide's: it reads the source of each imported module, to find out whether it uses PySide.

That serves ``from __feature__ import snake_case``, which nothing here uses. It takes time with each import,
and ``linecache`` keeps all lines: 8 MB once the engine is imported (napari/napari#8584 has the same).
"""

from __future__ import annotations

import sys

from PySide6 import QtCore as QtCore  # installs the reading


def skip_source_reading() -> None:
    """Let PySide assume what a module's package says; where this PySide has no such reading, do nothing."""
    feature = sys.modules.get("shibokensupport.feature")
    if hasattr(feature, "_mod_uses_pyside"):
        feature._mod_uses_pyside = _may_use_pyside


def _may_use_pyside(module: object) -> bool:
    package = str(getattr(module, "__name__", "")).partition(".")[0]
    return package in ("studio", "widgets", "pyqtgraph", "__main__")
