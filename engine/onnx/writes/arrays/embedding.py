"""Rows of embeddings."""

from __future__ import annotations

from engine.onnx.writes.graph import Graph, Value
from engine.onnx.writes.rows import writes


@writes("lookup_table_v2", ignoring="is_sparse")
def _(g: Graph, ids: Value, weight: Value, *, padding_idx: int) -> Value:
    found = g.Gather(weight, ids, axis=0)
    if padding_idx < 0:
        return found
    padding = g.Unsqueeze(g.Equal(ids, g.like(padding_idx, ids)), [ids.ndim])
    return g.Where(padding, g.like(0, weight), found)


@writes("shard_index", ignoring="")
def _(g: Graph, x: Value, *, index_num: int, nshards: int, shard_id: int, ignore_value: int) -> Value:
    size = g.like((index_num + nshards - 1) // nshards, x)
    own = g.Equal(g.Div(x, size), g.like(shard_id, x))
    return g.Where(own, g.Mod(x, size), g.like(ignore_value, x))
