"""MeasuredStep: what a step of a training cost, operator by operator, as plain values."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from resources.operator_keys import PHASES, OperatorKey
from studio.session.train.layers_view import LayerSnapshot, look_of


@dataclass(frozen=True)
class OperatorCost:
    """One operator, or ``fused`` ones that a kernel computes together, in one step; see
    :class:`engine.profiler.costs.Cost`."""

    phase: str
    layer: str
    name: str
    parts: tuple[OperatorKey, ...]
    planned: tuple[OperatorKey, ...]
    fused: int
    line: int
    calls: float
    seconds: float
    bytes: float
    gflops: float | None

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> OperatorCost:
        """From plain values. Raises KeyError, TypeError or ValueError for others."""
        if plain["phase"] not in PHASES:
            raise ValueError(f"phase: {plain['phase']!r}")
        return cls(
            plain["phase"],
            str(plain["layer"]),
            str(plain["name"]),
            _keys(plain["parts"]),
            _keys(plain["planned"]),
            int(plain["fused"]),
            int(plain["line"]),
            float(plain["calls"]),
            float(plain["seconds"]),
            float(plain["bytes"]),
            None if plain["gflops"] is None else float(plain["gflops"]),
        )


@dataclass(frozen=True)
class MeasuredStep:
    """A step that took ``seconds`` while it was recorded and ``unrecorded`` otherwise; ``peak`` are the
    GFLOP/s of a large product. ``source`` is the digest of the model's text, ``look`` what the step did to
    the layers."""

    costs: tuple[OperatorCost, ...]
    seconds: float
    unrecorded: float
    batch: int
    static: bool
    device: str
    threads: int
    peak: float
    source: str
    look: LayerSnapshot | None

    @classmethod
    def of(cls, event: Mapping[str, Any]) -> MeasuredStep:
        """From the event ``step_measured``."""
        return cls(
            tuple(OperatorCost.of(each) for each in event["costs"]),
            event["seconds"],
            event["unrecorded"],
            event["batch_size"],
            event["static"],
            event["device"],
            event["threads"],
            event["peak"],
            event["source"],
            look_of(event["look"]) if event["look"] else None,
        )


def _keys(plain: Iterable[Sequence[Any]]) -> tuple[OperatorKey, ...]:
    return tuple(OperatorKey(str(a), str(b), str(c), int(d)) for a, b, c, d in plain)


def digest_of(source: str) -> str:
    """The digest of a model's text."""
    return hashlib.sha256(source.encode(errors="replace")).hexdigest()
