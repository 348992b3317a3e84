"""Messages for names of Paddle that are absent here: the full name, and the closest one that exists."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
import re
import sys
from types import ModuleType
from typing import Any

from engine.core.alias import ALIAS, PACKAGES, REAL, alias_name, real_name
from engine.core.alias.absent import reason

_SEARCHED = (
    "",
    ".nn",
    ".nn.functional",
    ".nn.initializer",
    ".nn.utils",
    ".optimizer",
    ".optimizer.lr",
    ".static",
    ".static.nn",
    ".linalg",
    ".io",
    ".metric",
    ".vision",
    ".vision.transforms",
    ".vision.datasets",
    ".vision.models",
    ".jit",
    ".autograd",
    ".amp",
    ".utils",
    ".device",
    ".framework",
)


def message_for(error: BaseException) -> str | None:
    """The message for a missing name: ``paddle.nn.Lineer: no such name; did you mean paddle.nn.Linear?``.

    None where ``error`` was not raised because a module, a Tensor or a Variable of the engine lacks a name,
    or a module of it is missing.
    """
    found = _missing(error)
    if found is None:
        return None
    owner, name, public = found
    full = f"{owner}.{name}"
    why = reason(owner, name)
    if why is not None:
        return f"{full}: is absent: it {why}"
    close = _suggestion(full, owner, name, public)
    remedy = f"did you mean {close}?" if close else "docs/api.md lists all names"
    return f"{full}: the engine has no such name; {remedy}"


def _missing(error: BaseException) -> tuple[str, str, list[str]] | None:
    """The name of the module or class, the name that it lacks, and the names that it has."""
    if isinstance(error, ModuleNotFoundError):
        owner, _, name = (error.name or "").rpartition(".")
        if owner.partition(".")[0] not in (*PACKAGES, REAL):
            return None
        return alias_name(owner), name, _public(sys.modules.get(real_name(owner)))
    if isinstance(error, ImportError):
        wanted = re.match(r"cannot import name '(\w+)' from", str(error))
        module = sys.modules.get(error.name or "")
        if wanted is None or not _is_ours(module):
            return None
        return alias_name(error.name or ""), wanted[1], _public(module)
    if not isinstance(error, AttributeError) or not error.name:
        return None
    if isinstance(error.obj, ModuleType):
        if not _is_ours(error.obj):
            return None
        return alias_name(error.obj.__name__), error.name, _public(error.obj)
    kind = error.obj if isinstance(error.obj, type) else type(error.obj)
    if kind.__name__ in ("Tensor", "Parameter", "Variable") and kind.__module__.startswith(REAL + "."):
        return kind.__name__, error.name, _public(kind)
    return None


def _is_ours(module: object) -> bool:
    return isinstance(module, ModuleType) and module.__name__.partition(".")[0] == REAL


def _public(owner: Any) -> list[str]:
    submodules = [found.name for found in pkgutil.iter_modules(getattr(owner, "__path__", None) or [])]
    return sorted({name for name in (*dir(owner), *submodules) if not name.startswith("_")})


def _imported(module: str) -> ModuleType | None:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        return None


def _suggestion(full: str, owner: str, name: str, public: list[str]) -> str:
    """The full name of another place of this name, else the closest name in ``owner``; empty without one."""
    if owner.partition(".")[0] == ALIAS:
        for place in _SEARCHED:
            found = getattr(_imported(REAL + place), name, None)
            if callable(found) and ALIAS + place != owner:
                return f"{ALIAS}{place}.{name}"
    same = [other for other in public if other.lower() == name.lower()]
    close = same or difflib.get_close_matches(name, public, n=1, cutoff=0.7)
    return f"{owner}.{close[0]}" if close else ""
