"""OutputLines: replaces stdout or stderr of a child process and forwards the output line by line."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Callable
from typing import Any

MAX_OUTPUT = 20_000


class OutputLines(io.TextIOBase):
    """What is written becomes events ``output`` with ``stream`` and ``text``, whole lines as they come.

    Args:
        put: takes the events, in the thread that writes.
        name: ``stdout`` or ``stderr``.
    """

    def __init__(self, put: Callable[[dict[str, Any]], None], name: str) -> None:
        super().__init__()
        self._put = put
        self._name = name
        self._line = ""
        self._lock = threading.Lock()

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        with self._lock:
            *lines, self._line = (self._line + text).split("\n")
            if len(self._line) > MAX_OUTPUT:
                lines, self._line = [*lines, self._line], ""
        if lines:
            self._send("\n".join(lines))
        return len(text)

    def flush(self) -> None:
        with self._lock:
            line, self._line = self._line, ""
        if line:
            self._send(line)

    def _send(self, text: str) -> None:
        if len(text) > MAX_OUTPUT:
            text = text[:MAX_OUTPUT] + f"\n... {len(text) - MAX_OUTPUT} more characters"
        self._put({"event": "output", "time": time.time(), "stream": self._name, "text": text})
