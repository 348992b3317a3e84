"""TrialViewModel: what a trial of an edited model has found, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from psygnal import SignalGroupDescriptor


@dataclass
class TrialViewModel:
    """Fields change through assignment; ``events.NAME`` emits each real change.

    ``problem`` says in one line why nothing was found. ``stale`` says that the text is another one than that
    which ``found`` is of (a Measured, or a PlanSteps).
    """

    running: bool = False
    problem: str = ""
    found: Any = None
    stale: bool = False

    events: ClassVar[SignalGroupDescriptor] = SignalGroupDescriptor()
