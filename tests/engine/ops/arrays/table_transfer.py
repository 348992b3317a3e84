"""Rows of the operators in ``engine/ops/arrays/transfer.py``."""

from __future__ import annotations

from tests.engine.ops.case import Case, row, s, v

CASES: list[Case] = [
    *row("memcpy", lambda x: x, s(v()), s(v(0, 2)), s(v(2, 3)), grads="x")
]
