"""The modules of packaging/bundle, which is not a package: they are loaded by their files."""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from types import ModuleType

from tests.arch.repository_files import ROOT

FOLDER = ROOT / "packaging" / "bundle"


@cache
def module(name: str) -> ModuleType:
    """``packaging/bundle/NAME.py``, under the name by which its neighbours import it."""
    spec = importlib.util.spec_from_file_location(f"bundle.{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = loaded
    spec.loader.exec_module(loaded)
    return loaded
