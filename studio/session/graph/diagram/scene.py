"""Scene: the boxes and edges of a diagram as arrays, for a widget or a writer of files to draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float32]
Ints: TypeAlias = npt.NDArray[np.int32]
Bytes: TypeAlias = npt.NDArray[np.int8]
Bools: TypeAlias = npt.NDArray[np.bool_]

KINDS = ("operator", "layer", "loop", "branch", "line", "prefix", "more", "value")
OPERATOR, LAYER, LOOP, BRANCH, LINE, PREFIX, MORE, VALUE = range(len(KINDS))

PHASES = ("forward", "backward", "update")
FORWARD, BACKWARD, UPDATE = range(len(PHASES))

TITLE_HEIGHT = 28.0
"""The height of the bar at the top of an open frame that holds its title, in pixels at zoom 1."""


@dataclass(frozen=True)
class Scene:
    """What is drawn of a diagram, in pixels at zoom 1.

    Attributes:
        ids: the node of each box; a frame comes before the boxes within it.
        boxes: x, y, width, height of each.
        kinds: indices into ``KINDS``.
        phases: indices into ``PHASES``.
        opened: True for a frame around its children with the title at its top, False for a closed box.
        titles, notes: the two lines of text of each box; a note may be empty.
        edge_points: the corners of all edges, those of edge ``k`` from ``edge_starts[k]`` to
            ``edge_starts[k + 1]``.
        edge_ends: rows of ``boxes`` that each edge goes from and to.
        edge_texts: the shapes of the values along each edge.
    """

    width: float
    height: float
    ids: Ints
    boxes: Floats
    kinds: Bytes
    phases: Bytes
    opened: Bools
    titles: Sequence[str]
    notes: Sequence[str]
    edge_points: Floats
    edge_starts: Ints
    edge_ends: Ints
    edge_texts: Sequence[str]
