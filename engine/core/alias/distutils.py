"""``distutils.util.strtobool``, which scripts parse flags with, for Pythons from 3.12 on, which lack it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING

from engine.core.errors import ArgumentError

if TYPE_CHECKING:
    from importlib.abc import Loader
else:
    Loader = object

_TRUE, _FALSE = ("y", "yes", "t", "true", "on", "1"), ("n", "no", "f", "false", "off", "0")


def install() -> None:
    """From here on ``import distutils.util`` works without that package; one that is installed is used."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())


def strtobool(val: str) -> int:
    """1 for y, yes, t, true, on, 1, and 0 for no and its likes, in any case. Raises ArgumentError else."""
    text = val.lower()
    if text not in _TRUE + _FALSE:
        raise ArgumentError(f"strtobool: invalid truth value {val!r}; use one of {_TRUE + _FALSE}")
    return int(text in _TRUE)


class _Finder:
    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in ("distutils", "distutils.util"):
            return None
        return ModuleSpec(fullname, _Loader(), is_package=fullname == "distutils")


class _Loader(Loader):
    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        if module.__name__ == "distutils.util":
            module.__dict__["strtobool"] = strtobool
