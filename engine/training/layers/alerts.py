"""Alerts that name layer and step: gradients that vanish or explode, odd sizes of updates, dead units.

Biases whose gradient is zero by nature give no alert: a norm subtracts what the bias adds, or the softmax
over keys does. They are known by their layer's weights, whose gradient is sound. One hint, of the kind
``NO_EFFECT``, names those that can be omitted: not those of norms, which a further norm cancels, nor what a
layer always has.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from engine.training.events import now
from engine.training.layers.watch import LayerReading
from resources.training_events import NO_EFFECT, LayerAlert, ParameterState, UnitState

VANISHED = 1e-6  # the share of the largest gradient of a network, each per number, below which one vanishes
EXPLODED = 1e3  # the norm of a gradient in norms of its weights
SMALLEST_RATIO, LARGEST_RATIO = 1e-4, 1e-1
CANCELLED = 1e-4  # the share of its weights' gradient, per number, below which a bias's is rounding only
MOST_NAMED = 3
LONG = 3  # looks in a row
LOWERED = 0.5
DEAD_SHARE = 0.75  # without a bias about half of the units are zero for samples that are much alike


class _Finding(NamedTuple):
    layer: str
    kind: str
    value: float
    looks: int  # in a row before the alert
    words: str
    title: str = ""  # of the message, where it is not the layer


class LayerAlerts:
    """Checks one reading after the other; reports each finding once until it has disappeared."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str], int] = {}
        self._hinted = False

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
        lasting = [each for key, each in found.items() if self._counts[key] == each.looks]
        alerts = []
        for each in self._with_one_hint(lasting):
            file, line = place_of(each.layer, reading.places)
            name = each.title or each.layer
            where = f"{name} ({Path(file).name}:{line})" if file and not each.title else name
            alerts.append(
                LayerAlert(
                    event="layer_alert",
                    time=now(),
                    step=step,
                    epoch=epoch,
                    layer=each.layer,
                    kind=each.kind,
                    value=each.value,
                    message=f"{where}, step {step}: {each.words}",
                    file=file,
                    line=line,
                )
            )
        return alerts

    def _with_one_hint(self, findings: list[_Finding]) -> list[_Finding]:
        """The findings, where all biases without effect share one hint, the only one of a training."""
        biases = [each.layer for each in findings if each.kind == NO_EFFECT]
        others = [each for each in findings if each.kind != NO_EFFECT]
        if not biases or self._hinted:
            return others
        self._hinted = True
        named = ", ".join(biases[:MOST_NAMED])
        more = f" and {len(biases) - MOST_NAMED} more" if len(biases) > MOST_NAMED else ""
        words = (
            "no effect on the output: the norm or softmax that follows subtracts a constant; "
            "bias_attr=False omits such a bias"
        )
        hint = _Finding(biases[0], NO_EFFECT, float(len(biases)), 1, words, named + more)
        return [*others, hint]


def place_of(layer: str, places: Mapping[str, tuple[str, int]]) -> tuple[str, int]:
    """The user's file and line that calls a layer, given by its name or that of a parameter; "" and 0 where
    that is not known."""
    name = layer.partition(" #")[0]
    while name:
        if name in places:
            return places[name]
        name = name.rpartition(".")[0]
    return "", 0


def _findings(reading: LayerReading) -> Iterator[_Finding]:
    sizes = {state["name"]: _per_number(state) for state in reading.parameters}
    largest = max((size for size in sizes.values() if size == size), default=0.0)
    matrices = {state["name"] for state in reading.parameters if state["matrix"]}
    for state in reading.parameters:
        name = state["name"]
        weights = _weights_of(name, reading) if sizes[name] < VANISHED * largest else ""
        if _is_cancelled(sizes[name], sizes.get(weights, math.nan), largest):
            if weights in matrices and name not in reading.unavoidable:
                yield _Finding(name, NO_EFFECT, state["gradient_norm"], 2, "")
        else:
            yield from _of_parameter(state, sizes[name], largest)
    for name in reading.detached:
        yield _Finding(
            name,
            "detached",
            0.0,
            LONG,
            f"no gradient arrives, {LONG} looks in a row, though the output depends on it: look for "
            "detach(), no_grad() or stop_gradient behind it; set stop_gradient=True where it is not to train",
        )
    for units in reading.units:
        yield from _of_units(units)


def _is_cancelled(bias: float, weights: float, largest: float) -> bool:
    """Whether the gradient of a bias is zero up to rounding while that of the same layer's weights is sound:
    what arrives at the layer is not small, and cancels in the sum over samples and positions."""
    return weights >= VANISHED * largest and bias <= CANCELLED * weights


def _weights_of(name: str, reading: LayerReading) -> str:
    """The weights that belong to a bias: of the same name, else the only matrix of its layer; "" for none."""
    layer, _, own = name.rpartition(".")
    states = [state for state in reading.parameters if state["name"].rpartition(".")[0] == layer]
    named = f"{layer}.{own.replace('bias', 'weight')}".lstrip(".")
    if "bias" in own and any(state["name"] == named for state in states):
        return named
    matrices = [state["name"] for state in states if state["matrix"]]
    return matrices[0] if len(matrices) == 1 and name != matrices[0] else ""


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
            2,
            f"{state['dead']} of {state['units']} units of its {state['operator']} are zero for every "
            "image of the batch; try a smaller learning rate or another initializer",
        )
