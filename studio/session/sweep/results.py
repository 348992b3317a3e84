"""What trials have reached, read from the journals of their runs, and which is the best."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

from engine.core.errors import DataError
from resources.metrics import rank_of
from studio.session.runs.run_history import read_history
from studio.session.runs.runs_folder import read_run_line
from studio.session.sweep.document import Measurement, Sweep, Trial

LOST = ("failed", "diverged", "invalid")


class NotFiniteError(DataError):
    """A run has no epoch whose metric is a finite number: for a sweep it has diverged."""


def measured(folder: Path, epochs: int, metric: str, goal: str) -> Measurement | None:
    """The best of the first ``epochs`` epochs of the run in ``folder``; None where it has not come so far.

    Raises:
        NotFiniteError: it has, and its metric was never a finite number.
        DataError, FormatError: its journal can't be read.
    """
    rows = [row for row in read_history(folder).epochs if 1 <= row.get("epoch", 0) <= epochs]
    if max((row["epoch"] for row in rows), default=0) < epochs:
        return None
    sound = [row for row in rows if math.isfinite(_value(row, metric))]
    if not sound:
        raise NotFiniteError(f"{folder}: the {metric} of no epoch is a finite number")
    sign = 1 if goal == "max" else -1
    best = max(sound, key=lambda row: rank_of(sign * _value(row, metric), _value(row, "loss")))
    found = {name: float(best.get(f"validation_{name}", math.nan)) for name in _RESULTS}
    values = {name: value if math.isfinite(value) else None for name, value in found.items()}
    return Measurement(epochs=epochs, best=int(best["epoch"]), **values)


_RESULTS = ("accuracy", "loss", "r2", "mae")


def _value(row: dict[str, float], metric: str) -> float:
    if metric == "loss":
        return float(row.get("validation_loss", math.nan))
    # In the journal of a run that predicts numbers, the accuracy is absent or not a number.
    value = float(row.get("validation_accuracy", math.nan))
    return float(row.get("validation_r2", math.nan)) if math.isnan(value) else value


def state_of(folder: Path) -> str:
    """How the run in ``folder`` ended, as the list of runs shows it; empty where there is none.

    A run that an error interrupted has failed: resuming the sweep would only repeat the error.
    """
    run = read_run_line(folder)
    if run is None:
        return ""
    return "failed" if run.failure else run.state


def has_checkpoint(folder: Path) -> bool:
    """Whether the run in ``folder`` can go on from a checkpoint."""
    run = read_run_line(folder)
    return run is not None and bool(run.checkpoint)


def score(sweep: Sweep, result: Measurement) -> float:
    """The metric, turned so that less is better."""
    value = result.figure(sweep.metric)
    if value is None:
        return math.inf
    return -value if sweep.goal == "max" else value


def ranked(sweep: Sweep, trials: Iterable[Trial]) -> list[Trial]:
    """Trials, the best first: those that came furthest, among them by the metric; then those without one."""

    def key(trial: Trial) -> tuple[int, float, int]:
        if not trial.measured or trial.state in LOST:
            return 1, 0.0, trial.number
        last = trial.measured[-1]
        return -last.epochs, score(sweep, last), trial.number

    return sorted(trials, key=key)


def best_trial(sweep: Sweep) -> Trial | None:
    """The best trial; None where none has a result."""
    first = next(iter(ranked(sweep, sweep.trials)), None)
    return first if first is not None and first.measured and first.state not in LOST else None
