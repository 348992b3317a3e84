"""Lazy names of a package: imported at their first use.

``import engine`` takes less time for every module it skips: only some programs need to read files or images,
or to convert Python source.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Collection, Mapping
from typing import Any


def lazy(
    package: str,
    modules: Collection[str] = (),
    members: Mapping[str, Collection[str]] | None = None,
    missing: Callable[[str], Any] | None = None,
) -> Callable[[str], Any]:
    """A ``__getattr__`` for ``package``: its submodules ``modules``, and ``members``: module -> names in it.

    A name is looked up once; then it is an attribute of the package like any other. ``missing`` is called for
    all other names and raises.
    """
    places = {name: module for module, names in (members or {}).items() for name in names}

    def __getattr__(name: str) -> Any:
        if name in modules:
            return importlib.import_module(f"{package}.{name}")
        if name in places:
            value = getattr(importlib.import_module(places[name]), name)
            setattr(sys.modules[package], name, value)
            return value
        if missing is not None:
            return missing(name)
        raise AttributeError(
            f"module {package!r} has no attribute {name!r}", name=name, obj=sys.modules[package]
        )

    return __getattr__


class LazyMethod:
    """A method, a function of the module ``where``, that is imported at its first use.

    Then it is a method of that class like any other.
    """

    def __init__(self, where: str, name: str) -> None:
        self.where, self.name = where, name

    def __get__(self, instance: object, owner: type) -> Any:
        setattr(owner, self.name, getattr(importlib.import_module(self.where), self.name))
        return getattr(owner if instance is None else instance, self.name)
