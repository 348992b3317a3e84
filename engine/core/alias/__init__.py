"""The import finder that lets ``import paddle`` and ``import paddleslim`` give the engine's own modules.

``paddle.nn`` and ``engine.nn`` are the same module, submodules too, and so are ``paddleslim.quant`` and
``engine.slim.quant``: a class has one identity whichever way it was imported.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from engine.core.alias import paths

if TYPE_CHECKING:
    from importlib.abc import Loader
else:  # it loads what reads resources: 17 modules, and a twentieth of the time to import the engine
    Loader = object

ALIAS, REAL = "paddle", "engine"

PACKAGES = {"paddleslim": "engine.slim", ALIAS: REAL}
"""Packages that scripts import -> their location here. A package's parts come before it."""

CHILDREN_PATH = str(Path(__file__).parent / "on_path")
"""A folder whose ``paddle.py`` and ``paddleslim.py`` install the finder: on ``sys.path``, which
multiprocessing hands down, it makes ``import paddle`` work in the processes that a script spawns."""


def install() -> None:
    """From here on ``import paddle`` and ``import paddle.nn.functional`` give the engine's modules.

    A Paddle that this process has already imported stays in place.
    """
    if not any(isinstance(finder, _AliasFinder) for finder in sys.meta_path):
        # Before Python's own finders: they would load engine/nn a second time under the name paddle.nn.
        sys.meta_path.insert(0, _AliasFinder())


def take_over(name: str) -> None:
    """``install``, from within a module ``name`` that Python's own finders found first: the import that runs
    it returns the engine's module, because that is in ``sys.modules`` when it ends."""
    install()
    sys.modules[name] = importlib.import_module(PACKAGES[name])


def real_name(name: str) -> str:
    """``paddle.nn`` -> ``engine.nn``; other names as they are."""
    return next((real + name[len(ours) :] for ours, real in PACKAGES.items() if _within(name, ours)), name)


def alias_name(name: str) -> str:
    """``engine.nn`` -> ``paddle.nn``; other names as they are."""
    return next((ours + name[len(real) :] for ours, real in PACKAGES.items() if _within(name, real)), name)


def _within(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


class _AliasFinder:
    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        real = real_name(fullname)
        if real == fullname:
            return None
        try:
            found = importlib.util.find_spec(real)
        except ModuleNotFoundError:  # the parent is a module, not a package
            found = None
        if found is None:
            path = real[len(REAL) + 1 :]
            return ModuleSpec(fullname, _PathLoader(path)) if path in paths.PATHS else None
        is_package = found.submodule_search_locations is not None
        return ModuleSpec(fullname, _AliasLoader(real), origin=found.origin, is_package=is_package)


class _PathLoader(Loader):
    """Makes a module of Paddle that the engine has no file for."""

    def __init__(self, path: str) -> None:
        self._path = path

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return paths.make(self._path, spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing: its names are looked up."""


class _AliasLoader(Loader):
    def __init__(self, real: str) -> None:
        self._real = real
        self._spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self._real)
        if self._real == REAL:
            paths.serve_all(REAL)
        else:
            paths.serve(module, self._real[len(REAL) + 1 :])
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        # It ran when it was first imported. Importlib has just put the alias's spec on it: put its own back.
        module.__spec__ = self._spec
