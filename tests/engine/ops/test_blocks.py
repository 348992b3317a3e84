"""Large arrays are computed block by block, with the values of the whole."""

from __future__ import annotations

import numpy as np
import pytest

from engine.core.operators.opdef import OPS
from engine.ops.activations.cache_blocks import _SIZE, in_blocks

SIZE = 2 * _SIZE + 17
X = np.random.default_rng(0).standard_normal(SIZE + SIZE % 2)


@pytest.mark.parametrize("name", ["gelu", "silu", "softplus", "mish"])
def test_values_do_not_depend_on_blocks(name: str) -> None:
    kernel = OPS[name].kernel
    whole = np.concatenate([kernel(np, X[: _SIZE // 2]), kernel(np, X[_SIZE // 2 : _SIZE + 9])])
    np.testing.assert_array_equal(kernel(np, X.reshape(2, -1)).reshape(-1)[: _SIZE + 9], whole)


@pytest.mark.parametrize("name", ["gelu_grad", "swish_grad", "mish_grad"])
def test_gradients_do_not_depend_on_blocks(name: str) -> None:
    kernel = OPS[name].kernel
    strided = np.stack([X, X])[:, ::2].T  # not contiguous
    whole = np.concatenate([kernel(np, part, part) for part in np.array_split(strided, 4)])
    np.testing.assert_array_equal(kernel(np, strided, strided), whole)


def test_blocks_are_used_for_large_arrays_only() -> None:
    seen: list[int] = []

    def formula(x: np.ndarray) -> np.ndarray:
        seen.append(x.size)
        return x + 1

    in_blocks(np, formula, X)
    in_blocks(np, formula, X[:5])
    assert seen == [_SIZE, _SIZE, X.size - 2 * _SIZE, 5]
