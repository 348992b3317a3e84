"""The x coordinates of the nodes in the layers of a layout, by isotonic regression."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise


def isotonic(wanted: Sequence[float], weights: Sequence[float]) -> list[float]:
    """The non-decreasing numbers nearest to ``wanted`` in the weighted sum of squares (pool adjacent
    violators)."""
    means: list[float] = []
    sums: list[float] = []
    counts: list[int] = []
    for value, weight in zip(wanted, weights, strict=True):
        count = 1
        while means and means[-1] > value:
            before = sums.pop()
            value = (means.pop() * before + value * weight) / (before + weight)
            weight += before
            count += counts.pop()
        means.append(value)
        sums.append(weight)
        counts.append(count)
    return [mean for mean, count in zip(means, counts, strict=True) for _ in range(count)]


def placed(wanted: Sequence[float], weights: Sequence[float], gaps: Sequence[float]) -> list[float]:
    """The places nearest to ``wanted`` where each is at least the gap after it away from the next."""
    offset, offsets = 0.0, [0.0]
    for gap in gaps:
        offset += gap
        offsets.append(offset)
    moved = [x - o for x, o in zip(wanted, offsets, strict=True)]
    return [x + o for x, o in zip(isotonic(moved, weights), offsets, strict=True)]


Neighbours = Sequence[Sequence[tuple[int, float, float]]]
"""Of each node: the other nodes, how far left of them it would be straight below or above, and how much a
straight line matters."""


def coordinates(
    layers: Sequence[Sequence[int]],
    widths: Sequence[float],
    gap: Callable[[int, int], float],
    above: Neighbours,
    below: Neighbours,
    turns: int,
    stop: Callable[[], bool],
) -> list[float]:
    """The x of the centre of each node: as near to its neighbours as the order in its layer allows."""
    x = [0.0] * len(widths)
    gaps: list[list[float]] = []
    for layer in layers:
        between = [(widths[a] + widths[b]) / 2 + gap(a, b) for a, b in pairwise(layer)]
        gaps.append(between)
        at = -sum(between) / 2
        for node, step in zip(layer, [*between, 0.0], strict=True):
            x[node] = at
            at += step

    def settle(number: int, neighbours: Neighbours) -> None:
        layer = layers[number]
        wanted, weights = [], []
        for node in layer:
            total = weight = 0.0
            for other, shift, matters in neighbours[node]:
                total += (x[other] + shift) * matters
                weight += matters
            wanted.append(total / weight if weight else x[node])
            weights.append(weight or 0.01)
        for node, found in zip(layer, placed(wanted, weights, gaps[number]), strict=True):
            x[node] = found

    for turn in range(turns):
        if turn and stop():
            break
        for number in range(1, len(layers)):
            settle(number, above)
        for number in range(len(layers) - 2, -1, -1):
            settle(number, below)
    return x
