"""A comparison that was asked for, by a command or in the window: what with what, and how."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.comparison.guarded.guarded_comparison import compare_saved
from engine.comparison.pairs import eager_and_static, passes_off_and_on, two_devices, two_steps
from engine.comparison.result import Comparison
from engine.comparison.run_step import RunStep
from engine.comparison.saved_models import SavedRequest
from engine.comparison.values import ValueStore
from engine.core.errors import ArgumentError
from engine.core.models.local_imports import only_agreed

TWO, EAGER_STATIC, PASSES, ON_DEVICES = "two", "eager-static", "passes", "devices"
PAIRS = (TWO, EAGER_STATIC, PASSES, ON_DEVICES)
DEVICES = ("cpu", "gpu")


@dataclass(frozen=True)
class Subject:
    """A run, with the step of a checkpoint or None for the newest, or a saved model.

    ``agreed`` is the digest of the run's code that may run; None for any.
    """

    path: str
    checkpoint: int | None = None
    agreed: str | None = None

    @property
    def is_run(self) -> bool:
        """Whether it is the folder of a run, not a saved model."""
        return Path(self.path).is_dir()

    @classmethod
    def of(cls, text: str, checkpoint: int | None = None) -> Subject:
        """The subject that ``RUN``, ``RUN@STEP`` or ``PREFIX`` names."""
        path, at, step = text.rpartition("@")
        if at and step.isdecimal() and not Path(text).exists() and Path(path).is_dir():
            return cls(path, int(step))
        return cls(text, checkpoint)


@dataclass(frozen=True)
class Request:
    """``pair`` is one of PAIRS: two subjects, or one computed in two ways.

    ``batch`` is the number of the step whose batch is taken, or of a batch of the data, from 1; 0 takes the
    one after the checkpoint, or the first. ``samples`` is the number of
    samples of a saved model, and the batch size of a run where it is not 0. ``tolerance`` is the largest
    relative difference of values that agree; None takes the usual ones of the dtypes. ``data`` replaces that
    of the run.
    """

    a: Subject
    b: Subject | None = None
    pair: str = TWO
    batch: int = 0
    samples: int = 0
    tolerance: float | None = None
    data: str = ""
    devices: tuple[str, str] = DEVICES

    def carry_out(self, report: Callable[[str], object] = lambda message: None) -> Comparison:
        """Compare; runs the code of the runs.

        Raises:
            ArgumentError: the two can't be compared. Errors of reading, building and running the models.
        """
        if self.b is not None and self.a.is_run is not self.b.is_run:
            run, model = (self.a, self.b) if self.a.is_run else (self.b, self.a)
            raise ArgumentError(
                f"compare: {run.path} is a run and {model.path} a saved model; compare the model with what "
                f"the run exported: model-studio export {run.path} --out PREFIX"
            )
        if not self.a.is_run:
            request = self._saved()
            report("Computing both sides...")
            return compare_saved(request)
        with ValueStore() as store, ExitStack() as until:
            a = self._step(self.a, self.batch, report, until)
            report("Computing both sides...")
            made, damaged = self._of_runs(a, store, report, until), a.damaged
            made.notes += [f"A damaged checkpoint was skipped: {each.partition('; ')[0]}" for each in damaged]
            return made

    def _of_runs(
        self, a: RunStep, store: ValueStore, report: Callable[[str], object], until: ExitStack
    ) -> Comparison:
        if self.pair == PASSES:
            return passes_off_and_on(a, store, self.tolerance)
        if self.pair == ON_DEVICES:
            return two_devices(a, self.devices, store, self.tolerance)
        if self.pair == EAGER_STATIC:
            return eager_and_static(a, store, self.tolerance)
        if self.b is None:
            raise ArgumentError("compare: takes two: got one; give another one, or --eager-static")
        b = self._step(self.b, 0, report, until)  # which takes the batch of A
        b.take_batch(a)
        a.damaged += b.damaged
        report("Computing both sides...")
        return two_steps(a, b, store, self.tolerance)

    def _saved(self) -> SavedRequest:
        """The request for saved models."""
        if self.pair == EAGER_STATIC:
            raise ArgumentError(
                f"compare: {self.a.path} is a saved model, which has no code to run eagerly; give the run"
            )
        return SavedRequest(
            self.a.path,
            self.b.path if self.b is not None and self.pair == TWO else "",
            self.batch,
            self.samples,
            self.tolerance,
            self.data,
            self.devices if self.pair == ON_DEVICES else (),
        )

    def _step(
        self, subject: Subject, batch: int, report: Callable[[str], object], until: ExitStack
    ) -> RunStep:
        report(f"Reading {subject.path}...")
        if subject.agreed is not None:
            until.enter_context(only_agreed(subject.agreed))
        changes: dict[str, Any] = {}
        if self.data:
            changes["data"] = self.data
        if self.samples:
            changes["batch_size"] = self.samples
        return RunStep(Path(subject.path), subject.checkpoint, batch, changes)
