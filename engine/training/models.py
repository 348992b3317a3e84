"""Models by name: the built-in ones and a user's ``FILE.py:Class``."""

from __future__ import annotations

import hashlib
import importlib.util
import secrets
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.core import alias
from engine.core.errors import ArgumentError, DataError
from resources.families import FAMILIES

FOLDER = Path(__file__).resolve().parents[2] / "resources" / "models"
_FILES = "__model_files__"  # of an imported module: what it was made from


@dataclass(frozen=True)
class ModelSource:
    """Where a model's class stands: its file, its name there, and whether it is one of ours."""

    name: str
    file: Path
    class_name: str
    built_in: bool

    def text(self) -> str:
        """The source of the file.

        Raises:
            DataError: the file can't be read.
        """
        try:
            return self.file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(
                f"model {self.name}: the file can't be read: {self.file}: {error}; give "
                "FILE.py:Class of a file that can be"
            ) from error

    def moved(self, folder: Path) -> ModelSource:
        """The same class in the copy of the file that ``folder`` holds."""
        return ModelSource(self.name, folder / self.file.name, self.class_name, self.built_in)


def find_model(name: str) -> ModelSource:
    """Look up a built-in model (``resources.families``) or ``FILE.py:Class`` without importing anything.

    Raises:
        ArgumentError: no such built-in model, and not of the form ``FILE.py:Class``.
        DataError: the file does not exist.
    """
    family = FAMILIES.get(name)
    if family is not None:
        return ModelSource(name, FOLDER / f"{family.file}.py", family.class_name, True)
    path, separator, class_name = name.rpartition(":")
    if not separator or not path.endswith(".py") or not class_name.isidentifier():
        raise ArgumentError(
            f"model: no such model: got {name!r}; choose {', '.join(FAMILIES)}, or FILE.py:Class of your own"
        )
    file = Path(path).expanduser()
    if not file.is_file():
        raise DataError(f"model: the file does not exist: {file}; check the path in {name!r}")
    return ModelSource(name, file.resolve(), class_name, False)


@dataclass(frozen=True)
class LoadedModel:
    """A model's class, and the files of its own that were imported for it."""

    source: ModelSource
    cls: type[Any]
    files: tuple[Path, ...]


def load_model(source: ModelSource, original: Path | None = None) -> LoadedModel:
    """Import the file of ``source`` (this runs it) and return its class.

    Args:
        original: a folder whose modules it may import too: that of the original of a copy.

    Raises:
        ArgumentError: the file has no such class, or it is not an ``nn.Layer``.
        DataError: the file does not exist. Whatever the file itself raises comes through as it is.
    """
    from engine import nn

    if not source.file.is_file():
        raise DataError(
            f"model {source.name}: the file does not exist: {source.file}; put it back or choose another"
        )
    module, files = _import_file(source.file, original)
    cls = getattr(module, source.class_name, None)
    if cls is None:
        names = [
            name
            for name, value in vars(module).items()
            if isinstance(value, type) and issubclass(value, nn.Layer)
        ]
        raise ArgumentError(
            f"model {source.file.name}: it has no {source.class_name}: its layers are "
            f"{', '.join(names) or 'none'}; give {source.file.name}:Class with one of these"
        )
    if not (isinstance(cls, type) and issubclass(cls, nn.Layer)):
        raise ArgumentError(
            f"model {source.file.name}:{source.class_name}: not a class of nn.Layer: got {cls!r}; "
            "derive the model's class from nn.Layer"
        )
    return LoadedModel(source, cls, files)


def build_model(loaded: LoadedModel, arguments: Mapping[str, Any] | None = None) -> Any:
    """An instance, its parameters named as in any other process (an optimizer's state is stored by these
    names).

    Args:
        arguments: of the class, by name (the setting ``model_params``).

    Raises:
        ArgumentError: the class has no such arguments, or needs others.
    """
    import inspect

    from engine.core import names

    arguments = arguments or {}
    signature = inspect.signature(loaded.cls)
    try:
        signature.bind(**arguments)
    except TypeError as error:
        taken = ", ".join(signature.parameters) or "none"
        raise ArgumentError(
            f"model {loaded.source.file.name}:{loaded.source.class_name}: its arguments do not fit: {error}; "
            f"it takes {taken}: give them as model_params (--model-param NAME=VALUE) or give them defaults"
        ) from None
    with names.guard():
        return loaded.cls(**arguments)


def _import_file(file: Path, original: Path | None) -> tuple[Any, tuple[Path, ...]]:
    """Import ``file`` under a name of its own; its folder is importable meanwhile, as for a script."""
    # One name per file and content, so that a changed file is a new module and two files can't shadow each
    # other.
    digest = hashlib.sha256(str(file).encode() + b"\0" + file.read_bytes()).hexdigest()[:12]
    name = f"model_{file.stem}_{digest}"
    if name in sys.modules:
        module = sys.modules[name]
        return module, vars(module).get(_FILES, (file,))
    before = set(sys.modules)
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    alias.install()  # a model may say import paddle; it may do so later, in its forward, too
    try:
        with (
            _importable(file.parent),
            _importable(original) if original is not None else nullcontext(),
        ):
            spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    files = [file]
    for other in set(sys.modules) - before:
        path = getattr(sys.modules[other], "__file__", None)
        if path and Path(path).resolve().is_relative_to(file.parent) and Path(path).suffix == ".py":
            files.append(Path(path).resolve())
    # Another training of this process imports none of them again.
    vars(module)[_FILES] = tuple(dict.fromkeys(files))
    return module, vars(module)[_FILES]


@contextmanager
def _importable(folder: Path) -> Iterator[None]:
    """Within the block modules in ``folder`` can be imported, from their sources and from nothing else.

    Python would believe a compiled file in ``__pycache__`` that claims to belong to a source; people agree to
    what they can read. So compiled files are looked for where there is nothing, and none are written.
    """
    before = sys.pycache_prefix, sys.dont_write_bytecode
    absent = Path(folder.anchor) / f"model-studio-{secrets.token_hex(16)}"  # which can't be guessed, so made
    sys.path.insert(0, str(folder))
    sys.pycache_prefix, sys.dont_write_bytecode = str(absent), True
    try:
        yield
    finally:
        sys.pycache_prefix, sys.dont_write_bytecode = before
        if str(folder) in sys.path:
            sys.path.remove(str(folder))
