"""Sums as products with ones are the sums that NumPy computes, whatever the axes, the layout and the type."""

from itertools import combinations

import numpy as np
import pytest

from engine.kernels.cpu.sums import summed


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "complex64"])
@pytest.mark.parametrize("shape", [(3, 4, 5), (2, 1, 7), (0, 3), (4, 0, 2), (6,), (2, 3, 2, 5)])
def test_sums_are_those_of_numpy(dtype, shape):
    x = (np.random.default_rng(0).standard_normal(shape) * 9).astype(dtype)
    tolerance = {"float64": 1e-13, "int64": 0}.get(dtype, 1e-2 if dtype == "float16" else 1e-5)
    for given in (x, x.T, x[::-1], x[..., ::2]):
        every = [a for n in range(x.ndim + 1) for a in combinations(range(x.ndim), n)]
        for axes in (None, *every):
            for keepdims in (False, True):
                found = summed(np, given, axes, keepdims)
                wanted = given.sum(axes, keepdims=keepdims, dtype=x.dtype)
                assert found.dtype == x.dtype
                assert found.shape == wanted.shape
                np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance * 10)


def test_nan_and_infinity_stay():
    x = np.ones((3, 20), np.float32)
    x[0, 3], x[1, 5] = np.nan, np.inf
    np.testing.assert_array_equal(summed(np, x, (1,)), [np.nan, np.inf, 20])
    assert np.isnan(summed(np, x, (0,))[3])
    assert summed(np, x, (0,))[5] == np.inf


def test_long_rows_keep_the_digits_of_numpy():
    x = np.full((2, 1 << 20), 0.1, np.float32)
    np.testing.assert_array_equal(summed(np, x, (1,)), x.sum(1))


def test_results_belong_to_the_caller():
    made = summed(np, np.ones((2, 3)), (0,))
    made += 1
    np.testing.assert_array_equal(summed(np, np.ones((2, 3)), (0,)), [2, 2, 2])
