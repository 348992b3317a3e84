"""Faults that tests inject into files: a disk full, broken or read-only, no memory, Ctrl-C at any moment."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.robust.file_operations import Go, Operation, operations_of, watched

LONG = bool(os.environ.get("MODEL_STUDIO_LONG"))


@dataclass(frozen=True)
class Fault:
    """What goes wrong at an operation: an errno or an exception, once or from there on."""

    name: str
    number: int = 0
    raised: type[BaseException] | None = None
    lasting: bool = False
    half: bool = False
    hits: Callable[[Operation], bool] = lambda operation: True

    def hook(self, at: int) -> Callable[[Operation, Go], Any]:
        """The hook for ``watched`` that lets the operation with number ``at`` fail."""

        def around(operation: Operation, go: Go) -> Any:
            due = operation.number >= at if self.lasting else operation.number == at
            if not due or not self.hits(operation):
                return go()
            if operation.kind == "close":
                go()  # a descriptor is gone also where closing it fails
            elif self.half and operation.kind == "write":
                go(half=True)
            if self.raised is not None:
                raise self.raised
            raise OSError(self.number, os.strerror(self.number), operation.path)

        return around


FAULTS = [
    Fault("full", errno.ENOSPC, lasting=True, half=True, hits=lambda operation: operation.grows),
    Fault("quota", errno.EDQUOT, half=True, hits=lambda operation: operation.grows),
    Fault("broken", errno.EIO),
    Fault("read_only", errno.EROFS, lasting=True, hits=lambda operation: operation.changes),
    Fault(
        "no_descriptors",
        errno.EMFILE,
        lasting=True,
        hits=lambda operation: operation.kind in ("open", "read"),
    ),
    Fault("no_memory", raised=MemoryError),
    Fault("interrupted", raised=KeyboardInterrupt, half=True),
]


def points(count: int, short: int) -> list[int]:
    """The operations to fail: all with --long, else ``short`` of them, the first and the last included."""
    if LONG or count <= short:
        return list(range(1, count + 1))
    return sorted({1 + round(i * (count - 1) / (short - 1)) for i in range(short)})


def descriptors() -> int:
    """How many files this process has open; 0 where the system does not say."""
    with suppress(OSError):
        return len(os.listdir("/proc/self/fd"))
    return 0


def temporaries(folder: Path) -> list[str]:
    """What unfinished writers leave: temporary and staged files anywhere below ``folder``."""
    return sorted(
        path.name
        for path in folder.rglob("*")
        if path.name.startswith(".") or path.suffix in (".tmp", ".lock")
    )


def every_fault(
    folder: Path,
    fault: Fault,
    prepare: Callable[[], object],
    action: Callable[[], object],
    check: Callable[[BaseException | None, str], object],
    short: int = 12,
    plan: list[Operation] | None = None,
) -> int:
    """Do ``action`` again and again, with another operation failing each time; returns how often.

    ``prepare`` makes the state before; ``check`` gets the error, or None, and a text that says where it was.
    ``plan`` has the operations of the action, where they are known.
    """
    if plan is None:
        prepare()
        plan = operations_of(folder, action)
    assert plan, "nothing to fail: the action touches no file"
    tried = 0
    for at in points(len(plan), short):
        prepare()
        before = descriptors()
        seen: BaseException | None = None
        try:
            with watched(folder, fault.hook(at)):
                action()
        except BaseException as error:
            # Only what was injected or made of it; the rest is the test's own trouble.
            if isinstance(error, pytest.fail.Exception):
                raise
            seen = error
        where = f"{fault.name} at operation {at} of {len(plan)} ({plan[at - 1].kind} {plan[at - 1].path})"
        said = f"{where}: {type(seen).__name__}: {seen}"
        if seen is not None:
            seen.__traceback__ = None  # whose frames hold files
        assert descriptors() <= before, f"{said}: left open"
        check(seen, said)
        tried += 1
    return tried
