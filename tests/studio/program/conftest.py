"""The program on an X server of its own, where there is one."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator

import pytest

from tests.studio.program.program import Program


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    """The name of an X display of our own; empty, for Qt's offscreen platform, where there is no X server."""
    if shutil.which("Xvfb") is None:
        yield ""
        return
    reader, writer = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writer), "-screen", "0", "1280x800x24", "-nolisten", "tcp"],
        pass_fds=[writer],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(writer)
    with os.fdopen(reader) as outcome:
        number = outcome.readline().strip()
    yield f":{number}"
    server.terminate()
    server.wait()


@pytest.fixture
def start(display: str) -> Iterator[Callable[[], Program]]:
    programs: list[Program] = []

    def started() -> Program:
        programs.append(Program(display))
        return programs[-1]

    yield started
    for program in programs:
        program.end()
