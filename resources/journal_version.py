"""The version of a run's journal: read without the engine and NumPy, which lists of runs do not need."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

JOURNAL_VERSION = 1
"""The version of a journal's events: later ones are in the field ``version`` of ``started``."""


def newer_journal_version(event: Mapping[str, Any]) -> int | None:
    """The version in the start of a run that a newer program recorded; None for every other event."""
    version = event.get("version") if event.get("event") == "started" else None
    return version if isinstance(version, int) and version > JOURNAL_VERSION else None
