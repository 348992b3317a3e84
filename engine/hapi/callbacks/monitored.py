"""What callbacks share that watch one value of the logs."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from engine.hapi.callbacks.base import Logs


def direction(where: str, monitor: str, mode: str) -> str:
    """``min`` or ``max``: whether a smaller or a larger value of ``monitor`` is better.

    ``auto`` goes by the name: an accuracy is to grow. Any other mode is warned about and taken as ``auto``.
    """
    if mode not in ("auto", "min", "max"):
        warnings.warn(f"{where} mode {mode} is unknown, fallback to auto mode.", stacklevel=4)
        mode = "auto"
    if mode == "auto":
        return "max" if "acc" in monitor else "min"
    return mode


def monitored(where: str, monitor: str, logs: Logs | None) -> Any:
    """The watched value; None, with a warning, where the logs have none."""
    if logs is None or monitor not in logs:
        warnings.warn(f"Monitor of {where} should be loss or metric name.", stacklevel=4)
        return None
    value = logs[monitor]
    return value[0] if isinstance(value, (list, tuple)) else value


def beats(
    way: str,
    value: float | np.number[Any] | np.ndarray[Any, Any],
    best: float | np.number[Any] | np.ndarray[Any, Any],
    min_delta: float,
) -> bool:
    """Whether ``value`` is better than ``best`` by more than ``min_delta``."""
    return bool(np.less(value, best - min_delta) if way == "min" else np.greater(value, best + min_delta))
