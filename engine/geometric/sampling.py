"""Parts of a graph: neighbours drawn at random, nodes numbered anew."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.core.errors import ArgumentError
from engine.ops.graphs import neighbors as ops
from engine.program.build.calls import takes_name
from engine.tensor import manipulation
from engine.tensor.arguments.promote import is_tensor
from engine.tensor.tensor_like import AnyTensor


@takes_name
def reindex_graph(
    x: AnyTensor,
    neighbors: AnyTensor,
    count: AnyTensor,
    value_buffer: AnyTensor | None = None,
    index_buffer: AnyTensor | None = None,
    name: str | None = None,
) -> tuple[Any, Any, Any]:
    """New numbers, from 0, for nodes and their neighbours.

    Args:
        x: the nodes, each once.
        neighbors: those of the first node, of the second, ...
        count: how many neighbours each node has, int32.
        value_buffer, index_buffer: have no effect; they make Paddle faster on a GPU.
        name: of the results in a Program.

    Returns:
        where each edge begins (the neighbour) and ends (the node), by new numbers, and the old numbers:
        first those of ``x``, then of neighbours as they first occur.
    """
    source, target, nodes = ops.graph_reindex(x, neighbors, count)
    return source, target, nodes


@takes_name
def reindex_heter_graph(
    x: AnyTensor,
    neighbors: AnyTensor | Sequence[AnyTensor],
    count: AnyTensor | Sequence[AnyTensor],
    value_buffer: AnyTensor | None = None,
    index_buffer: AnyTensor | None = None,
    name: str | None = None,
) -> tuple[Any, Any, Any]:
    """As ``reindex_graph`` for edges of several kinds: ``neighbors`` and ``count`` are lists of Tensors."""
    edges = neighbors if is_tensor(neighbors) else manipulation.concat(list(neighbors), axis=0)
    counts = count if is_tensor(count) else manipulation.concat(list(count), axis=0)
    return reindex_graph(x, edges, counts)


def _sampled(where: str, eids: Any, return_eids: bool, *arguments: Any, sample_size: int) -> tuple[Any, ...]:
    if return_eids and eids is None:
        raise ArgumentError(f"{where}: `eids` should not be None if `return_eids` is True.")
    row, colptr, nodes, weight = arguments
    found = ops.graph_sample_neighbors(
        row, colptr, nodes, eids if return_eids else None, weight, sample_size=int(sample_size)
    )
    return tuple(found) if return_eids else tuple(found[:2])


@takes_name
def sample_neighbors(
    row: AnyTensor,
    colptr: AnyTensor,
    input_nodes: AnyTensor,
    sample_size: int = -1,
    eids: AnyTensor | None = None,
    return_eids: bool = False,
    perm_buffer: AnyTensor | None = None,
    name: str | None = None,
) -> tuple[Any, ...]:
    """Neighbours of nodes, drawn at random without repetition.

    Args:
        row: the neighbours of node 0, of node 1, ..., [edges] or [edges, 1].
        colptr: where those of a node begin in ``row``, with the end of all behind, [nodes + 1].
        input_nodes: the nodes to draw for.
        sample_size: how many; all of them for -1, or where a node has no more.
        eids: numbers of the edges, [edges].
        return_eids: give those of the drawn edges too.
        perm_buffer: has no effect; it makes Paddle faster on a GPU.
        name: of the results in a Program.

    Returns:
        the neighbours of the first node, of the second, ...; their counts, int32; the edges' numbers if
        asked for. Raises ArgumentError where they are asked for and not given.
    """
    arguments = (row, colptr, input_nodes, None)
    return _sampled("sample_neighbors", eids, return_eids, *arguments, sample_size=sample_size)


@takes_name
def weighted_sample_neighbors(
    row: AnyTensor,
    colptr: AnyTensor,
    edge_weight: AnyTensor,
    input_nodes: AnyTensor,
    sample_size: int = -1,
    eids: AnyTensor | None = None,
    return_eids: bool = False,
    name: str | None = None,
) -> tuple[Any, ...]:
    """As ``sample_neighbors``, where an edge of more weight (float32 [edges]) is likelier to be drawn."""
    arguments = (row, colptr, input_nodes, edge_weight)
    return _sampled("weighted_sample_neighbors", eids, return_eids, *arguments, sample_size=sample_size)
