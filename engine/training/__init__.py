"""Training: one TrainingRun under the window, the command line and tests."""

from typing import TYPE_CHECKING

from engine.core.lazy import lazy
from engine.training.config import TrainingConfig
from engine.training.events import Event, Listener
from engine.training.problem import Problem, describe_problem
from engine.training.result import RunResult

if TYPE_CHECKING:
    from engine.training.training_run import TrainingRun

# A process that checks an export, or reads a run, starts in two thirds of the time without what trains.
__getattr__ = lazy(__name__, members={"engine.training.training_run": ("TrainingRun",)})

__all__ = ["Event", "Listener", "Problem", "RunResult", "TrainingConfig", "TrainingRun", "describe_problem"]
