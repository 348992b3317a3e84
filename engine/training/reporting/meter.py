"""Speed, time left and the points since the last report: what turns steps into ``steps`` events."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping

from engine.training.events import now
from resources.training_events import Steps

REPORT_SECONDS = 0.07  # charts are to move 10 to 20 times a second
WINDOW_SECONDS = 3.0


class Meter:
    """Collects the steps and decides when to report them.

    Args:
        clock: seconds that only go forward; tests give their own.

    ``before`` is the time that a resumed run had taken until then, in seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._steps: list[int] = []
        self._losses: list[float] = []
        self._accuracies: list[float] = []
        self._scalars: dict[str, list[float]] = {}
        self._window: deque[tuple[float, int]] = deque()
        self._seen = 0
        self.before = 0.0
        self._started = self._reported = clock()
        self._paused_at: float | None = None
        self._paused_for = 0.0

    def start(self) -> None:
        """The first step begins now: what went before (imports, data) does not count as training time."""
        self._started = self._reported = self._clock()
        self._window.append((self._started, 0))

    def add(
        self,
        step: int,
        loss: float,
        accuracy: float | None,
        samples: int,
        scalars: Mapping[str, float] | None = None,
    ) -> None:
        """One step was done; ``scalars``, further values, have the same names at every step."""
        self._steps.append(step)
        self._losses.append(loss)
        if accuracy is not None:
            self._accuracies.append(accuracy)
        self._seen += samples
        for name, value in (scalars or {}).items():
            self._scalars.setdefault(name, []).append(value)

    def due(self) -> bool:
        """Whether there are steps and the last report is long enough ago."""
        return self.waiting() and self._clock() - self._reported >= REPORT_SECONDS

    def waiting(self) -> bool:
        """Whether there are steps that were not reported yet."""
        return bool(self._steps)

    def report(self, epoch: int, total_steps: int, batch_size: int, learning_rate: float) -> Steps:
        """The event about the steps that wait; there must be some."""
        moment = self._clock()
        self._reported = moment
        self._window.append((moment, self._seen))
        while len(self._window) > 2 and moment - self._window[1][0] >= WINDOW_SECONDS:
            self._window.popleft()
        speed = self.samples_per_second()
        step = self._steps[-1]
        left = max(0, total_steps - step) * batch_size / speed if speed > 0 else 0.0
        event = Steps(
            event="steps",
            time=now(),
            steps=self._steps,
            losses=self._losses,
            step=step,
            epoch=epoch,
            total_steps=total_steps,
            samples_per_second=speed,
            seconds_left=left,
            elapsed=self.elapsed(),
            learning_rate=learning_rate,
        )
        if self._accuracies:
            event["accuracies"] = self._accuracies
        if self._scalars:
            event["scalars"], self._scalars = self._scalars, {}
        self._steps, self._losses, self._accuracies = [], [], []
        return event

    def samples_per_second(self) -> float:
        """The speed over the last few seconds."""
        (begin, before), (end, after) = self._window[0], self._window[-1]
        return (after - before) / (end - begin) if end > begin else 0.0

    def elapsed(self) -> float:
        """Seconds of training, without pauses, with those before a resume."""
        now = self._paused_at if self._paused_at is not None else self._clock()
        return self.before + now - self._started - self._paused_for

    def skip(self) -> None:
        """Leave the time since the last report (an evaluation, a checkpoint) out of the speed."""
        if self._window:
            gap = self._clock() - self._window[-1][0]
            self._window = deque((moment + gap, seen) for moment, seen in self._window)

    def pause(self) -> None:
        self._paused_at = self._clock()

    def resume(self) -> None:
        """Go on: the pause counts neither as time nor for the speed."""
        if self._paused_at is not None:
            self._paused_for += self._clock() - self._paused_at
            self._paused_at = None
        self._window.clear()
        self._window.append((self._clock(), self._seen))
