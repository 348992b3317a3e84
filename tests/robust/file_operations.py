"""Calls that touch files, as tests see them: each may be failed, halved, delayed or killed.

``watched(folder, hook)`` calls ``hook(operation, go)`` in place of every call below ``folder`` that opens,
writes, syncs, renames, links, truncates or removes. ``go()`` carries it out; ``go(half=True)`` writes half of
what was to be written and passes it to the system. What C code opens by itself is not seen.
"""

from __future__ import annotations

import builtins
import functools
import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from unittest.mock import patch


@dataclass(frozen=True)
class Operation:
    """One call: its number from 1, its kind, the path that it changes, and where a rename came from."""

    number: int
    kind: str
    path: str
    source: str = ""

    @property
    def changes(self) -> bool:
        """Whether it changes what is on the disk; a full disk fails only these, and not all of them."""
        return self.kind not in ("read", "close")

    @property
    def opens(self) -> bool:
        """Whether it needs a descriptor."""
        return self.kind in ("open", "read")

    @property
    def grows(self) -> bool:
        """Whether it needs room on the disk."""
        return self.kind in ("open", "write", "fsync", "mkdir", "link", "replace", "rename", "copy")


class Go(Protocol):
    """Carries the operation out."""

    def __call__(self, half: bool = False) -> Any: ...


Hook = Callable[[Operation, Go], Any]

_BY_PATH = ("mkdir", "rmdir", "unlink", "remove", "chmod", "truncate")
_BY_TWO = ("replace", "rename", "link", "symlink")
_BY_DESCRIPTOR = ("fsync", "ftruncate")


class _Watch:
    def __init__(self, folder: str, hook: Hook) -> None:
        self.folder, self.hook = folder, hook
        self.count = 0
        self.paths: dict[int, str] = {}
        self.writing: set[int] = set()

    def inside(self, path: Any) -> str:
        """The absolute path, or an empty text where it is not below the folder."""
        if isinstance(path, int):
            return self.paths.get(path, "")
        try:
            found = os.path.abspath(os.fsdecode(path))
        except (TypeError, ValueError):
            return ""
        return found if found == self.folder or found.startswith(self.folder + os.sep) else ""

    def forget(self, descriptor: int) -> int:
        """The descriptor has been given out anew or goes: what is known of its number no longer holds."""
        self.paths.pop(descriptor, None)
        self.writing.discard(descriptor)
        return descriptor

    def call(self, kind: str, path: str, go: Go, source: str = "") -> Any:
        self.count += 1
        return self.hook(Operation(self.count, kind, path, source), go)


class _File:
    """Stands in for a file opened for writing."""

    def __init__(self, watch: _Watch, file: Any, path: str) -> None:
        self._watch, self._file, self._path = watch, file, path

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __enter__(self) -> _File:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Any:
        return iter(self._file)

    def write(self, data: Any) -> Any:
        def go(half: bool = False) -> Any:
            if not half:
                return self._file.write(data)
            part = data if isinstance(data, str) else memoryview(data).cast("B")
            self._file.write(part[: len(part) // 2])
            self._file.flush()
            return len(part) // 2

        return self._watch.call("write", self._path, go)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def close(self) -> None:
        if not self._file.closed:
            self._watch.forget(self._file.fileno())
            self._watch.call("close", self._path, lambda half=False: self._file.close())


def _whole(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Go:
    """The operation as a whole: half of it is nothing."""
    return lambda half=False: None if half else function(*args, **kwargs)


@contextmanager
def watched(folder: str | Path, hook: Hook) -> Iterator[None]:
    """Call ``hook(operation, go)`` for every operation below ``folder``; it returns ``go()`` or raises."""
    watch = _Watch(os.path.abspath(folder), hook)
    real = {
        name: getattr(os, name) for name in (*_BY_PATH, *_BY_TWO, *_BY_DESCRIPTOR, "open", "close", "write")
    }
    real_file = io.open
    send = getattr(os, "sendfile", None)

    def by_path(name: str, path: Any, *args: Any, **kwargs: Any) -> Any:
        # With dir_fd (shutil.rmtree) the path is relative to an open folder.
        folder = watch.paths.get(kwargs.get("dir_fd") or -1)
        found = os.path.join(folder, os.fsdecode(path)) if folder else watch.inside(path)
        go = _whole(real[name], path, *args, **kwargs)
        return watch.call(name, found, go) if found else go()

    def by_two(name: str, source: Any, target: Any, *args: Any, **kwargs: Any) -> Any:
        found = watch.inside(target)
        go = _whole(real[name], source, target, *args, **kwargs)
        return watch.call(name, found, go, os.fsdecode(source)) if found else go()

    def by_descriptor(name: str, descriptor: Any, *args: Any) -> Any:
        found = watch.paths.get(descriptor if isinstance(descriptor, int) else descriptor.fileno(), "")
        go = _whole(real[name], descriptor, *args)
        return watch.call(name, found, go) if found else go()

    def open_descriptor(path: Any, flags: int, *args: Any, **kwargs: Any) -> int:
        folder = watch.paths.get(kwargs.get("dir_fd") or -1)
        found = os.path.join(folder, os.fsdecode(path)) if folder else watch.inside(path)
        if not found:
            return watch.forget(int(real["open"](path, flags, *args, **kwargs)))
        writes = bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))

        def go(half: bool = False) -> int:
            descriptor = watch.forget(int(real["open"](path, flags, *args, **kwargs)))
            watch.paths[descriptor] = found
            if writes:
                watch.writing.add(descriptor)
            return descriptor

        return int(watch.call("open" if writes else "read", found, go))

    def close(descriptor: int) -> None:
        found, written = watch.paths.get(descriptor, ""), descriptor in watch.writing
        watch.forget(descriptor)
        if written:
            watch.call("close", found, lambda half=False: real["close"](descriptor))
        else:
            real["close"](descriptor)

    def write(descriptor: int, data: Any) -> int:
        found = watch.paths.get(descriptor, "")
        if not found:
            return int(real["write"](descriptor, data))
        part = memoryview(data).cast("B")

        def go(half: bool = False) -> int:
            return int(real["write"](descriptor, part[: len(part) // 2] if half else data))

        return int(watch.call("write", found, go))

    def sendfile(out: int, source: int, *args: Any, **kwargs: Any) -> int:
        assert send is not None
        found = watch.paths.get(out, "")
        go = _whole(send, out, source, *args, **kwargs)
        return int(watch.call("copy", found, go) if found else go())

    def open_file(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        found = watch.inside(file)
        writes = any(letter in mode for letter in "wax+")
        if not found:
            opened = real_file(file, mode, *args, **kwargs)
            watch.forget(opened.fileno())
            return opened

        def go(half: bool = False) -> Any:
            opened = real_file(file, mode, *args, **kwargs)
            if not writes:
                return opened  # which closes without a word
            watch.paths[opened.fileno()] = found
            return _File(watch, opened, found)

        if isinstance(file, int):  # os.fdopen: opened before
            return go()
        return watch.call("open" if writes else "read", found, go)

    replaced = {name: functools.partial(by_path, name) for name in _BY_PATH}
    replaced |= {name: functools.partial(by_two, name) for name in _BY_TWO}
    replaced |= {name: functools.partial(by_descriptor, name) for name in _BY_DESCRIPTOR}
    others = {"open": open_descriptor, "close": close, "write": write} | (
        {"sendfile": sendfile} if send else {}
    )
    with (
        patch.multiple(os, **replaced, **others),
        patch.object(builtins, "open", open_file),
        patch.object(io, "open", open_file),
    ):
        yield


def operations_of(folder: str | Path, action: Callable[[], object]) -> list[Operation]:
    """The operations below ``folder`` that ``action`` does when nothing fails."""
    seen: list[Operation] = []

    def hook(operation: Operation, go: Go) -> Any:
        seen.append(operation)
        return go()

    with watched(folder, hook):
        action()
    return seen
