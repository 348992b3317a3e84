"""A Python file with what it imports from its own folder: read once, found from the syntax trees, never run.

An agreement to run code is an agreement to all of it (SECURITY.md, *Code*). What Python would find elsewhere,
or only while the code runs, is not part of it.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from resources.code_outline import Import, code_outline
from resources.own_packages import NAMES
from resources.regular_files import open_regular

MAX_BYTES = 512 << 10
"""Of one file, and of all files together: the window waits while it parses them."""
MAX_FILES = 500
_NEVER_LOCAL = {*NAMES, "paddle", "paddleslim", *sys.builtin_module_names}
_CONTEXT = b"model-studio code 1\0"  # no Python file contains a zero, so no file has such a digest
_SUFFIX = ".py"
PACKAGE = "__init__.py"


class CodeTooLarge(ValueError):
    """Code that is too large to be agreed to, in one line."""


@dataclass(frozen=True)
class LocalCode:
    """The bytes of a file and of those that it imports from ``folder``.

    Attributes:
        folder: the folder of the file, from which it imports.
        sources: by path relative to the folder, with ``/``; the file itself is first.
    """

    folder: Path
    sources: Mapping[str, bytes]

    @property
    def file(self) -> Path:
        """The file itself."""
        return self.folder / next(iter(self.sources))

    @cached_property
    def digests(self) -> dict[str, str]:
        """The SHA-256 of each file."""
        return {name: hashlib.sha256(data).hexdigest() for name, data in self.sources.items()}

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of all: of one file it is that of its content, as ``sha256sum`` prints it."""
        if len(self.digests) == 1:
            return next(iter(self.digests.values()))
        whole = hashlib.sha256(_CONTEXT)
        for name in sorted(self.digests):
            data = name.encode("utf-8", "surrogateescape")
            whole.update(len(data).to_bytes(8, "big") + data + bytes.fromhex(self.digests[name]))
        return whole.hexdigest()

    def paths(self) -> dict[Path, bytes]:
        """The sources by their whole paths."""
        return {self.folder / name: data for name, data in self.sources.items()}


def read_code(file: Path, text: bytes | None = None) -> LocalCode:
    """The code of ``file``; of ``text`` in its place if that is given.

    Links are followed, since content is what is agreed to. A file with a syntax error is part of it, but what
    it might import is not.

    Raises:
        OSError: a file can't be read, or is a pipe or a device. CodeTooLarge: one has too many bytes, or
            there are too many files.
    """
    file = file.expanduser().resolve()
    folder = file.parent
    listings: dict[Path, frozenset[str]] = {}
    data = _read(file, MAX_BYTES) if text is None else text
    left = MAX_BYTES - len(data)
    if left < 0:
        raise _too_large(file)
    sources, waiting = {file.name: data}, [("", data)]
    around = _package_of(folder)
    while waiting:
        package, data = waiting.pop()
        for wanted in _imports(data, package):
            for found, inner in _files_of(folder, wanted, listings, around):
                if found in sources:
                    continue
                if len(sources) == MAX_FILES:
                    raise CodeTooLarge(
                        f"{file}: it imports over {MAX_FILES} files of its folder: {found}; move the model "
                        "into its own folder"
                    )
                sources[found] = _read(folder / found, left)
                left -= len(sources[found])
                waiting.append((inner, sources[found]))
    return LocalCode(folder, sources)


def _read(file: Path, left: int) -> bytes:
    with open_regular(file) as stream:
        data = stream.read(left + 1)
    if len(data) > left:
        raise _too_large(file)
    return data


def _too_large(file: Path) -> CodeTooLarge:
    return CodeTooLarge(
        f"{file}: too much code: a model and the files that it imports can have {MAX_BYTES:,} bytes "
        "together; store data in other files"
    )


def _imports(data: bytes, package: str) -> Iterator[str]:
    """The modules that a source names, anywhere in it, each after its packages; ``pkg.*`` is all of them.

    ``package`` is what relative imports are relative to, empty in a file that belongs to none. A source with
    a syntax error can't be imported either.
    """
    found: dict[str, None] = {}
    for each in code_outline(data).imports:
        if each.module is None:
            found |= dict.fromkeys(each.names)
            continue
        base = _base(each, package)
        if base is not None:
            found |= dict.fromkeys([base] if base else [])
            found |= dict.fromkeys(f"{base}.{name}" if base else name for name in each.names)
    yield from found


def _base(node: Import, package: str) -> str | None:
    """The whole name of the module that is imported from; None if it is outside of the folder.

    Python refuses a relative import in a file that belongs to no package; what it would mean is the folder.
    """
    parts = package.split(".") if package else []
    up = node.level - 1
    if up > len(parts) or (parts and up == len(parts)):
        return None
    before = parts[: len(parts) - up] if node.level else []
    return ".".join([*before, *([node.module] if node.module else [])])


def _package_of(folder: Path) -> str:
    """The name of the package that ``folder`` is, if its own parent is on Python's path; else empty."""
    parts: list[str] = []
    while folder.name.isidentifier() and (folder / PACKAGE).is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts)


def _files_of(
    folder: Path, wanted: str, listings: dict[Path, frozenset[str]], around: str
) -> Iterator[tuple[str, str]]:
    """The files in ``folder`` that importing ``wanted`` reads: path, and what is relative to it.

    Names are compared as Python does, upper and lower case too where the file system does not. ``around`` is
    the package that the folder is: code of an editable installation imports its own folder by that name.
    """

    def listed(path: Path) -> frozenset[str]:
        if path not in listings:
            try:
                listings[path] = frozenset(os.listdir(path))
            except OSError:  # no folder, or none that Python could import from
                listings[path] = frozenset()
        return listings[path]

    def has(path: Path) -> bool:  # a pipe or a folder of that name is passed over, as Python does
        return path.name in listed(path.parent) and path.is_file()

    if around and f"{wanted}.".startswith(f"{around}."):
        if has(folder / PACKAGE):
            yield PACKAGE, ""
        wanted = wanted[len(around) + 1 :]
    parts = wanted.split(".")
    if not wanted or parts[0] in _NEVER_LOCAL:
        return
    at = folder
    for depth, part in enumerate(parts):
        package = ".".join(parts[:depth])
        before = "/".join([*parts[:depth], ""])
        if part == "*":  # a package decides in __all__ which of its modules that is
            for name in sorted(listed(at)) if depth else ():
                if name.endswith(_SUFFIX) and name != PACKAGE and has(at / name):
                    yield f"{before}{name}", package
                elif has(at / name / PACKAGE):
                    yield f"{before}{name}/{PACKAGE}", f"{package}.{name}"
            return
        if part in listed(at) and has(at / part / PACKAGE):
            yield f"{before}{part}/{PACKAGE}", ".".join(parts[: depth + 1])
        elif has(at / f"{part}{_SUFFIX}"):  # before a folder without __init__.py
            yield f"{before}{part}{_SUFFIX}", package
            return
        elif part not in listed(at):
            return
        at = at / part
