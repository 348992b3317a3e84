"""The callbacks of a run: those that were given, and those that every run has."""

from __future__ import annotations

from engine.hapi.callbacks.base import Callback
from engine.hapi.callbacks.checkpoints import ModelCheckpoint
from engine.hapi.callbacks.learning_rate import LRScheduler
from engine.hapi.callbacks.progress import ProgBarLogger
from engine.hapi.callbacks.stopping import EarlyStopping


def with_defaults(
    given: list[Callback], log_freq: int, verbose: int, save_freq: int, save_dir: str | None
) -> list[Callback]:
    """``given`` with progress (unless ``verbose`` is 0), checkpoints and schedule where they are absent."""
    callbacks = list(given)
    if verbose and not _has(callbacks, ProgBarLogger):
        callbacks.insert(0, ProgBarLogger(log_freq, verbose))
    if not _has(callbacks, ModelCheckpoint):
        callbacks.append(ModelCheckpoint(save_freq, save_dir))
    for callback in callbacks:
        if isinstance(callback, EarlyStopping):
            callback.save_dir = save_dir
    if not _has(callbacks, LRScheduler):
        callbacks.append(LRScheduler())
    return callbacks


def _has(callbacks: list[Callback], kind: type[Callback]) -> bool:
    return any(isinstance(callback, kind) for callback in callbacks)
