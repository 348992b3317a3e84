"""LayersViewModel: what the looks at the layers of a run saw, as rows for a table, and the alerts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from psygnal import Signal

from resources.training_events import NO_EFFECT
from studio.session.runs.thinned import thinned

MOST_BINS = 4096
MOST_LOOKS, MOST_ALERTS = 200, 1000  # that are kept; the journal has all
_BAD = (KeyError, TypeError, ValueError, OverflowError)


@dataclass(frozen=True)
class Spread:
    """A histogram: counts in equal bins from low to high, and how many values were not finite."""

    low: float = math.nan
    high: float = math.nan
    counts: tuple[int, ...] = ()
    bad: int = 0


@dataclass(frozen=True)
class LayerRow:
    """A layer at one look: of its largest parameter the norms, the ratio of the update to the weights and the
    histograms; the share of its units that are dead (NaN without a ReLU)."""

    name: str
    size: int = 0
    ratio: float = math.nan
    gradient_norm: float = math.nan
    dead: float = math.nan
    weights: Spread = field(default_factory=Spread)
    gradients: Spread = field(default_factory=Spread)


@dataclass(frozen=True)
class LayerSnapshot:
    """What was seen of all layers at a step."""

    step: int
    epoch: int
    rows: tuple[LayerRow, ...]

    @cached_property
    def ratios(self) -> dict[str, float]:
        """The ratio of update to weights of each layer."""
        return {row.name: row.ratio for row in self.rows}


@dataclass(frozen=True)
class Alert:
    """A layer that does not train as it should; a ``hint`` is about what is superfluous."""

    step: int
    layer: str
    message: str
    hint: bool = False


class LayersViewModel:
    """The looks and alerts of the run that is shown; ``changed`` emits each change."""

    changed = Signal()

    def __init__(self) -> None:
        self.looks: list[LayerSnapshot] = []
        self.alerts: list[Alert] = []

    def show(self, events: Iterable[Mapping[str, Any]]) -> None:
        """Show another run: its events ``layers`` and ``layer_alert``. What is damaged is left out."""
        self.looks, self.alerts = [], []
        for event in events:
            self._add(event)
        self.changed.emit()

    def take(self, event: Mapping[str, Any]) -> None:
        """One more event."""
        self._add(event)
        self.changed.emit()

    def _add(self, event: Mapping[str, Any]) -> None:
        try:
            if event.get("event") == "layer_alert":
                hint = event.get("kind") == NO_EFFECT
                alert = Alert(int(event["step"]), str(event["layer"]), str(event["message"]), hint)
                self._forget_after(alert.step)
                self.alerts = [*self.alerts[1 - MOST_ALERTS :], alert]
            else:
                look = look_of(event)
                self._forget_after(look.step - 1)
                self.looks = thinned([*self.looks, look], MOST_LOOKS)
        except _BAD:
            return  # an untrusted journal

    def _forget_after(self, step: int) -> None:
        """A run that went on from a checkpoint comes to the same steps again."""
        self.looks = [look for look in self.looks if look.step <= step]
        self.alerts = [alert for alert in self.alerts if alert.step <= step]

    def history(self, layer: str) -> list[float]:
        """The ratio of update to weights of a layer at all looks, NaN where it was not there."""
        return [look.ratios.get(layer, math.nan) for look in self.looks]


def look_of(event: Mapping[str, Any]) -> LayerSnapshot:
    """A look from its event. Raises KeyError, TypeError, ValueError or OverflowError for a damaged one."""
    layers: dict[str, list[Mapping[str, Any]]] = {}
    for state in event["parameters"]:
        layers.setdefault(_layer_of(str(state["name"])), []).append(state)
    dead: dict[str, float] = {}
    for units in event["units"]:
        name = str(units["name"]).partition(" #")[0]
        share = int(units["dead"]) / max(int(units["units"]), 1)
        dead[name] = max(share, dead.get(name, 0.0))
        layers.setdefault(name, [])
    rows = tuple(_row(name, states, dead.get(name, math.nan)) for name, states in layers.items())
    return LayerSnapshot(int(event["step"]), int(event["epoch"]), rows)


def _layer_of(parameter: str) -> str:
    return parameter.rpartition(".")[0] or parameter


def _row(name: str, states: Sequence[Mapping[str, Any]], dead: float) -> LayerRow:
    if not states:
        return LayerRow(name, dead=dead)
    main = max(states, key=lambda state: int(state["size"]))
    return LayerRow(
        name,
        sum(int(state["size"]) for state in states),
        float(main["ratio"]),
        float(main["gradient_norm"]),
        dead,
        _spread(main["weights"]),
        _spread(main["gradients"]),
    )


def _spread(plain: Mapping[str, Any]) -> Spread:
    counts = tuple(int(count) for count in plain["counts"][:MOST_BINS])
    if any(count < 0 for count in counts):
        raise ValueError("a count is negative")
    return Spread(float(plain["low"]), float(plain["high"]), counts, int(plain["bad"]))
