"""Alerts that name layer and step: gradients that vanish or explode, odd sizes of updates, dead units."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from engine.training.events import now
from engine.training.layer_watch import LayerReading
from resources.training_events import LayerAlert, ParameterState, UnitState

VANISHED = 1e-6  # the share of the largest gradient of a network, each per number, below which one vanishes
EXPLODED = 1e3  # the norm of a gradient in norms of its weights
SMALLEST_RATIO, LARGEST_RATIO = 1e-4, 1e-1
LONG = 3  # looks in a row
LOWERED = 0.5
DEAD_SHARE = 0.5


class _Finding(NamedTuple):
    layer: str
    kind: str
    value: float
    looks: int  # in a row before the alert
    words: str


class LayerAlerts:
    """Checks one reading after the other; reports each finding once until it has disappeared."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str], int] = {}

    def judge(
        self, reading: LayerReading, step: int, epoch: int, rate_share: float = 1.0
    ) -> list[LayerAlert]:
        """The alerts that this look gives rise to.

        Updates are small on purpose where a schedule has lowered the learning rate to ``rate_share`` of the
        run's setting: those that would not be small at the whole rate give no alert, and none do at half of
        it or less, where layers have often learned what they can: a setting that is too small shows before.
        """
        least = SMALLEST_RATIO * min(rate_share, 1.0) if rate_share > LOWERED else 0.0
        found = {
            (each.layer, each.kind): each
            for each in _findings(reading)
            if not (each.kind == "ratio_low" and each.value >= least)
        }
        self._counts = {key: self._counts.get(key, 0) + 1 for key in found}
        return [
            LayerAlert(
                event="layer_alert",
                time=now(),
                step=step,
                epoch=epoch,
                layer=each.layer,
                kind=each.kind,
                value=each.value,
                message=f"{each.layer}, step {step}: {each.words}",
            )
            for key, each in found.items()
            if self._counts[key] == each.looks
        ]


def _findings(reading: LayerReading) -> Iterator[_Finding]:
    sizes = [_per_number(state) for state in reading.parameters]
    largest = max((size for size in sizes if size == size), default=0.0)
    for state, size in zip(reading.parameters, sizes, strict=True):
        yield from _of_parameter(state, size, largest)
    for units in reading.units:
        yield from _of_units(units)


def _per_number(state: ParameterState) -> float:
    return float(state["gradient_norm"] / max(state["size"], 1) ** 0.5)


def _of_parameter(state: ParameterState, size: float, largest: float) -> Iterator[_Finding]:
    name = state["name"]
    for what, values in (("weights", state["weights"]), ("gradient", state["gradients"])):
        if values["bad"]:
            yield _Finding(
                name,
                f"nan_{what}",
                float(values["bad"]),
                1,
                f"the {what} hold numbers that are not finite: {values['bad']} of {state['size']}; "
                "start again with a smaller learning rate",
            )
            return
    gradient, ratio = state["gradient_norm"], state["ratio"]
    if size < VANISHED * largest:
        yield _Finding(
            name,
            "vanishing",
            gradient,
            2,
            f"its gradient vanishes: norm {gradient:.3g}, per number {size / largest if largest else 0:.1g} "
            "of the largest in the network; look for a saturated or detached layer behind it",
        )
    if gradient > EXPLODED * max(state["norm"], 1.0):
        yield _Finding(
            name,
            "exploding",
            gradient,
            1,
            f"its gradient explodes: norm {gradient:.3g} for weights of norm {state['norm']:.3g}; "
            "set a clip norm, or a smaller learning rate",
        )
    if state["matrix"] and not SMALLEST_RATIO <= ratio <= LARGEST_RATIO and ratio == ratio:
        large = ratio > LARGEST_RATIO
        do = f"try a {'smaller' if large else 'larger'} learning rate"
        yield _Finding(
            name,
            "ratio_high" if large else "ratio_low",
            ratio,
            LONG,
            f"an update changes its weights by {ratio:.2g} of their size, {LONG} looks in a row: "
            f"usual are {SMALLEST_RATIO:g} to {LARGEST_RATIO:g}; {do}",
        )


def _of_units(state: UnitState) -> Iterator[_Finding]:
    share = state["dead"] / max(state["units"], 1)
    if share > DEAD_SHARE:
        yield _Finding(
            state["name"],
            "dead",
            share,
            1,
            f"{state['dead']} of {state['units']} units of its {state['operator']} are zero for every "
            "image of the batch; try a smaller learning rate or another initializer",
        )
