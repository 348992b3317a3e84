"""Powers with a number for exponent."""

from __future__ import annotations

from tests.engine.ops.case import pos, row, s, unary_shapes, v

CASES = [
    *row(
        "pow", lambda x, factor: x**factor, *(s(*u.inputs, factor=2.0) for u in unary_shapes()),
        s(v(2, 3), factor=3.0), s(v(2, 3), factor=-1.0), s(v(2, 3), factor=0.0), s(v(4), factor=1.0),
        grads="x",
    ),
    *row(
        "pow", lambda x, factor: x**factor, s(pos(2, 3), factor=0.5), s(pos(2, 3), factor=-1.7), grads="x"
    ),
]  # fmt: skip
