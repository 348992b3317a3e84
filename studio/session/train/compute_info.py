"""What computed a training: its threads, its library of products, and since when compiled kernels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

_LONGEST = 200  # characters of a text in an untrusted journal


@dataclass(frozen=True)
class ComputeInfo:
    """From the journal; ``threads`` and ``blas`` are empty where it does not.

    ``since`` is the last step on NumPy's kernels alone, -1 where no compiled ones were used; ``missing`` says
    why they could not be compiled.
    """

    threads: str = ""
    blas: str = ""
    since: int = -1
    missing: str = ""


def computing_of(events: Iterable[Mapping[str, Any]]) -> ComputeInfo:
    """What the events of a run tell, the newest of each kind."""
    found = ComputeInfo()
    for event in events:
        found = after(found, event)
    return found


def after(known: ComputeInfo, event: Mapping[str, Any]) -> ComputeInfo:
    """The information after one more event; a resumed run reports its kernels again."""
    kind = event.get("event")
    if kind == "started":
        environment = event.get("environment")
        environment = environment if isinstance(environment, Mapping) else {}
        return ComputeInfo(_text(environment.get("threads")), _text(environment.get("blas")))
    if kind == "kernels":
        since, missing = event.get("since"), _text(event.get("missing"))
        if missing:
            return ComputeInfo(known.threads, known.blas, known.since, missing)
        sound = isinstance(since, int) and not isinstance(since, bool) and since >= 0
        return ComputeInfo(known.threads, known.blas, since) if sound and isinstance(since, int) else known
    return known


def _text(value: object) -> str:
    return value[:_LONGEST] if isinstance(value, str) else ""
