"""Training: one TrainingRun under the window, the command line and tests."""

from engine.training.config import TrainingConfig
from engine.training.events import Event, Listener
from engine.training.problem import Problem, describe_problem
from engine.training.result import RunResult
from engine.training.training_run import TrainingRun

__all__ = ["Event", "Listener", "Problem", "RunResult", "TrainingConfig", "TrainingRun", "describe_problem"]
