"""Undo and redo of what was edited: a stack of changes, each of which can be taken back and made again."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from psygnal import Signal

MOST = 200
_ONE_EDIT = 1.0  # seconds: what is typed into one field without a longer pause is one change


@dataclass(frozen=True)
class Change:
    """Something that was edited; ``title`` names it on screen. Changes of one ``key`` in a row are one."""

    title: str
    undo: Callable[[], object]
    redo: Callable[[], object]
    key: str = ""


class UndoStack:
    """The changes of a project, newest last. ``changed`` comes after each change of what can be undone."""

    changed = Signal()

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._done: list[Change] = []
        self._undone: list[Change] = []
        self._last = -_ONE_EDIT
        self._working = False

    def push(self, change: Change) -> None:
        """Remember a change that was just made. Changes made by ``undo`` and ``redo`` themselves do not
        count."""
        if self._working:
            return
        now = self._clock()
        before = self._done[-1] if self._done else None
        if before is not None and change.key and change.key == before.key and now - self._last < _ONE_EDIT:
            self._done[-1] = replace(change, undo=before.undo)
        else:
            self._done.append(change)
            del self._done[:-MOST]
        self._undone.clear()
        self._last = now
        self.changed.emit()

    def remove(self, change: Change) -> None:
        """Forget a change that was pushed, and turned out to be impossible."""
        for stack in (self._done, self._undone):
            stack[:] = [each for each in stack if each is not change]
        self.changed.emit()

    def undo(self) -> str:
        """Take the last change back; returns its title, empty where there is none."""
        return self._move(self._done, self._undone, lambda change: change.undo)

    def redo(self) -> str:
        """Make the change again that was taken back last; returns its title, empty where there is none."""
        return self._move(self._undone, self._done, lambda change: change.redo)

    def clear(self) -> None:
        """Forget all changes: another project was opened."""
        self._done.clear()
        self._undone.clear()
        self.changed.emit()

    @property
    def undoable(self) -> str:
        """The title of what would be undone; empty where there is nothing."""
        return self._done[-1].title if self._done else ""

    @property
    def redoable(self) -> str:
        """The title of what would be made again; empty where there is nothing."""
        return self._undone[-1].title if self._undone else ""

    def _move(
        self, source: list[Change], target: list[Change], which: Callable[[Change], Callable[[], object]]
    ) -> str:
        if not source:
            return ""
        change = source.pop()
        self._working = True
        try:
            which(change)()
        finally:
            self._working = False
        target.append(change)
        self._last = -_ONE_EDIT  # what is edited next is a change of its own
        self.changed.emit()
        return change.title
