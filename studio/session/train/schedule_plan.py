"""The learning rate over the next run as the form's settings have it, for the small plot below them."""

from __future__ import annotations

from dataclasses import dataclass, field

from resources.settings import problems
from studio.session.train.run_settings import RunSettings
from studio.session.train.train_view import TrainViewModel

# As many training images as they have, if all are taken; for other data a run reports it.
_TRAINING_SAMPLES = {"digits": 10_000, "mnist": 60_000}


@dataclass(frozen=True)
class SchedulePlan:
    """``steps`` and ``rates`` are corners of a line of stairs; ``words`` say what it does not show.

    ``unit`` is step, or epoch while the number of steps per epoch is unknown.
    """

    steps: list[float] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)
    unit: str = "step"
    words: str = ""


def plan_of(settings: RunSettings, last: TrainViewModel, samples: int = 0) -> SchedulePlan | None:
    """The plan; None where the rate is constant or the settings are wrong. Imports the engine.

    Args:
        last: knows how many images the data of the last run has.
        samples: how many the chosen data has for training; 0 where that is not known.
    """
    if settings.schedule == "constant" or problems(settings.as_dict()):
        return None
    from engine.core.errors import EngineError
    from engine.training.rules.schedule_preview import planned_rates

    each = _steps_per_epoch(settings, last, samples)
    try:
        planned = planned_rates(settings, each)
    except (EngineError, ArithmeticError) as error:
        return SchedulePlan(words=str(error))
    words = ""
    if planned.metric:
        words = f"It falls when {planned.metric.replace('_', ' ')} gets no better; that is seen in the run."
    elif not planned.whole:
        words = f"The first {len(planned.steps)} changes."
    starts = planned.steps.tolist()
    last_end = settings.epochs * max(each, 1) if planned.whole else starts[-1]
    steps: list[float] = []
    rates: list[float] = []
    for start, end, rate in zip(starts, [*starts[1:], last_end], planned.rates.tolist(), strict=True):
        steps += [float(start), float(end)]
        rates += [rate, rate]
    return SchedulePlan(steps, rates, "step" if each else "epoch", words)


def _steps_per_epoch(settings: RunSettings, last: TrainViewModel, samples: int) -> int:
    """0 if the number of images is unknown."""
    count = _TRAINING_SAMPLES.get(settings.data, samples)
    if last.trained_data == settings.data:
        count = max(count, last.train_samples)
    if settings.samples:
        count = min(count, settings.samples) if count else 0
    return -(-count // settings.batch_size)
