"""Which layers cost accuracy: each quantized alone, and the worst left in float until a target is met."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from engine.core.errors import ArgumentError

Measure: TypeAlias = Callable[[frozenset[str]], float]
"""The accuracy, 0 to 1, of the model in which these layers, and no others, are quantized."""

Progress: TypeAlias = Callable[[str, int, int], None]
"""Receives the name of a layer, how many were measured before it, and how many there are."""


@dataclass(frozen=True)
class FloatLayers:
    """Layers that stay in float so that a target is met, the worst first, and the points lost with the
    others quantized."""

    layers: tuple[str, ...]
    drop: float


def drops_alone(
    layers: Sequence[str],
    accuracy: float,
    measure: Measure,
    progress: Progress = lambda layer, done, total: None,
) -> dict[str, float]:
    """Points of accuracy (0 to 100) that are lost with each of ``layers`` quantized alone, by its name.

    ``accuracy`` is that of the float model, on what ``measure`` measures. Below 0 where accuracy rises.
    """
    found = {}
    for done, layer in enumerate(layers):
        progress(layer, done, len(layers))
        found[layer] = _points(accuracy, measure(frozenset((layer,))))
    return found


def worst_first(drops: Mapping[str, float], noise: Mapping[str, float]) -> list[str]:
    """The layers by their drops; those that lose the same by their noise, then in their order."""
    return sorted(drops, key=lambda layer: (-drops[layer], -noise.get(layer, 0.0)))


def keep_in_float(
    worst: Sequence[str],
    accuracy: float,
    target: float,
    measure: Measure,
    progress: Progress = lambda layer, done, total: None,
) -> FloatLayers:
    """Keep layers in float, from the first of ``worst`` on, until at most ``target`` points are lost.

    Args:
        worst: all layers that would be quantized, the one that costs most first.
        accuracy: that of the float model, on what ``measure`` measures.

    Raises:
        ArgumentError: the target is not met before all layers are in float; says how near it comes.
    """
    least, most = 101.0, 0
    for count in range(len(worst)):
        if count:
            progress(worst[count - 1], count - 1, len(worst))
        drop = _points(accuracy, measure(frozenset(worst[count:])))
        if drop <= target:
            return FloatLayers(tuple(worst[:count]), drop)
        if drop < least:
            least, most = drop, count
    raise ArgumentError(
        f"quantize: the target of {target:g} points is not met: at least {least:.2f} are lost, with {most} "
        f"of {len(worst)} layers in float; give a larger --target-drop, more bits or --qat"
    )


def require_target(target: float) -> None:
    """Raise ArgumentError unless ``target`` is a number of points that can be lost."""
    if not 0 <= target <= 100:
        raise ArgumentError(
            f"quantize: --target-drop must be 0 to 100 points of accuracy: got {target:g}; give e.g. 0.5"
        )


def _points(before: float, after: float) -> float:
    # Shares of a count of samples: without rounding, layers that lose the same would seem different.
    return round(100 * (before - after), 9)
