"""Hostile files through the product's own path: the guarded child first, then this process.

The child is a fork of a process that has its modules; it runs ``guarded_child.main`` with the very request,
limits and verdict. Some cases start it as the product does.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from engine.core.errors import EngineError
from engine.files.native.in_memory import read_container_bytes
from engine.files.untrusted import guarded, guarded_child
from tests.robust.container_readers import KINDS, document_in_place, rehashed_container
from tests.robust.containers import attacked
from tests.robust.model_readers import model_files, read_model
from tests.robust.reader import Reader, one_line
from tests.robust.run_readers import read_run_folder, read_state_file, run_files, state_file

_MAKERS: dict[str, Callable[[random.Random], Any]] = {
    "model": model_files,
    "state": state_file,
    "bytes": rehashed_container,
    "text": document_in_place,
    "HDF5": attacked,
    "run": run_files,
}


def _case(draw: random.Random) -> tuple[str, Any]:
    kind = draw.choice(list(_MAKERS))
    return kind, _MAKERS[kind](draw)


def forked(
    command: Any, *, input: bytes, timeout: float, **options: Any
) -> subprocess.CompletedProcess[bytes]:
    """What ``subprocess.run`` does for the guarded child, in a fork of this process."""

    def answer() -> str:
        said = io.StringIO()
        sys.stdin, sys.stdout = io.TextIOWrapper(io.BytesIO(input)), said
        guarded_child.main()
        return said.getvalue()

    return in_a_fork(command, answer, timeout)


def in_a_fork(
    command: Any, make_answer: Callable[[], str], timeout: float
) -> subprocess.CompletedProcess[bytes]:
    """The answer of a fork of this process, as that of a child. Raises TimeoutExpired."""
    receive, send = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.close(receive)
            os.write(send, make_answer().encode())
            code = 0
        finally:
            os._exit(code)
    os.close(send)
    answer, end = b"", time.monotonic() + timeout
    try:
        while True:
            ready, _, _ = select.select([receive], [], [], max(end - time.monotonic(), 0))
            if not ready:
                os.kill(pid, 9)
                raise subprocess.TimeoutExpired("guarded child", timeout)
            data = os.read(receive, 65536)
            if not data:
                break
            answer += data
    finally:
        os.close(receive)
        _, status = os.waitpid(pid, 0)
    return subprocess.CompletedProcess(command, os.waitstatus_to_exitcode(status), answer, b"")


_FORKED = SimpleNamespace(run=forked, TimeoutExpired=subprocess.TimeoutExpired, CREATE_NO_WINDOW=0)


@contextlib.contextmanager
def forked_children() -> Iterator[None]:
    """Within the block guarded children are forks of this process."""
    guarded.subprocess = _FORKED  # type: ignore[assignment]
    try:
        yield
    finally:
        guarded.subprocess = subprocess  # type: ignore[assignment]


def _read(case: tuple[str, Any], folder: Path) -> object:
    kind, made = case
    guarded._accepted.clear()
    if kind == "model":
        return read_model(made, folder)
    if kind == "run":
        return read_run_folder(made, folder)
    if kind != "state":
        one_line(lambda: read_state_file(made, folder), (EngineError,))
        return read_container_bytes(made, KINDS, 9, "file.h5")
    return read_state_file(made, folder)


def read_forked(case: tuple[str, Any], folder: Path) -> object:
    """Read a case by the product's path; the guarded child is a fork."""
    with forked_children():
        return _read(case, folder)


def guarded_readers() -> list[Reader]:
    """The path through the guarded child, forked and started."""
    ours = (EngineError,)
    return [
        Reader("guarded child, forked", _case, read_forked, ours, 0, 128, processes=True),
        Reader("guarded child, started", _case, _read, ours, 0, 128, processes=True),
    ]
