"""Which errors interrupt a training that can be resumed once their reason is gone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_ERRORS = ("ShorterError", "KilledWorkerError")


def is_interruption(event: Mapping[str, Any]) -> bool:
    """Whether a ``failed`` event is of a run that can be resumed: its data became shorter, or a
    signal killed one of its processes."""
    return event.get("error") in _ERRORS and bool(event.get("checkpoint"))
