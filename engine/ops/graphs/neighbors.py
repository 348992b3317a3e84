"""Neighbours of nodes: drawn from a graph, and numbered anew.

A graph is given by columns: ``row`` has the neighbours of node 0, of node 1, ..., and ``colptr`` where those
of a node begin, with the end of all behind.
"""

from __future__ import annotations

import numpy as np

from engine.core.errors import OutOfRangeError, ShapeError
from engine.core.operators.bounds import Size
from engine.core.operators.infer import require_integers, require_same_dtype
from engine.core.operators.opdef import op
from engine.core.random.generator import draws_of
from engine.core.values.dtype import int32
from engine.core.values.spec import Spec
from engine.ops.arrays.repeat import repeated


def _infer_reindex(x: Spec, neighbors: Spec, count: Spec) -> tuple[Spec, Spec, Spec]:
    require_integers("reindex_graph", x=x, neighbors=neighbors, count=count)
    dtype = require_same_dtype("reindex_graph", x=x, neighbors=neighbors)
    edges = Spec((neighbors.shape[0],), dtype)
    return edges, edges, Spec((-1,), dtype)


@op(
    "graph_reindex",
    infer=_infer_reindex,
    outputs=("reindex_src", "reindex_dst", "out_nodes"),
    slots={"reindex_src": "Reindex_Src", "reindex_dst": "Reindex_Dst", "out_nodes": "Out_Nodes"},
)
def graph_reindex(xp, x, neighbors, count):
    """Both ends of the edges by new numbers, and the nodes in the order of these: ``x``, then neighbours.

    ``count`` has the number of neighbours of each node of ``x``, once or for several kinds of edges in turn.
    """
    nodes, neighbors, count = x.reshape(-1), neighbors.reshape(-1), count.reshape(-1)
    if len(count) % max(len(nodes), 1) or int(count.sum()) != len(neighbors):
        raise ShapeError(
            f"reindex_graph: count has a number for each of {len(nodes)} nodes (for each kind of edges), and "
            f"they add up to {len(neighbors)} neighbors: got {len(count)} that add up to {int(count.sum())}"
        )
    both = xp.concatenate([nodes, neighbors])
    _, first, where = xp.unique(both, return_index=True, return_inverse=True)
    order = xp.argsort(first)  # by first occurrence
    number = xp.empty_like(order)
    number[order] = xp.arange(len(order))
    source = number[where.reshape(-1)[len(nodes) :]].astype(x.dtype)
    owners = xp.tile(xp.arange(len(nodes)), len(count) // max(len(nodes), 1))
    return source, repeated(xp, owners, count).astype(x.dtype), both[first[order]]


def _infer_sample(
    row: Spec,
    colptr: Spec,
    nodes: Spec,
    eids: Spec | None = None,
    weight: Spec | None = None,
    *,
    sample_size: int = -1,
) -> tuple[Spec, Spec, Spec]:
    require_integers("sample_neighbors", row=row, colptr=colptr, input_nodes=nodes, eids=eids)
    require_same_dtype("sample_neighbors", row=row, colptr=colptr, input_nodes=nodes)
    found = Spec((-1,), row.dtype)
    return found, Spec((nodes.shape[0],), int32), found


@op(
    "graph_sample_neighbors",
    infer=_infer_sample,
    outputs=("out", "out_count", "out_eids"),
    slots={"colptr": "Col_Ptr", "nodes": "X", "out_count": "Out_Count", "out_eids": "Out_Eids"},
)
def graph_sample_neighbors(xp, row, colptr, nodes, eids=None, weight=None, *, sample_size: Size = -1, key):
    """``sample_size`` neighbours of each node without repetition (all for -1), their counts and edges.

    With ``weight`` of edges, heavier ones are likelier: Efraimidis and Spirakis, Weighted random sampling
    with a reservoir (2006).
    """
    row, starts, nodes = row.reshape(-1), colptr.reshape(-1), nodes.reshape(-1)
    if nodes.size and (int(nodes.min()) < 0 or int(nodes.max()) >= len(starts) - 1):
        raise OutOfRangeError(
            f"sample_neighbors: nodes are 0 to {len(starts) - 2}, by colptr: got {nodes.tolist()[:20]}"
        )
    degrees = starts[nodes + 1] - starts[nodes]
    if degrees.size and (
        int(starts[nodes].min()) < 0 or int(degrees.min()) < 0 or int(starts[nodes + 1].max()) > len(row)
    ):
        raise OutOfRangeError(f"sample_neighbors: colptr must rise from 0 to {len(row)}, the edges in row")
    owner = repeated(xp, xp.arange(len(nodes)), degrees)
    before = xp.concatenate([xp.zeros(1, degrees.dtype), xp.cumsum(degrees)[:-1]]) if len(nodes) else degrees
    edges = xp.arange(len(owner)) - before[owner] + starts[nodes][owner]
    counts = degrees
    if sample_size >= 0 and len(nodes) and int(degrees.max()) > sample_size:
        with draws_of(key) as draws:
            logs = xp.log(1.0 - xp.asarray(draws.uniform((len(edges),), np.float64)))
        if weight is not None:
            logs = logs / weight.reshape(-1)[edges]
        order = xp.lexsort(xp.stack([-logs, owner]))
        rank = xp.empty_like(order)
        rank[order] = xp.arange(len(order)) - before[owner]  # within the node; owners stay in order
        edges = edges[rank < sample_size]
        counts = xp.minimum(degrees, sample_size)
    ids = edges if eids is None else eids.reshape(-1)[edges]
    return row[edges], counts.astype("int32"), ids.astype(row.dtype)
