"""Generated products x.T @ y over many rows against sums in float64."""

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

from engine.kernels.fast.linalg import over_rows
from engine.kernels.fast.linalg.over_rows import Piece


def _some(rng, dtype, *shape):
    return rng.standard_normal(shape).astype(dtype)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-5), (np.float64, 1e-13)])
@pytest.mark.parametrize(
    ("rows", "m", "n", "shards"),
    [(1, 1, 1, 1), (5, 7, 3, 2), (128, 16, 16, 1), (300, 75, 33, 2), (129, 50, 130, 3), (0, 4, 20, 1)],
)
def test_products_of_gates_are_added_to_results(dtype, tolerance, rows, m, n, shards):
    rng = np.random.default_rng(rows)
    x, y = _some(rng, dtype, 3, rows, m), _some(rng, dtype, rows, n)
    more_x, more_y = _some(rng, dtype, 3, 4, m), _some(rng, dtype, 4, n)
    other, second = _some(rng, dtype, rows, 9), np.zeros((3, m, 9), dtype)
    add = over_rows.kernel(dtype, m, (n, 9), shards)
    assert add.handle.wait(60)
    first = _some(rng, dtype, 3, m, n)
    begin = first.astype(float)
    sums = np.empty((3, m), dtype)
    add([(first, [Piece(x, y), Piece(more_x, more_y)]), (second, [Piece(x, other)])], sums)
    np.testing.assert_allclose(sums, x.sum(1, dtype=float), rtol=tolerance, atol=tolerance * 20)
    wanted = begin + np.einsum("gri,rj->gij", x, y, dtype=float)
    wanted += np.einsum("gri,rj->gij", more_x, more_y, dtype=float)
    np.testing.assert_allclose(first, wanted, rtol=tolerance, atol=tolerance * 20)
    wanted = np.einsum("gri,rj->gij", x, other, dtype=float)
    np.testing.assert_allclose(second, wanted, rtol=tolerance, atol=tolerance * 20)


def test_bits_do_not_depend_on_the_number_of_shards():
    rng = np.random.default_rng(0)
    x, y = _some(rng, np.float32, 2, 200, 70), _some(rng, np.float32, 200, 40)
    found = []
    for shards in (1, 2, 5):
        add = over_rows.kernel(np.float32, 70, (40,), shards)
        assert add.handle.wait(60)
        made = np.zeros((2, 70, 40), np.float32)
        add([(made, [Piece(x, y)])])
        found.append(made)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_other_dtypes_have_no_code():
    assert over_rows.kernel(np.float16, 4, (4,), 1) is None
