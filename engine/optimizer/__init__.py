"""Optimizers and learning rate schedules."""

from engine.optimizer import lr
from engine.optimizer.adam import Adam, AdamW
from engine.optimizer.momentum import Momentum
from engine.optimizer.optimizer import Optimizer
from engine.optimizer.sgd import SGD

__all__ = ["Adam", "AdamW", "Momentum", "Optimizer", "SGD", "lr"]
