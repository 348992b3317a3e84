"""The setting ``recompute``: which parts of a network backward computes again."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, TypeGuard

from engine.core.errors import ArgumentError
from engine.distributed.fleet.utils.recomputing import recompute
from engine.jit.convert.runtime.calls import call
from engine.nn import Layer, LayerDict, LayerList, Sequential

_FEWEST = 4  # layers of a Sequential that are worth being cut into segments
_CONTAINERS = (Sequential, LayerList, LayerDict)


def blocks_of(network: Layer) -> list[Layer]:
    """The layers whose inner values are worth computing again, in the order of the network.

    They consist of other layers and are as large as they can be without being the whole network: where
    layers of one class stand side by side, these are the blocks (those of a ResNet, the layers of an
    encoder), also if they contain others in their turn.
    """
    return list(_below(network))


def recompute_blocks(network: Layer) -> None:
    """Let each block of ``network`` be called through ``recompute``.

    Where there are fewer than two, its longest Sequential is cut into segments of about sqrt(n) of its n
    layers. Raises ArgumentError where it has none of four layers or more: nothing would be gained.
    """
    blocks = blocks_of(network)
    if len(blocks) >= 2:
        for block in blocks:
            block._around = recompute
        return
    flat = [layer for layer in network.sublayers(include_self=True) if _is_chain(layer)]
    longest = max(flat, key=len, default=None)
    if longest is None or len(longest) < _FEWEST:
        raise ArgumentError(
            f"recompute: {type(network).__name__} has {len(blocks)} blocks that could be computed again, two "
            "or more are needed: put layers that belong together into a Layer or a Sequential each, or "
            "switch recompute off"
        )
    longest._around = _Segments(longest)


class _Segments:
    """Calls the layers of a Sequential in segments, each of which backward computes again.

    The last one is not: backward begins with it, and would hold its values at once again.
    """

    def __init__(self, chain: Sequential) -> None:
        layers = list(chain.children())
        size = math.isqrt(len(layers) - 1) + 1
        # Layers of their own, outside of the network, so that its names and files stay.
        self._parts = [Sequential(*layers[at : at + size]) for at in range(0, len(layers), size)]
        self._plain = chain.forward

    def __call__(self, forward: Callable[..., Any], input: Any) -> Any:
        parts = self._parts if forward == self._plain else [call(part) for part in self._parts]
        for part in parts[:-1]:
            input = recompute(part, input)
        return parts[-1](input)


def _is_chain(layer: Layer) -> TypeGuard[Sequential]:
    """Whether ``layer`` calls its layers one after the other."""
    return isinstance(layer, Sequential) and type(layer).forward is Sequential.forward


def _below(layer: Layer) -> Iterator[Layer]:
    inner = [child for child in layer.children() if _is_composite(child)]
    repeats = _repeats(inner)
    for child in inner:
        if _holds_composites(child) if isinstance(child, _CONTAINERS) else not repeats and _contains(child):
            yield from _below(child)
        elif not isinstance(child, (LayerList, LayerDict)):  # which nothing calls
            yield child


def _is_composite(layer: Layer) -> bool:
    return any(True for _ in layer.children())


def _holds_composites(layer: Layer) -> bool:
    return any(map(_is_composite, layer.children()))


def _repeats(layers: list[Layer]) -> bool:
    """Whether two of ``layers`` have one class."""
    found = Counter(type(layer) for layer in layers if not isinstance(layer, _CONTAINERS))
    return any(count > 1 for count in found.values())


def _contains(layer: Layer) -> bool:
    """Whether layers of one class, which consist of others, stand side by side somewhere in ``layer``."""
    inner = [child for child in layer.children() if _is_composite(child)]
    return _repeats(inner) or any(map(_contains, inner))
