"""Rows of the operators in ``engine/ops/graphs/neighbors.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, row, s

ROW = np.array([3, 7, 0, 9, 1, 4, 2, 9, 3, 9, 1, 9, 7])
STARTS = np.array([0, 2, 4, 5, 6, 7, 9, 11, 11, 13, 13])
NODES = np.array([0, 8, 1, 7, 2])
EDGES = np.arange(13) + 100
WEIGHTS = np.linspace(0.1, 2.0, 13)


def _renumbered(x: Any, neighbors: Any, count: Any) -> Any:
    order = list(dict.fromkeys([*x.tolist(), *neighbors.tolist()]))
    numbers = [order.index(node) for node in neighbors.tolist()]
    ends = [n % len(x) for n, c in enumerate(count.tolist()) for _ in range(c)]
    return np.array(numbers), np.array(ends), np.array(order)


def _check_sample(
    results: Any, row: Any, colptr: Any, nodes: Any, eids: Any = None, weight: Any = None,
    sample_size: int = -1
) -> None:
    out, counts, edges = results
    starts = np.concatenate([[0], np.cumsum(counts)])
    edges = edges if eids is None else edges - 100
    np.testing.assert_array_equal(row[edges], out)
    for n, node in enumerate(nodes):
        own = edges[starts[n] : starts[n + 1]].tolist()
        available = range(colptr[node], colptr[node + 1])
        assert len(own) == len(set(own))
        assert set(own) <= set(available)
        assert len(own) == (len(available) if sample_size < 0 else min(sample_size, len(available)))


CASES: list[Case] = [
    *row("graph_reindex", _renumbered,
         s(np.array([0, 1, 2]), np.array([8, 9, 0, 4, 7, 6, 7]), np.array([2, 3, 2])),
         s(np.array([5, 1]), np.array([1, 7, 5, 7, 7]), np.array([1, 2, 0, 2])), data=True),
    *row("graph_sample_neighbors", None,
         *(s(ROW, STARTS, NODES, *more, sample_size=size)
           for size in (-1, 0, 1, 2, 9) for more in ((None, None), (EDGES, None), (EDGES, WEIGHTS))),
         check=_check_sample, data=True)
]
