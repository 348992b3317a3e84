"""Callbacks of ``Model``: progress, checkpoints, the learning rate, stopping early, logs."""

from engine.hapi.callbacks.base import Callback
from engine.hapi.callbacks.checkpoints import ModelCheckpoint
from engine.hapi.callbacks.learning_rate import LRScheduler, ReduceLROnPlateau
from engine.hapi.callbacks.progress import ProgBarLogger
from engine.hapi.callbacks.recorder import RunRecorder
from engine.hapi.callbacks.stopping import EarlyStopping
from engine.hapi.callbacks.writers import VisualDL, WandbCallback

__all__ = [
    "Callback",
    "EarlyStopping",
    "LRScheduler",
    "ModelCheckpoint",
    "ProgBarLogger",
    "ReduceLROnPlateau",
    "RunRecorder",
    "VisualDL",
    "WandbCallback",
]
