"""What a schedule will do over a run: the learning rate of every step, before anything is trained."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.core.errors import ArgumentError
from engine.training.rules.rules import make_schedule
from resources.settings import Settings, moves_each, schedules

MOST_MOVES = 20_000


@dataclass(frozen=True)
class Planned:
    """``rates[i]`` is the rate from ``steps[i]`` on, counted from 0, until the next one.

    ``whole`` is False where the run moves the schedule more than 20,000 times: the first ones are there.
    ``metric`` is the measured value that the schedule follows: then only its first rate is known.
    """

    steps: np.ndarray
    rates: np.ndarray
    whole: bool
    metric: str


def planned_rates(settings: Settings, steps_per_epoch: int) -> Planned:
    """The rates of a run of ``settings`` with so many steps an epoch.

    Args:
        steps_per_epoch: 0 where it is not known: then a schedule that moves each epoch counts epochs, as if
            each were one step.

    Raises:
        ArgumentError: the schedule's parameters don't fit each other or the run; or it moves each batch, and
            their number is unknown.
    """
    total = settings.epochs * max(steps_per_epoch, 1)
    rule = schedules()[settings.schedule]
    if not rule.class_name:
        return Planned(np.array([0, total]), np.full(2, settings.learning_rate), True, "")
    each = 1 if moves_each(settings.schedule, settings.schedule_each) == "batch" else max(steps_per_epoch, 1)
    if each == 1 and not steps_per_epoch and not rule.measures:
        raise ArgumentError(
            "schedule: how many steps the run has is not known before its data was read; start it once"
        )
    schedule = make_schedule(settings, max(steps_per_epoch, 1))
    assert schedule is not None
    scheduler = schedule.scheduler
    if schedule.metric:
        return Planned(np.array([0, total]), np.full(2, float(scheduler())), True, schedule.metric)
    moves = -(-total // each)
    shown = min(moves, MOST_MOVES)
    rates = np.empty(shown)
    for move in range(shown):
        rates[move] = scheduler()
        if move + 1 < shown:
            scheduler.step()
    return Planned(np.arange(shown) * each, rates, shown == moves, "")
