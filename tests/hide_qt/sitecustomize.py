"""Makes Qt look not installed: put on PYTHONPATH for child processes, run by conftest.py for the tests."""

import sys
from importlib.abc import MetaPathFinder

HIDDEN = ("PySide6", "shiboken6", "pyqtgraph", "pytestqt")


class _HideQt(MetaPathFinder):
    def find_spec(self, fullname, path=None, target=None):
        if fullname.partition(".")[0] in HIDDEN:
            raise ModuleNotFoundError(f"{fullname}: hidden in this run, yet imported", name=fullname)
        return None


if not any(type(finder).__name__ == "_HideQt" for finder in sys.meta_path):
    sys.meta_path.insert(0, _HideQt())
