"""Scene: where the boxes and edges of a graph are, as arrays. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

KINDS = ("operator", "layer", "loop", "branch", "line", "prefix", "more", "value")
PHASES = ("forward", "backward", "update")
OPERATOR, LAYER, LOOP, BRANCH, LINE, PREFIX, MORE, VALUE = range(len(KINDS))
# Kinds that open and close in place.
GROUPS = (LAYER, LOOP, BRANCH, LINE, PREFIX)


class Scene(Protocol):
    """What a diagram draws; lengths are pixels at zoom 1.

    ``ids`` has the node of each of n boxes, a frame before the boxes within it. ``boxes`` has x, y, width
    and height of each; ``kinds`` and ``phases`` positions in ``KINDS`` and ``PHASES``. An ``opened`` box is a
    frame around its children. ``notes`` are second lines, which may be empty. The k edges are lines through
    ``edge_points[edge_starts[i]:edge_starts[i + 1]]``; ``edge_ends`` has the rows of the boxes they join.
    """

    @property
    def width(self) -> float: ...
    @property
    def height(self) -> float: ...
    @property
    def ids(self) -> NDArray[np.int32]: ...
    @property
    def boxes(self) -> NDArray[np.float32]: ...
    @property
    def kinds(self) -> NDArray[np.int8]: ...
    @property
    def phases(self) -> NDArray[np.int8]: ...
    @property
    def opened(self) -> NDArray[np.bool_]: ...
    @property
    def titles(self) -> Sequence[str]: ...
    @property
    def notes(self) -> Sequence[str]: ...
    @property
    def edge_points(self) -> NDArray[np.float32]: ...
    @property
    def edge_starts(self) -> NDArray[np.int32]: ...
    @property
    def edge_ends(self) -> NDArray[np.int32]: ...
    @property
    def edge_texts(self) -> Sequence[str]: ...


@dataclass(frozen=True, eq=False)
class PlainScene:
    """A Scene of given arrays."""

    width: float
    height: float
    ids: NDArray[np.int32]
    boxes: NDArray[np.float32]
    kinds: NDArray[np.int8]
    phases: NDArray[np.int8]
    opened: NDArray[np.bool_]
    titles: Sequence[str]
    notes: Sequence[str]
    edge_points: NDArray[np.float32]
    edge_starts: NDArray[np.int32]
    edge_ends: NDArray[np.int32]
    edge_texts: Sequence[str]


def empty_scene() -> PlainScene:
    """A Scene without boxes."""
    return PlainScene(
        width=0.0,
        height=0.0,
        ids=np.zeros(0, np.int32),
        boxes=np.zeros((0, 4), np.float32),
        kinds=np.zeros(0, np.int8),
        phases=np.zeros(0, np.int8),
        opened=np.zeros(0, bool),
        titles=(),
        notes=(),
        edge_points=np.zeros((0, 2), np.float32),
        edge_starts=np.zeros(1, np.int32),
        edge_ends=np.zeros((0, 2), np.int32),
        edge_texts=(),
    )
