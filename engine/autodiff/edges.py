"""Edges of the tape: where an edge points, and the shape of its gradient."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from engine.core.operators.operator import Leaf, Operator, OutEdge

# An operator with one output represents its output itself.
Edge = Operator | OutEdge | Leaf
Place = tuple[Operator | Leaf, int]  # an operator's output by its position, or a leaf


def end(edge: Edge) -> tuple[Any, int]:
    """The operator (or leaf) and the position of the output that an edge points at."""
    if isinstance(edge, OutEdge):
        return edge.node, edge.index
    return edge, 0


def shape_of(edge: Edge) -> tuple[int, ...]:
    """The shape of the value of an edge."""
    if isinstance(edge, Leaf):
        return edge.shape
    node, index = end(edge)
    found: tuple[int, ...] = node.shapes if node.opdef.single else node.shapes[index]
    return found


def each_of(edges: Iterable[Any] | None) -> Iterator[Edge]:
    """The edges of an operator in order, those of list inputs one by one; none if its graph was freed."""
    for edge in edges or ():
        if edge.__class__ is list:
            yield from (each for each in edge if each is not None)
        elif edge is not None:
            yield edge
