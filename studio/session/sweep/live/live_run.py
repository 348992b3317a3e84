"""LiveRun: the journal of a run that trains elsewhere, written here while it trains."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from engine.core.errors import EngineError
from engine.files.atomic import make_folder
from engine.files.journal import JOURNAL_NAME, JournalWriter
from resources.json_documents import DocumentError, parse
from resources.locks import LOCK_NAME, Holder, Lock, take
from studio.session.sweep.live.leftovers import MARK

# They say that files are there which come at the end only.
_LATER = ("checkpoint", "finished", "stopped", "cancelled", "failed")
MOST_LIVE_BYTES = 500_000_000
_LONGEST = 1_000_000


class LiveRun:
    """Appends what a worker reports to the journal in ``folder``, whose lock it holds: the run is running.

    The events are for display. When the run arrives, its whole journal replaces this one; where none arrives,
    ``discard`` leaves the folder as it was.
    """

    def __init__(self, folder: Path, lock: Lock) -> None:
        self._folder, self._lock = folder, lock
        self._path = folder / JOURNAL_NAME
        (folder / MARK).touch()
        self._writer: JournalWriter | None = JournalWriter(self._path)
        self._before = self._path.stat().st_size  # without a torn last line
        self._file = self._mark()
        self._written = 0

    @staticmethod
    def begin(folder: Path) -> LiveRun | None:
        """Follow the run in ``folder``; None where another process trains there, or it can't be written."""
        try:
            make_folder(folder)
            lock = take(folder / LOCK_NAME)
        except (EngineError, OSError):
            return None
        if isinstance(lock, Holder):
            return None
        try:
            return LiveRun(folder, lock)
        except (EngineError, OSError):
            lock.release()
            return None

    def add(self, text: str) -> list[dict[str, Any]]:
        """Write the events among these lines; returns them. A full disk ends the display, not the sweep."""
        events = []
        for line in text.splitlines():
            with suppress(DocumentError):
                event = parse(line.encode()) if len(line) <= _LONGEST else None
                if isinstance(event, dict) and isinstance(event.get("event"), str):
                    events.append(event)
        self._written += len(text)
        if self._writer is not None and self._written <= MOST_LIVE_BYTES:
            try:
                for event in events:
                    if event["event"] not in _LATER:
                        self._writer.write(event)
            except EngineError:
                self._close()
        return events

    def restart(self) -> None:
        """The training began again, on another worker."""
        with suppress(OSError):
            os.truncate(self._path, self._before)

    def end(self) -> None:
        """Release the folder, to which the run is written next."""
        self._close()
        self._lock.release()

    def discard(self) -> None:
        """Remove what was added, unless the run has replaced it; call ``end`` before."""
        with suppress(OSError):
            (self._folder / MARK).unlink()
        if self._mark() != self._file:
            return
        with suppress(OSError):
            if self._before:
                os.truncate(self._path, self._before)
            else:
                self._path.unlink()
                self._folder.rmdir()

    def _close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _mark(self) -> tuple[int, int]:
        try:
            stat = self._path.stat()
        except OSError:
            return 0, 0
        return stat.st_dev, stat.st_ino
