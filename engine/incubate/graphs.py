"""Graphs under the names that they had before ``paddle.geometric``, and samples of several hops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.core.errors import ArgumentError
from engine.geometric import reindex_graph, sample_neighbors, send_u_recv
from engine.program.build.calls import takes_name
from engine.tensor import creation, manipulation, search
from engine.tensor.tensor_like import AnyTensor


def graph_send_recv(
    x: AnyTensor,
    src_index: AnyTensor,
    dst_index: AnyTensor,
    pool_type: str = "sum",
    out_size: int | AnyTensor | None = None,
    name: str | None = None,
) -> Any:
    """The rows of nodes sent along edges and reduced where they meet: ``geometric.send_u_recv``."""
    return send_u_recv(x, src_index, dst_index, pool_type, out_size, name)


def graph_reindex(
    x: AnyTensor,
    neighbors: AnyTensor,
    count: AnyTensor,
    value_buffer: AnyTensor | None = None,
    index_buffer: AnyTensor | None = None,
    flag_buffer_hashtable: bool = False,
    name: str | None = None,
) -> tuple[Any, Any, Any]:
    """New numbers for nodes and their neighbours: ``geometric.reindex_graph``."""
    if flag_buffer_hashtable and (value_buffer is None or index_buffer is None):
        raise ArgumentError(
            "graph_reindex: `value_buffer` and `index_buffer` should not be None if `flag_buffer_hashtable` "
            "is True."
        )
    return reindex_graph(x, neighbors, count, value_buffer, index_buffer, name)


def graph_sample_neighbors(
    row: AnyTensor,
    colptr: AnyTensor,
    input_nodes: AnyTensor,
    eids: AnyTensor | None = None,
    perm_buffer: AnyTensor | None = None,
    sample_size: int = -1,
    return_eids: bool = False,
    flag_perm_buffer: bool = False,
    name: str | None = None,
) -> tuple[Any, ...]:
    """Neighbours drawn at random: ``geometric.sample_neighbors``."""
    if flag_perm_buffer and perm_buffer is None:
        raise ArgumentError(
            "graph_sample_neighbors: `perm_buffer` should not be None if `flag_perm_buffer` is True."
        )
    return sample_neighbors(row, colptr, input_nodes, sample_size, eids, return_eids, perm_buffer, name)


@takes_name
def graph_khop_sampler(
    row: AnyTensor,
    colptr: AnyTensor,
    input_nodes: AnyTensor,
    sample_sizes: Sequence[int],
    sorted_eids: AnyTensor | None = None,
    return_eids: bool = False,
    name: str | None = None,
) -> tuple[Any, ...]:
    """Neighbours of nodes, neighbours of those, ...: the part of a graph around some nodes.

    Args:
        row, colptr, input_nodes: as of ``geometric.sample_neighbors``.
        sample_sizes: how many neighbours of a node are drawn, a number for each hop.
        sorted_eids: numbers of the edges.
        return_eids: give those of the drawn edges too.
        name: of the results in a Program.

    Returns:
        where each edge begins and ends, by new numbers [edges, 1]; the old numbers of all nodes, those
        of ``input_nodes`` first; the new numbers of ``input_nodes``; with ``return_eids`` the numbers of the
        edges [edges].
    """
    if not len(sample_sizes):
        raise ArgumentError("graph_khop_sampler: sample_sizes must have a number for each hop: got none")
    if return_eids and sorted_eids is None:
        raise ArgumentError("graph_khop_sampler: `sorted_eid` should not be None if return_eids is True.")
    given = manipulation.reshape(input_nodes, [-1])
    frontier = known = nodes = given
    neighbors: list[Any] = []
    counts: list[Any] = []
    edges: list[Any] = []
    for n, size in enumerate(sample_sizes):
        if n:  # the new nodes of a hop that another follows are numbered by their old numbers
            frontier = search.sort(nodes[known.shape[0] :])
            known = manipulation.concat([known, frontier])
        drawn = sample_neighbors(row, colptr, frontier, int(size), sorted_eids, return_eids)
        neighbors.append(drawn[0])
        counts.append(drawn[1])
        edges += drawn[2:]
        joined = manipulation.concat(neighbors), manipulation.concat(counts)
        source, target, nodes = reindex_graph(known, *joined)
    ends = [manipulation.unsqueeze(end, -1) for end in (source, target)]
    inputs = creation.arange(given.shape[0], dtype=given.dtype)
    extra = [manipulation.concat(edges)] if return_eids else []
    return (*ends, nodes, inputs, *extra)
