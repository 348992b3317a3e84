"""Models by name: the built-in ones and a user's ``FILE.py:Class``."""

from __future__ import annotations

import hashlib
import secrets
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.core import alias
from engine.core.errors import ArgumentError, CodeError, DataError
from engine.core.models import local_imports
from engine.files.run_source import run_code
from resources.families import FAMILIES
from resources.local_code import PACKAGE, CodeTooLarge, LocalCode, read_code
from resources.regular_files import path_problem, read_regular, read_regular_text

if TYPE_CHECKING:
    from engine.nn import Layer

FOLDER = Path(__file__).resolve().parents[3] / "resources" / "models"
_FILES = "__model_files__"  # of an imported module: the sources that it was made from
_copies: dict[Path, Path] = {}  # copies of files that were imported: the folders that they import from


@dataclass(frozen=True)
class ModelSource:
    """Where a model's class stands: its file, its name there, and whether it is one of ours, or the copy in a
    run."""

    name: str
    file: Path
    class_name: str
    built_in: bool
    of_run: bool = False

    def text(self) -> str:
        """The source of the file.

        Raises:
            DataError: the file can't be read.
        """
        try:
            return read_regular_text(self.file)
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
    if problem := path_problem(file):
        raise DataError(f"model: the file {problem}: {file}; check the path in {name!r}")
    return ModelSource(name, file.resolve(), class_name, False)


@dataclass(frozen=True)
class LoadedModel:
    """A model's class, and its files with what it imports from its folder, as they were read."""

    source: ModelSource
    cls: type[Layer]
    files: Mapping[Path, bytes]


def load_model(source: ModelSource, original: Path | None = None) -> LoadedModel:
    """Import the file of ``source`` (this runs it) and return its class.

    Args:
        original: the folder that it imports from, where ``source`` is a copy of a file there.

    Raises:
        ArgumentError: the file has no such class, or it is not an ``nn.Layer``.
        CodeError: an agreement is needed (``engine.core.models.local_imports.AGREED``), and is to other code.
        DataError: the file does not exist. Whatever the file itself raises comes through as it is.
    """
    from engine import nn

    if problem := path_problem(source.file):
        raise DataError(
            f"model {source.name}: the file {problem}: {source.file}; put it back or choose another"
        )
    module, files = _import(source, original)
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


def build_model(loaded: LoadedModel, arguments: Mapping[str, Any] | None = None) -> Layer:
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


def _import(source: ModelSource, original: Path | None) -> tuple[Any, Mapping[Path, bytes]]:
    """Import the file of ``source`` under its own name, from the bytes that its digest is of."""
    code = _code_of(source, original)
    # One name per file and content, so that a changed file is a new module and two files can't shadow each
    # other.
    which = hashlib.sha256(f"{source.file}\0{code.digest}".encode("utf-8", "surrogateescape"))
    name = f"model_{source.file.stem}_{which.hexdigest()[:12]}"
    if name in sys.modules:
        module = sys.modules[name]
        return module, vars(module).get(_FILES, code.paths())
    agreed = local_imports.AGREED.get() is not None
    before = set(sys.modules)
    data = next(iter(code.sources.values()))
    module, spec = local_imports.load(name, str(source.file), data)
    sys.modules[name] = module
    alias.install()  # a model may say import paddle; it may do so later, in its forward, too
    if not source.built_in:
        local_imports.serve(_served(name, source.file, code, agreed))
    try:
        with nullcontext() if agreed or source.built_in else _importable(code.folder):
            assert spec.loader is not None
            spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    files = {source.file: data} | {path: code.paths()[path] for path in list(code.paths())[1:]}
    if not agreed and not source.built_in:
        local_imports.yield_precedence()
        for path in _imported_from(code.folder, set(sys.modules) - before):
            files.setdefault(path, read_regular(path))  # by a name that is made while it runs
    # Another training of this process imports none of them again.
    vars(module)[_FILES] = files
    return module, files


def _code_of(source: ModelSource, original: Path | None) -> LocalCode:
    """The code of a model with what it imports from its folder.

    Raises:
        CodeError: an agreement is needed and is to other code. DataError: it can't be read.
    """
    agreed = None if source.built_in else local_imports.AGREED.get()
    if original is not None:
        _copies[source.file] = original
    original = _copies.get(source.file)
    try:
        if source.of_run:
            code = run_code(source.file.parent.parent, source.file.name)
        elif source.built_in:
            code = LocalCode(source.file.parent, {source.file.name: read_regular(source.file)})
        elif original is not None:
            code = read_code(original / source.file.name, read_regular(source.file))
        else:
            code = read_code(source.file)
    except (OSError, ValueError) as error:
        if agreed is None and isinstance(error, CodeTooLarge):  # of a file that was named
            return LocalCode(source.file.parent, {source.file.name: read_regular(source.file)})
        if isinstance(error, DataError):
            raise
        said = error if isinstance(error, CodeTooLarge) else f"the file can't be read: {error}"
        raise DataError(f"model {source.name}: {said}; check the path") from error
    if agreed is not None and code.digest != agreed:
        more = len(code.sources) - 1
        also = f" and {more} file{'s' * (more > 1)} that it imports: {', '.join(list(code.sources)[1:6])}"
        raise CodeError(
            f"model {source.file.name}: {'it changed after' if agreed else 'this was started before'} you "
            f"agreed to run its code: {code.file}{also if more else ''}; start again to be asked"
        )
    return code


def _served(name: str, file: Path, code: LocalCode, closed: bool) -> local_imports.LocalFiles:
    modules = {
        module: (str(code.folder.joinpath(*path.split("/"))), code.sources[path])
        for module, path in local_imports.module_names(code.sources).items()
    }
    # A process that loads data for the model finds the model's classes by this name.
    modules[name] = (str(file), next(iter(code.sources.values())))
    init = code.sources.get(PACKAGE)
    package = None if init is None else (str(code.folder / PACKAGE), init)
    return local_imports.LocalFiles(str(code.folder), modules, closed, package)


def _imported_from(folder: Path, names: Iterable[str]) -> Iterator[Path]:
    for each in names:
        path = getattr(sys.modules[each], "__file__", None)
        if path and Path(path).suffix == ".py" and Path(path).resolve().is_relative_to(folder):
            yield Path(path).resolve()


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
