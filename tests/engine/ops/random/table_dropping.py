"""Rows of the operators in ``engine/ops/random/dropping.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, row, s, v


def _check_dropout(
    results: Any, x: Any, dropout_prob: float = 0.5, is_test: bool = False,
    dropout_implementation: str = "upscale_in_train", axis: Any = None, seed: int = 0
) -> None:
    out, mask = results
    np.testing.assert_allclose(out, x * mask)
    keep = 1 - dropout_prob
    upscale = dropout_implementation == "upscale_in_train"
    if is_test:
        assert (mask == (1.0 if upscale else keep)).all()
        return
    nonzero = mask[mask != 0]
    np.testing.assert_allclose(nonzero, (1 / keep if upscale else 1.0) if keep else 1.0)
    if dropout_prob in (0.0, 1.0):
        assert nonzero.size == x.size * (1 - dropout_prob)
    elif x.size > 1000:
        assert abs(nonzero.size / x.size - keep) < 0.05
    if axis is not None:
        other = tuple(n for n in range(x.ndim) if n not in axis)
        assert (mask.std(axis=other) == 0).all()


CASES: list[Case] = [
    *row("dropout", None, s(v(40, 50), dropout_prob=0.3), s(v(3), is_test=True),
         s(v(3), is_test=True, dropout_implementation="downgrade_in_infer"),
         s(v(2000), dropout_implementation="downgrade_in_infer"), s(v(40, 5), axis=[0]),
         s(v(3), dropout_prob=0.0), s(v(3), dropout_prob=1.0),
         check=_check_dropout, grads="x", through=(0,))
]
