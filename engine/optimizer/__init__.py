"""Optimizers and learning rate schedules."""

from engine.optimizer import lr
from engine.optimizer.adadelta import Adadelta
from engine.optimizer.adagrad import Adagrad
from engine.optimizer.adam import Adam, AdamW
from engine.optimizer.adamax import Adamax
from engine.optimizer.lamb import Lamb
from engine.optimizer.lbfgs import LBFGS
from engine.optimizer.momentum import Momentum
from engine.optimizer.optimizer import Optimizer
from engine.optimizer.rmsprop import RMSProp
from engine.optimizer.sgd import SGD

__all__ = [
    "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "LBFGS", "Lamb", "Momentum", "Optimizer", "RMSProp",
    "SGD", "lr",
]  # fmt: skip
