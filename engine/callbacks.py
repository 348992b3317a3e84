"""Paddle's ``callbacks``: what ``Model.fit``, ``evaluate`` and ``predict`` call as they run."""

from engine.hapi.callbacks import (
    Callback,
    EarlyStopping,
    LRScheduler,
    ModelCheckpoint,
    ProgBarLogger,
    ReduceLROnPlateau,
    RunRecorder,
    VisualDL,
    WandbCallback,
)

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
