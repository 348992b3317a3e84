"""Requests to a running training from any thread, which it reads between its steps."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from engine.core.errors import ArgumentError
from engine.training.rules.rate import require_rate


@dataclass(frozen=True)
class Requests:
    """The requests at one moment. ``end`` is empty, early, interrupted or cancel."""

    pause: bool
    checkpoint: bool
    end: str
    rate: float | None = None


# A later request may only be more drastic than the one before it.
_WEIGHT = {"": 0, "early": 1, "interrupted": 2, "cancel": 3}
_RATE = "learning_rate="
_COMMAND = {"early": "stop_early", "interrupted": "interrupt", "cancel": "cancel"}


class Control:
    """The thread-safe mailbox of requests to a training."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._pause = False
        self._checkpoint = False
        self._rate: float | None = None
        self._end = ""
        self._elsewhere: Callable[[str], None] = lambda command: None

    def redirect(self, take: Callable[[str], None]) -> None:
        """The training continues in another process: from now on ``take`` gets the commands, pending ones
        first."""
        with self._condition:
            self._elsewhere = take
            if self._pause:
                take("pause")
            if self._checkpoint:
                take("checkpoint_now")
            if self._rate is not None:
                take(rate_command(self._rate))
            if self._end:
                take(_COMMAND[self._end])

    def pause(self) -> None:
        with self._condition:
            self._pause = True
            self._elsewhere("pause")
            self._condition.notify_all()

    def resume(self) -> None:
        with self._condition:
            self._pause = False
            self._elsewhere("resume")
            self._condition.notify_all()

    def checkpoint(self) -> None:
        with self._condition:
            self._checkpoint = True
            self._elsewhere("checkpoint_now")
            self._condition.notify_all()

    def rate(self, value: float) -> None:
        with self._condition:
            self._rate = value
            self._elsewhere(rate_command(value))
            self._condition.notify_all()

    def end(self, how: str) -> None:
        """Ask for the end: ``early``, ``interrupted`` or ``cancel``; a paused training wakes up for it."""
        with self._condition:
            if _WEIGHT[how] > _WEIGHT[self._end]:
                self._end = how
                self._elsewhere(_COMMAND[how])
            self._condition.notify_all()

    def anything(self) -> bool:
        """Whether any request is pending. Cheap, since it is called before every step: takes no lock."""
        return self._pause or self._checkpoint or self._rate is not None or bool(self._end)

    def ending(self) -> str:
        """How the training is to end, or an empty text."""
        return self._end

    def read(self, checkpoints: bool = True) -> Requests:
        """The pending requests; one for a checkpoint, or for another learning rate, is returned once.

        With ``checkpoints`` False such a request stays pending, for a moment when one can be written.
        """
        with self._condition:
            asked, rate = self._checkpoint and checkpoints, self._rate if checkpoints else None
            if checkpoints:
                self._checkpoint, self._rate = False, None
            return Requests(pause=self._pause, checkpoint=asked, end=self._end, rate=rate)

    def checkpoint_waits(self) -> bool:
        """Whether a request is pending for which a checkpoint is written."""
        return self._checkpoint or self._rate is not None

    def wait_while_paused(self, checkpoints: bool = True) -> Requests:
        """Block until the pause ends or something else is asked for, and return that."""
        with self._condition:
            self._condition.wait_for(lambda: not self._pause or self.checkpoint_waits() or bool(self._end))
        return self.read(checkpoints)


class EndRequested(Exception):
    """Leaves the training loop; ``how`` is early, interrupted, diverged or cancel."""

    def __init__(self, how: str) -> None:
        super().__init__(how)
        self.how = how


class Commands:
    """The requests that a training takes from any thread; they take effect after the step in progress."""

    def __init__(self) -> None:
        self._control = Control()

    def pause(self) -> None:
        """Hold after the step in progress; the event ``paused`` follows."""
        self._control.pause()

    def resume(self) -> None:
        """Continue after a pause."""
        self._control.resume()

    def stop_early(self) -> None:
        """End after the step in progress and keep the best weights seen."""
        self._control.end("early")

    def interrupt(self) -> None:
        """End after the step in progress with a checkpoint, so that the run can be continued later."""
        self._control.end("interrupted")

    def cancel(self) -> None:
        """End after the step in progress and discard what this run wrote."""
        self._control.end("cancel")

    def checkpoint_now(self) -> None:
        """Write a checkpoint after the step in progress (also while paused)."""
        self._control.checkpoint()

    def set_learning_rate(self, rate: float) -> None:
        """Train with this learning rate after the step in progress (also while paused).

        A checkpoint is written first; the event ``rate_changed`` follows. A schedule continues with all its
        learning rates multiplied by the ratio of this one to its current one.

        Raises:
            ArgumentError: not a learning rate.
        """
        self._control.rate(require_rate(rate))

    def obey(self, command: str) -> None:
        """Take a request as the words that other processes send: ``pause``, ``learning_rate=0.001``.

        Raises:
            ArgumentError: there is no such request.
        """
        if command.startswith(_RATE):
            try:
                rate = float(command.removeprefix(_RATE))
            except ValueError:
                raise ArgumentError(f"training: not a learning rate: got {command!r:.200}") from None
            self.set_learning_rate(rate)
        elif command in COMMANDS:
            getattr(self, command)()
        else:
            raise ArgumentError(f"training: no such request: got {command!r:.99}; give {', '.join(COMMANDS)}")


COMMANDS = ("pause", "resume", "stop_early", "interrupt", "cancel", "checkpoint_now")


def rate_command(rate: float) -> str:
    """The request for another learning rate in words; reads back as the same number."""
    return f"{_RATE}{rate!r}"
