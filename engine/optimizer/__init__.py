"""Optimizers and learning rate schedules."""

from typing import TYPE_CHECKING

from engine.core.lazy import lazy
from engine.optimizer import lr
from engine.optimizer.adadelta import Adadelta
from engine.optimizer.adagrad import Adagrad
from engine.optimizer.adam import Adam, AdamW
from engine.optimizer.adamax import Adamax
from engine.optimizer.lamb import Lamb
from engine.optimizer.momentum import Momentum
from engine.optimizer.optimizer import Optimizer
from engine.optimizer.rmsprop import RMSProp
from engine.optimizer.sgd import SGD

if TYPE_CHECKING:
    from engine.optimizer.lbfgs import LBFGS

__getattr__ = lazy(__name__, members={"engine.optimizer.lbfgs": ("LBFGS",)})

__all__ = [
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "LBFGS",
    "Lamb",
    "Momentum",
    "Optimizer",
    "RMSProp",
    "SGD",
    "lr",
]
