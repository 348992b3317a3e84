"""When a profiler records: its states, its targets, and schedules of steps."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from enum import Enum

from engine.core.errors import ConditionError


class ProfilerState(Enum):
    """What a profiler does in a step; after RECORD_AND_RETURN the spans are handed out."""

    CLOSED = 0
    READY = 1
    RECORD = 2
    RECORD_AND_RETURN = 3


class ProfilerTarget(Enum):
    """A kind of device whose work is recorded."""

    CPU = 0
    GPU = 1
    XPU = 2
    CUSTOM_DEVICE = 3


class TracerEventType(Enum):
    """What a span is; those that the engine records, and those for ``RecordEvent``."""

    Operator = 0
    Dataloader = 1
    ProfileStep = 2
    UserDefined = 7
    OperatorInner = 8
    Forward = 9
    Backward = 10
    Optimization = 11
    Communication = 12
    PythonOp = 13
    PythonUserDefined = 14


Scheduler = Callable[[int], ProfilerState]


def make_scheduler(
    *, closed: int, ready: int, record: int, repeat: int = 0, skip_first: int = 0
) -> Scheduler:
    """The state of each step: after ``skip_first`` steps, again and again ``closed`` steps of nothing,
    ``ready`` steps to warm up and ``record`` steps that are recorded, ``repeat`` times (0: without end).

    Raises ConditionError, an AssertionError, for negative numbers or nothing to record. Without a step to
    warm up there is a warning, as in Paddle.
    """
    if min(closed, ready, repeat, skip_first) < 0 or record <= 0:
        raise ConditionError(
            "make_scheduler: record must be positive, the others must not be negative: got "
            f"closed={closed}, ready={ready}, record={record}, repeat={repeat}, skip_first={skip_first}"
        )
    if ready == 0:
        warnings.warn(
            "make_scheduler: ready is 0, so the first recorded step also measures what is done once "
            "(compiling, filling caches); use ready=1",
            stacklevel=2,
        )

    def state(step: int) -> ProfilerState:
        if step < 0:
            raise ConditionError(f"make_scheduler: steps are counted from 0: got {step}")
        turn, place = divmod(step - skip_first, closed + ready + record)
        if step < skip_first or 0 < repeat <= turn or place < closed:
            return ProfilerState.CLOSED
        if place < closed + ready:
            return ProfilerState.READY
        last = place == closed + ready + record - 1
        return ProfilerState.RECORD_AND_RETURN if last else ProfilerState.RECORD

    return state


def scheduler_of(given: Scheduler | tuple[int, int] | list[int] | None) -> Scheduler:
    """A schedule from a function, from a pair (first step, step behind the last), or from None: always."""
    if callable(given):
        return given
    if given is None:
        return lambda step: ProfilerState.RECORD
    if len(given) != 2 or not given[1] > given[0]:
        raise ConditionError(f"Profiler: scheduler is (start, end) with start < end: got {given!r}")
    start, end = max(given[0], 0), given[1]
    if start == 0:
        return make_scheduler(closed=0, ready=0, record=end, repeat=1)
    return make_scheduler(closed=start - 1, ready=1, record=end - start, repeat=1)
