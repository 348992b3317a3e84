"""Rows of the operators in ``engine/ops/sequences/trees.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, ints, row, s


def _tree(ids: Any, parents: Any) -> Any:
    time, batch, beams = ids.shape
    result = np.zeros_like(ids)
    for b, k in np.ndindex(batch, beams):
        beam = k
        for t in reversed(range(time)):
            result[t, b, k], beam = ids[t, b, beam], parents[t, b, beam]
    return result


def _check_paths(results: Any, label: Any, num_classes: int) -> None:
    """Each way leads from a leaf of the heap 1, 2 3, 4 5 6 7, ... to the root, and no two are the same."""
    nodes, turns, inside = results
    for n, number in enumerate(label.reshape(-1)):
        place = int(number) + num_classes
        for node, turn, used in zip(nodes[n], turns[n], inside[n], strict=True):
            if place > 1:
                assert used
                assert turn == bool(place % 2)
                place //= 2
                assert node == place - 1  # inner node 1 is the root
            else:
                assert not used
                assert node == 0


PARENTS = np.array([[[0, 0], [1, 1]], [[1, 0], [1, 0]], [[0, 0], [0, 1]]])


CASES: list[Case] = [
    *row("gather_tree", _tree, s(ints(3, 2, 2, high=9), PARENTS), s(ints(0, 2, 2), ints(0, 2, 2))),
    *row("complete_tree_paths", None, s(np.arange(5), num_classes=5),
    s(np.arange(8)[:, None], num_classes=8),
         s(np.array([0, 1]), num_classes=2), s(ints(0), num_classes=3), check=_check_paths)
]
