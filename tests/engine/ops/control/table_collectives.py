"""Rows of the collectives in a process alone, which is a group of itself.

Results of two and three processes are checked in tests/engine/distributed/programs.py.
"""

from __future__ import annotations

import numpy as np

from tests.engine.ops.case import Case, row, s, v

ALONE = (s(v(4, 3)), s(v()), s(v(0, 2)), s(v(5, seed=1), ring_id=3))
PARTS = (
    s(v(4, 3), nranks=1),
    s(v(0, 2), nranks=1),
    s(v(3, 0), nranks=1),
    s(v(5, seed=1), nranks=1, ring_id=3),
)

CASES: list[Case] = [
    case
    for word in ("sum", "avg", "max", "min", "prod")
    for name in (f"c_allreduce_{word}", f"c_reduce_{word}")
    for case in row(name, lambda x, **_: x, *ALONE, grads="x")
]
CASES += row("product_of_others", lambda x, **_: np.ones_like(x), *ALONE)
CASES += row("zeros_at_rank", lambda x, **_: np.zeros_like(x), *ALONE, grads="x")
CASES += row("zeros_at_rank", lambda x, **_: x, s(v(4, 3), elsewhere=True), grads="x")
CASES += row("c_broadcast", lambda x, **_: x, *ALONE, grads="x")
for name in ("c_allgather", "c_gather"):
    CASES += row(name, lambda x, **_: np.atleast_1d(x), *PARTS, s(v(), nranks=1), grads="x")
for name in ("c_reducescatter", "c_scatter"):
    CASES += row(name, lambda x, **_: x, *PARTS, grads="x")
CASES += row(
    "alltoall",
    lambda x, **_: x,
    *ALONE[2:],
    s(v(4, 3), in_sizes=[4], out_sizes=[4]),
    grads="x",
    unknown=False,
)
CASES += row(
    "c_allreduce_coalesced", lambda xs, **_: list(xs), s([v(4, 3), v(), v(0, 2)]),
    s([v(5)], reduce_type="avg"), grads="xs"
)
CASES += row("barrier", lambda x, **_: x, s(v(3)), s(v()), s(v(0, 2)))
