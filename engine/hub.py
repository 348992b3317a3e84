"""``paddle.hub``: models that a folder offers in its ``hubconf.py``.

Every public function of that file is an entry point; its list ``dependencies`` names packages that it needs.
The file is Python source that runs in this process. Folders of this computer are read only: nothing is
downloaded.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from engine.core.errors import ArgumentError, HubError

__all__ = ["help", "list", "load"]

_CONFIGURATION = "hubconf"
_SOURCES = ("github", "gitee", "local")


def list(repo_dir: str, source: str = "github", force_reload: bool = False) -> builtins.list[str]:
    """The names of a folder's entry points.

    Differs from Paddle: ``source`` 'github' and 'gitee' raise HubError, since nothing is downloaded.
    """
    module = _configuration("list", repo_dir, source)
    return [name for name in dir(module) if not name.startswith("_") and callable(getattr(module, name))]


def help(repo_dir: str, model: str, source: str = "github", force_reload: bool = False) -> str | None:
    """The docstring of one of a folder's entry points.

    Differs from Paddle: ``source`` 'github' and 'gitee' raise HubError, since nothing is downloaded.
    """
    return _entry("help", _configuration("help", repo_dir, source), model).__doc__


def load(repo_dir: str, model: str, source: str = "github", force_reload: bool = False, **kwargs: Any) -> Any:
    """What a folder's entry point makes of the keyword arguments, usually a Layer.

    Raises HubError where the folder, the entry point or a package that it needs is absent.

    Differs from Paddle: ``source`` 'github' and 'gitee' raise HubError, since nothing is downloaded.
    """
    module = _configuration("load", repo_dir, source)
    missing = [name for name in getattr(module, "dependencies", None) or () if not _importable(name)]
    if missing:
        raise HubError(f"hub.load: packages are missing: {', '.join(missing)}; install them")
    return _entry("load", module, model)(**kwargs)


def _importable(name: str) -> bool:
    """Whether a package can be imported; ``paddle`` is the engine's own name in scripts."""
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True


def _configuration(where: str, folder: str, source: str) -> ModuleType:
    """The module that ``hubconf.py`` of the folder is, made anew at each call."""
    if source not in _SOURCES:
        raise ArgumentError(f"hub.{where}: source {source!r} is not one of {', '.join(_SOURCES)}")
    if source != "local":
        raise HubError(
            f"hub.{where}: nothing is downloaded here: got {folder!r} of {source}; clone it, and give its "
            "folder with source='local'"
        )
    path = os.path.join(folder, f"{_CONFIGURATION}.py")
    spec = importlib.util.spec_from_file_location(_CONFIGURATION, path)
    if not os.path.isfile(path) or spec is None or spec.loader is None:
        raise HubError(f"hub.{where}: {path} does not exist; a folder of models has that file")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, os.fspath(folder))  # so that it can import its neighbours
    try:
        spec.loader.exec_module(module)
    except ImportError as error:
        raise HubError(f"hub.{where}: {path} can't be imported: {error}; install what it needs") from error
    finally:
        sys.path.remove(os.fspath(folder))
    return module


def _entry(where: str, module: ModuleType, name: Any) -> Callable[..., Any]:
    if not isinstance(name, str):
        raise ArgumentError(f"hub.{where}: model is the name of an entry point: got {name!r}")
    found = getattr(module, name, None)
    if not callable(found):
        raise HubError(
            f"hub.{where}: {module.__file__} has no function {name!r}; list() returns those that it has"
        )
    entry: Callable[..., Any] = found
    return entry
