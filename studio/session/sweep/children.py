"""One trial's training as a child process: what it reports, how it is asked to stop, how it ended."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeAlias

from engine.files.untrusted.child import NO_WINDOW, ending
from resources.json_documents import DocumentError, parse

_ROOT = str(Path(__file__).resolve().parents[3])
# At the end of the path: nothing there stands in for a module of Python's own. -P leaves the current folder
# out of it, which may be untrusted.
_START = f"import sys; sys.path.append({_ROOT!r}); from studio.cli.watched import main; main"
_LINES, WIDTH = 10, 800
_MAX_LINE = 1_000_000
_REPORTED = (b'"event":"epoch"', b'"event":"started"')
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Progress:
    """An event of a trial's training: it started, or an epoch ended."""

    number: int
    event: Mapping[str, Any]


@dataclass(frozen=True)
class Ended:
    """The end of a trial's training: exit status (below 0 the number of a signal), and what it said last.

    ``lost`` says that it is not the training's fault: the place where it was is gone.
    """

    number: int
    code: int
    lines: tuple[str, ...]
    lost: bool = False

    @property
    def message(self) -> str:
        """Why it failed, in one line."""
        said = " / ".join(self.lines[-3:]) if self.code < 0 or self.code > 2 else "".join(self.lines[-1:])
        how = f"the process ended: {ending(self.code)}"
        if self.code == 1 and said:
            return said
        return f"{how}; it said last: {said}" if said else how


@dataclass(frozen=True)
class Waiting:
    """No trial can train at the moment; why, in one line."""

    message: str


Report: TypeAlias = Progress | Ended | Waiting
Tell: TypeAlias = Callable[[Report], object]


class Child:
    """``model-studio WORDS`` in a process that ends with this one.

    Args:
        tell: receives the reports, in a thread of the child's.
        threads: of a BLAS library in it, where the environment does not say.
        agreed: the digest of the user's code that it may run; None for what the words name.

    Raises:
        OSError: the process could not be started.
    """

    def __init__(
        self,
        number: int,
        words: Sequence[str],
        tell: Tell,
        threads: int = 1,
        folder: Path | None = None,
        agreed: str | None = None,
    ) -> None:
        self.number = number
        self._tell = tell
        self._lines: deque[str] = deque(maxlen=_LINES)
        environment = {**dict.fromkeys(_THREADS, str(threads)), **os.environ, "PYTHONUNBUFFERED": "1"}
        # A session of its own: Ctrl+C in a terminal reaches the sweep alone, which then asks its children.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", f"{_START}({agreed!r})", *words],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=os.name != "nt",
            creationflags=NO_WINDOW,
        )
        self._readers = [
            threading.Thread(target=read, args=(stream,), name=f"trial {number}", daemon=True)
            for read, stream in (
                (self._read_events, self._process.stdout),
                (self._read_lines, self._process.stderr),
            )
        ]
        self._waiter = threading.Thread(target=self._wait, name=f"trial {number} end", daemon=True)
        for thread in (*self._readers, self._waiter):
            thread.start()

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    def stop(self) -> None:
        """Ask for a last checkpoint and the end; harmless where it was asked or has ended."""
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()

    def kill(self) -> None:
        """End it at once; its last checkpoint stays."""
        with suppress(OSError):
            self._process.kill()

    def join(self, seconds: float | None = None) -> bool:
        """Wait up to ``seconds`` until it has ended and was reported; returns whether it has."""
        self._waiter.join(seconds)
        return not self._waiter.is_alive()

    def _read_events(self, stream: IO[bytes]) -> None:
        for line in self._pieces(stream):
            if any(mark in line for mark in _REPORTED):
                with suppress(DocumentError):
                    event = parse(line)
                    if isinstance(event, dict):
                        self._tell(Progress(self.number, event))

    def _read_lines(self, stream: IO[bytes]) -> None:
        for line in self._pieces(stream):
            text = " ".join(line.decode("utf-8", "replace").split())
            if text:
                self._lines.append(text if len(text) <= WIDTH else f"{text[: WIDTH - 3]}...")

    @staticmethod
    def _pieces(stream: IO[bytes]) -> Any:
        # A line without an end must not fill the memory.
        with stream:
            yield from iter(lambda: stream.readline(_MAX_LINE), b"")

    def _wait(self) -> None:
        code = self._process.wait()
        for reader in self._readers:
            # What the training started itself may hold the pipes open beyond its end.
            reader.join(2.0)
        self.stop()
        self._tell(Ended(self.number, code, tuple(self._lines)))
