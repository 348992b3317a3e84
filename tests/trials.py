"""How many examples Hypothesis draws."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, settings


def trials(short: int) -> Callable[[Any], Any]:
    """The same ``short`` examples each time; with ``--long`` fifty times as many."""
    count = short * (50 if os.environ.get("MODEL_STUDIO_LONG") else 1)
    health = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture]
    return settings(max_examples=count, derandomize=True, deadline=None, suppress_health_check=health)
