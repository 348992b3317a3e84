"""CheckpointsView: what is shown of a run at one of its checkpoints, as plain values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from psygnal import SignalGroupDescriptor

from studio.session.checkpoints.checkpoint_files import LayerName, LeftOut, StoredCheckpoint
from studio.session.checkpoints.weight_view import WeightView
from studio.session.equality import same_number
from studio.session.runs.epoch_tables import EpochTable
from studio.session.runs.run_history import RunHistory
from studio.session.train.mistakes_view import SampleView
from studio.session.train.number_errors import WrongNumber


@dataclass(frozen=True)
class Measured:
    """What the journal has of the last evaluation at or before a checkpoint: its ``step`` and ``epoch``, and
    the values by their names, such as ``validation_accuracy``."""

    step: int
    epoch: int
    values: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class GivenSample:
    """What the network is asked about at each checkpoint: the values of its inputs as a person gives them; of
    a test sample its index and the number of its true class, else -1. ``of_predict`` says that it is what the
    page Predict is fed."""

    values: tuple[Any, ...]
    index: int = -1
    label: int = -1
    of_predict: bool = False


@dataclass
class CheckpointsView:
    """``checkpoints`` are those that can be read, oldest first, and ``place`` is that of the one that is
    shown, -1 for none; ``left_out`` are the damaged ones. ``waiting`` counts files still to be checked.

    ``table`` is the confusion matrix of the last evaluation at or before the checkpoint, from the journal,
    and ``hardest`` its hardest samples, or ``worst`` those of numbers; ``computed`` says that they were
    computed now instead, ``measuring`` that they are being computed. ``ranking``, or ``numbers`` with names
    and units, is what the network answers about ``sample`` at the checkpoint of ``answer_step``, computed
    now. ``asks_code`` says that the run's code needs an agreement first, ``why_no_answer`` why nothing is
    computed.
    """

    folder: str = ""
    checkpoints: tuple[StoredCheckpoint, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    waiting: int = 0
    listed: bool = False
    place: int = -1
    layers: tuple[LayerName, ...] = ()
    layer: str = ""
    weights: WeightView | None = None
    why_no_weights: str = ""
    history: RunHistory = field(default_factory=RunHistory)
    classes: tuple[str, ...] = ()
    measured: Measured | None = None
    table: EpochTable | None = None
    hardest: tuple[SampleView, ...] = ()
    worst: tuple[WrongNumber, ...] = ()
    computed: bool = False
    measuring: bool = False
    sample: GivenSample | None = None
    input_form: str = ""
    ranking: tuple[tuple[str, float], ...] = ()
    numbers: tuple[tuple[str, float, str], ...] = ()
    answer_step: int = -1
    seconds: float = math.nan
    asks_code: bool = False
    why_no_answer: str = ""

    events: ClassVar[SignalGroupDescriptor] = SignalGroupDescriptor(
        equality_operators={
            "seconds": same_number,
            **dict.fromkeys(("history", "checkpoints", "hardest", "worst"), lambda one, other: one is other),
        }
    )

    @property
    def current(self) -> StoredCheckpoint | None:
        """The checkpoint that is shown."""
        return self.checkpoints[self.place] if 0 <= self.place < len(self.checkpoints) else None

    @property
    def before(self) -> StoredCheckpoint | None:
        """The one before it."""
        return self.checkpoints[self.place - 1] if 0 < self.place < len(self.checkpoints) else None


def measured_at(history: RunHistory, step: int) -> Measured | None:
    """The last evaluation of a run at or before a step."""
    found = [each for each in history.epochs if each["step"] <= step]
    if not found:
        return None
    last = found[-1]
    values = {name: float(value) for name, value in last.items() if name.startswith("validation_")}
    epoch = last.get("epoch", math.nan)
    return Measured(int(last["step"]), int(epoch) if math.isfinite(epoch) else 0, values)


def table_at(tables: Sequence[EpochTable], step: int) -> EpochTable | None:
    """The last matrix at or before a step. A run that was resumed may have measured an epoch twice."""
    return next((each for each in reversed(tables) if each.step <= step), None)
