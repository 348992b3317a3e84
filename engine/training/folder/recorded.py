"""Facts from the journal of a run on disk: whether it began, its best epoch, changes of its learning rate,
the first step with compiled kernels."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from engine.core.errors import FormatError
from engine.files.atomic import saving
from engine.files.journal import JournalEvent, parse_event, require_known
from engine.training.rules.rate import Change, changes_after
from resources.json_documents import DocumentError, parse
from resources.regular_files import open_regular
from resources.training_events import Baseline

_BEFORE_STEPS = ("started", "baseline", "checkpoint_failed", "space_low", "failed")


def has_record(journal: Path) -> bool:
    """Whether the journal holds more than the words of a run that was stopped before its first step."""
    if not os.path.exists(journal):
        return False
    with open_regular(journal) as file:
        for line in file:
            if not line.endswith(b"\n"):
                return not line.startswith(b"{")  # an event that was cut off; else another file
            try:
                event = parse(line)
            except DocumentError:
                return True
            if not isinstance(event, dict) or str(event.get("event")) not in _BEFORE_STEPS:
                return True
    return False


def recorded_best_step(journal: Path) -> int | None:
    """The step of the best epoch that the journal names; None where it names none."""
    found = None
    with suppress(OSError), open_regular(journal) as file:
        for line in file:
            with suppress(DocumentError):
                event = parse(line)
                if isinstance(event, dict) and event.get("event") == "epoch" and event.get("best") is True:
                    found = event.get("step")
    return found if isinstance(found, int) else None


def recorded_baseline(journal: Path) -> Baseline | None:
    """What simple models reach, as the journal records it; None where it does not, or not soundly.

    Raises:
        SaveError: the journal can't be read.
    """
    for event in _events(journal):
        plain: dict[str, Any] = dict(event)
        if plain.get("event") == "baseline" and isinstance(plain.get("split"), str) and "step" in plain:
            figures = [plain[name] for name in ("constant", "linear") if name in plain]
            if "constant" in plain and all(_are_figures(each) for each in figures):
                return cast("Baseline", plain)
    return None


def _are_figures(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() in ({"accuracy"}, {"r2", "mae"})
        and all(isinstance(each, float | int) for each in value.values())
    )


def rate_changes(journal: Path, step: int) -> list[Change]:
    """The changes of the learning rate that the journal records at ``step`` or later.

    Raises:
        SaveError: the journal can't be read.
    """
    return changes_after(_events(journal), step)


def kernels_taken(journal: Path, step: int) -> int | None:
    """The step, ``step`` or a later one, at which the journal records the first compiled kernels.

    Raises:
        SaveError: the journal can't be read.
    """
    for event in _events(journal):
        since = event.get("since")
        if event.get("event") == "kernels" and isinstance(since, int) and since >= step:
            return since
    return None


def require_known_events(journal: Path) -> None:
    """Raises NewerVersionError for the journal of a newer version, SaveError where it can't be read."""
    for event in _events(journal):
        require_known(event, journal)


def _events(journal: Path) -> list[JournalEvent]:
    """The events of a journal, as far as they can be read; none where there is no journal."""
    if not os.path.exists(journal):
        return []
    events = []
    with saving(journal), open_regular(journal) as file:
        lines = file.read().splitlines()
    for line in lines:
        with suppress(FormatError):
            events.append(parse_event(line))
    return events
