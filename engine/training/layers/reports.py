"""When a training inspects its layers, and how it reports the readings."""

from __future__ import annotations

from collections.abc import Callable

from engine.training.events import now
from engine.training.layers.alerts import LayerAlerts
from engine.training.layers.watch import LayerReading
from engine.training.reporting.progress import Progress
from resources.training_events import Layers, TrainingEvent


def looks(progress: Progress, every: int) -> bool:
    """Whether the next step is one to look at: the first, the last of an epoch, and each ``every`` th."""
    step = progress.step + 1
    last = progress.step_in_epoch + 1 == progress.steps_per_epoch
    return step == 1 or last or bool(every and step % every == 0)


class LayerReports:
    """Passes on what was seen, and the alerts that come of it."""

    def __init__(self, publish: Callable[[TrainingEvent], None]) -> None:
        self._publish = publish
        self._alerts = LayerAlerts()

    def publish(self, reading: LayerReading | None, step: int, epoch: int, rate_share: float = 1.0) -> None:
        """Publish the reading at ``step``; None (a step without an update) publishes nothing.

        Args:
            rate_share: the learning rate of the next step as a share of the run's setting.
        """
        if reading is None:
            return
        self._publish(
            Layers(
                event="layers",
                time=now(),
                step=step,
                epoch=epoch,
                parameters=reading.parameters,
                units=reading.units,
                seconds=reading.seconds,
            )
        )
        for alert in self._alerts.judge(reading, step, epoch, rate_share):
            self._publish(alert)
