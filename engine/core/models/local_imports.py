"""Imports of a model's own files, as bytes that were read and hashed before: nothing is read a second time.

One finder comes before Python's own for modules and packages; another after all others, for folders that
contain no `__init__.py`, and for refusals. There is one set of local files at a time.
"""

from __future__ import annotations

import io
import linecache
import os
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.abc import MetaPathFinder, SourceLoader
from importlib.machinery import ModuleSpec, PathFinder, all_suffixes
from importlib.util import decode_source, spec_from_file_location
from pathlib import Path
from types import ModuleType

from engine.core.context import Setting
from engine.core.errors import CodeError
from resources.own_packages import NAMES

AGREED: Setting[str | None] = Setting("agreed code", None)
"""The digest (``resources.local_code``) of the only code of the user that may run; empty for none. None where
the code was named on a command line, by a script or by ``--trust``."""
_ROOT = Path(__file__).resolve().parents[3]
_INSTALLED = {str(Path(sysconfig.get_path(name)).resolve()) for name in ("purelib", "platlib", "stdlib")}
_INIT = "__init__"


@contextmanager
def only_agreed(digest: str) -> Iterator[None]:
    """Within the block no code of the user runs except that of ``digest``."""
    with AGREED.guard(digest):
        try:
            yield
        finally:
            stop_serving()


@dataclass(frozen=True)
class LocalFiles:
    """What can be imported from ``folder``: modules by name, each with its path and bytes.

    ``closed``: nothing else in the folder can be imported. ``package`` has path and bytes of the folder's own
    `__init__.py` if it was read: it has a name only in the package around the folder.
    """

    folder: str
    modules: Mapping[str, tuple[str, bytes]]
    closed: bool
    package: tuple[str, bytes] | None = None
    namespaces: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        parents = {name.rpartition(".")[0] for name in self.modules}
        while more := {parent.rpartition(".")[0] for parent in parents} - parents:
            parents |= more
        object.__setattr__(self, "namespaces", frozenset(parents - {""} - self.modules.keys()))

    def is_within(self, parent: str, path: Sequence[str] | None) -> bool:
        """Whether ``path`` is that of the package ``parent`` in this folder, not of another of its name."""
        return not parent or os.path.join(self.folder, *parent.split(".")) in (path or ())

    def bytes_of(self, origin: str) -> bytes | None:
        """The bytes of a file that were read; None for another file."""
        read = [*self.modules.values(), *([self.package] if self.package else [])]
        wanted = os.path.realpath(origin)
        return next((data for path, data in read if os.path.realpath(path) == wanted), None)

    def spec(self, name: str) -> ModuleSpec | None:
        """The spec of a module or package that was read."""
        if name not in self.modules:
            return None
        path, data = self.modules[name]
        is_package = Path(path).stem == _INIT
        return spec_from_file_location(
            name,
            path,
            loader=_Loader(path, data),
            submodule_search_locations=[os.path.dirname(path)] if is_package else None,
        )

    def namespace(self, name: str) -> ModuleSpec | None:
        """The spec of a folder without ``__init__.py`` in which something was read."""
        if name not in self.namespaces:
            return None
        spec = ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [os.path.join(self.folder, *name.split("."))]
        return spec

    def refuse(self, name: str) -> None:
        """Raises CodeError where the folder has something called ``name``."""
        *parents, last = name.split(".")
        place = os.path.join(self.folder, *parents)
        try:
            found = sorted(os.listdir(place))
        except OSError:
            return
        endings = ("", *all_suffixes())
        for each in found:
            if any(each == last + ending for ending in endings):
                raise CodeError(
                    f"{os.path.join(place, each)}: the model imports it, and you have not agreed to run it; "
                    f"write `import {name}` in the model's file and keep the source as "
                    f"{'/'.join([*parents, last])}.py, so that you are asked about it too",
                    name=name,
                )


def module_names(names: Mapping[str, bytes]) -> dict[str, str]:
    """The module that each Python file is, by relative path; a package comes before a module of its name."""
    found: dict[str, str] = {}
    for path in sorted(names, key=lambda path: path.endswith(f"/{_INIT}.py")):
        parts = path.removesuffix(".py").split("/")
        parts = parts[:-1] if parts[-1] == _INIT else parts
        if path.endswith(".py") and parts and all(part.isidentifier() for part in parts):
            found[".".join(parts)] = path
    return found


class _Loader(SourceLoader):
    """Makes a module of bytes; there is no compiled file of it."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path, self.data = path, data

    def get_filename(self, fullname: str) -> str:
        return self.path

    def get_data(self, path: str | bytes) -> bytes:
        """The source itself, or a file of data that ``pkgutil.get_data`` asks for."""
        return self.data if path == self.path else Path(os.fsdecode(path)).read_bytes()

    def exec_module(self, module: ModuleType) -> None:
        with io.StringIO() as text:
            try:
                text.write(decode_source(self.data))
                # What is shown and converted is what runs, whatever the file holds later.
                lines = text.getvalue().splitlines(keepends=True)
                linecache.cache[self.path] = (len(self.data), None, lines, self.path)
            except (SyntaxError, UnicodeDecodeError):
                linecache.cache.pop(self.path, None)
        super().exec_module(module)


class _First(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        files, parent = _files, fullname.rpartition(".")[0]
        if files is None:
            return None
        if not files.is_within(parent, path):
            return _found_elsewhere(files, fullname, path)
        found = files.spec(fullname)
        if found is not None or not files.closed:
            return found
        if not parent:
            return _found_elsewhere(files, fullname, path)
        found = files.namespace(fullname)
        if found is None:
            files.refuse(fullname)
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        return found


def _found_elsewhere(files: LocalFiles, name: str, path: Sequence[str] | None) -> ModuleSpec | None:
    """What Python finds next. Where that is in the folder, by the name of a package around it whose own
    folder
    is on the path, it is made of the bytes that were read; raises CodeError where none were."""
    found = _by_other_finders(name, path) if files.closed else None
    if found is not None and found.origin is not None and _is_inside(found.origin, files.folder):
        data = files.bytes_of(found.origin)
        if data is not None:
            inner = found.submodule_search_locations
            return spec_from_file_location(
                name,
                found.origin,
                loader=_Loader(found.origin, data),
                submodule_search_locations=None if inner is None else list(inner),
            )
        raise CodeError(
            f"{found.origin}: the model imports it as {name}, and you have not agreed to run it; write "
            f"`import {name}` in the model's file, so that you are asked about it too",
            name=name,
        )
    return found


def _by_other_finders(name: str, path: Sequence[str] | None) -> ModuleSpec | None:
    """What the finders behind ours find; those of editable installations are among them."""
    at = sys.meta_path.index(_first) + 1 if _first in sys.meta_path else 0
    for finder in sys.meta_path[at:]:
        if finder is not _last and (found := finder.find_spec(name, path)) is not None:
            return found
    return None


def _is_inside(origin: str, folder: str) -> bool:
    """Whether a module is the folder's, and neither ours nor that of a package installed below it."""
    file, top = Path(origin).resolve(), Path(folder).resolve()
    if not file.is_relative_to(top) or any(file.is_relative_to(_ROOT / name) for name in NAMES):
        return False
    installed = (Path(each).resolve() for each in [*sys.path, *_INSTALLED] if each)
    return not any(
        file.is_relative_to(each) and ((each != top and each.is_relative_to(top)) or str(each) in _INSTALLED)
        for each in installed
    )


class _Last(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        files, parent = _files, fullname.rpartition(".")[0]
        if files is None or not files.is_within(parent, path):
            return None
        # Not yet imported when Python's own finders have come to nothing, while the model was imported.
        found = files.spec(fullname) or files.namespace(fullname)
        if found is None and files.closed:
            files.refuse(fullname)
        return found


_files: LocalFiles | None = None
_first, _last = _First(), _Last()


def serving() -> LocalFiles | None:
    """What is served now; a process that this one starts can serve it too."""
    return _files


def serve(files: LocalFiles) -> None:
    """From here on imports find ``files``, instead of those before; a module of former bytes is forgotten."""
    global _files
    stop_serving()
    for name in files.modules:
        loader = getattr(getattr(sys.modules.get(name), "__spec__", None), "loader", None)
        if isinstance(loader, _Loader) and (loader.path, loader.data) != files.modules[name]:
            del sys.modules[name]
    _files = files
    place = next((at for at, each in enumerate(sys.meta_path) if each is PathFinder), len(sys.meta_path))
    sys.meta_path.insert(place, _first)
    sys.meta_path.append(_last)
    if files.closed:
        # The folder may be on the path for another reason: Python was started in it.
        folder = Path(files.folder).resolve()
        sys.path[:] = [each for each in sys.path if Path(each).resolve() != folder or folder == _ROOT]


def yield_precedence() -> None:
    """Let Python's own finders come first: the model has been imported, and names of its files are common."""
    if _first in sys.meta_path:
        sys.meta_path.remove(_first)


def stop_serving() -> None:
    """Import from no folder of a model any more."""
    global _files
    _files = None
    sys.meta_path[:] = [each for each in sys.meta_path if each not in (_first, _last)]


def load(name: str, path: str, data: bytes) -> tuple[ModuleType, ModuleSpec]:
    """A new module of these bytes, which has not run yet."""
    from importlib.util import module_from_spec

    spec = spec_from_file_location(name, path, loader=_Loader(path, data))
    assert spec is not None
    return module_from_spec(spec), spec
