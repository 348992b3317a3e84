"""Rows of the operators in ``engine/ops/arrays/embedding.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, ints, row, s, v


def _shard(x: Any, index_num: int, nshards: int, shard_id: int, ignore_value: int = -1) -> Any:
    size = -(-index_num // nshards)
    here = [e - size * shard_id if e // size == shard_id else ignore_value for e in x.reshape(-1)]
    return np.array(here).reshape(x.shape)


def _lookup(ids: Any, weight: Any, padding_idx: int = -1, is_sparse: bool = False) -> Any:
    result = np.zeros((*ids.shape, weight.shape[1]))
    for place in np.ndindex(ids.shape):
        result[place] = 0.0 if ids[place] == padding_idx else weight[ids[place]]
    return result


def _lookup_grad(g: Any, ids: Any, like: Any, padding_idx: int = -1, is_sparse: bool = False) -> Any:
    result = np.zeros(like.shape)
    for place in np.ndindex(ids.shape):
        result[ids[place]] += 0.0 if ids[place] == padding_idx else g[place]
    return result


CASES: list[Case] = [
    *row("shard_index", _shard, s(ints(3, 2, high=20), index_num=20, nshards=3, shard_id=1),
         s(ints(2, 2), index_num=4, nshards=2, shard_id=0, ignore_value=9)),
    *row("lookup_table_v2", _lookup, s(ints(2, 3), v(4, 2)), s(np.array(1), v(4, 2)), s(ints(0), v(4, 2)),
         s(ints(5), v(4, 3), padding_idx=1), grads="weight"),
    *row("lookup_table_v2_grad", _lookup_grad, s(v(2, 3, 2), ints(2, 3), v(4, 2)),
    s(v(2), np.array(1), v(4, 2)),
         s(v(5, 3), ints(5), v(4, 3), padding_idx=1), grads="g_in")
]
