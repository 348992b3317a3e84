"""Requests to a running training from any thread, read between its steps."""

from __future__ import annotations

import threading
from dataclasses import dataclass


@dataclass(frozen=True)
class Requests:
    """What was asked for at one moment. ``end`` is empty, early, interrupted or cancel."""

    pause: bool
    checkpoint: bool
    end: str


# A later request may only be more drastic than the one before it.
_WEIGHT = {"": 0, "early": 1, "interrupted": 2, "cancel": 3}


class Control:
    """The thread-safe mailbox between a training and those who command it."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._pause = False
        self._checkpoint = False
        self._end = ""

    def pause(self) -> None:
        with self._condition:
            self._pause = True
            self._condition.notify_all()

    def resume(self) -> None:
        with self._condition:
            self._pause = False
            self._condition.notify_all()

    def checkpoint(self) -> None:
        with self._condition:
            self._checkpoint = True
            self._condition.notify_all()

    def end(self, how: str) -> None:
        """Ask for the end: ``early``, ``interrupted`` or ``cancel``; a paused training wakes up for it."""
        with self._condition:
            if _WEIGHT[how] > _WEIGHT[self._end]:
                self._end = how
            self._condition.notify_all()

    def anything(self) -> bool:
        """True where there is a request to look at. Cheap: asked before every step, without the lock."""
        return self._pause or self._checkpoint or bool(self._end)

    def ending(self) -> str:
        """How the training shall end, or an empty text."""
        return self._end

    def read(self, checkpoints: bool = True) -> Requests:
        """What is asked for now; a request for a checkpoint is handed out once.

        Without ``checkpoints`` such a request is left where it is: this is no moment to write one.
        """
        with self._condition:
            asked = self._checkpoint and checkpoints
            if asked:
                self._checkpoint = False
            return Requests(pause=self._pause, checkpoint=asked, end=self._end)

    def checkpoint_waits(self) -> bool:
        """Whether a request for a checkpoint was not handed out yet."""
        return self._checkpoint

    def wait_while_paused(self, checkpoints: bool = True) -> Requests:
        """Block until the pause ends or something else is asked for, and return that."""
        with self._condition:
            self._condition.wait_for(lambda: not self._pause or self._checkpoint or bool(self._end))
        return self.read(checkpoints)
