"""Compiled poolings of images with contiguous rows, and unpooling, against NumPy's kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.core.errors import OutOfRangeError
from engine.core.operators.opdef import OPS
from engine.core.values.spec import Spec
from engine.kernels.fast import register

FORMATS = {2: "NCHW", 3: "NCDHW"}

# Sizes of image and attributes: uneven, even and more windows than elements; equal windows of each stride
# that is read as vectors and of a longer one, longer than a vector, with padding, and entirely in it.
ADAPTIVE = [
    ((5, 7, 7), [3, 3, 3]),
    ((7, 7), [3, 5]),
    ((4, 9, 19), [2, 4, 3]),
    ((8, 40), [4, 5]),
    ((3, 2), [5, 3]),
    ((6, 21), [1, 1]),
    ((2, 3, 4), [2, 3, 4]),
]
EQUAL: list[tuple[tuple[int, ...], dict[str, Any]]] = [
    ((6, 8), {"ksize": [2, 2], "strides": [2, 2]}),
    ((7, 41), {"ksize": [3, 3], "strides": [2, 2], "paddings": [1, 1]}),
    ((5, 6, 21), {"ksize": [2, 3, 3], "strides": [1, 1, 1], "paddings": [1, 0, 1]}),
    ((5, 30), {"ksize": [5, 2], "strides": [4, 3], "ceil_mode": True}),
    ((4, 33), {"ksize": [1, 6], "strides": [1, 4], "paddings": [0, 0, 2, 3]}),
    ((4, 4, 13), {"ksize": [2, 2, 5], "strides": [3, 3, 7], "ceil_mode": True}),
    ((5, 5), {"ksize": [2, 2], "strides": [3, 3], "paddings": [1, 1], "ceil_mode": True}),
    ((2, 3), {"ksize": [2, 2], "strides": [3, 3], "paddings": [1, 1], "ceil_mode": True}),
    ((4, 6), {"ksize": [1, 1], "global_pooling": True}),
    ((5, 6), {"ksize": [3, 3], "strides": [2, 2], "padding_algorithm": "SAME"}),
]
CASES = [*[(size, {"ksize": out, "adaptive": True}) for size, out in ADAPTIVE], *EQUAL]


@pytest.fixture(scope="module", autouse=True)
def makers() -> None:
    register()


def _fast(name: str, inputs: Any, attrs: Any) -> Any:
    made = OPS[name].fast([Spec.of(a) for a in inputs], OPS[name].with_defaults(attrs))
    assert made is not None
    assert all(h.wait(120) for h in made.handles)
    return made.kernel


def _image(data: Any, size: Any, dtype: str) -> Any:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**31)))
    shape = (data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3)), *size)
    x = rng.integers(-2, 3, shape).astype(dtype)  # many ties
    for odd in data.draw(st.lists(st.sampled_from([np.nan, np.inf, -np.inf]), max_size=4)):
        x.flat[rng.integers(x.size)] = odd
    if data.draw(st.booleans()):
        x[0] = -np.inf
    return x, rng


@settings(max_examples=12, deadline=None)
@given(st.data())
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_maxima_and_means_and_their_gradients_agree_with_numpy(case: Any, dtype: str, data: Any) -> None:
    size, given_attrs = case
    x, rng = _image(data, size, dtype)
    rank = len(size)
    attrs: dict[str, Any] = {"strides": [1] * rank, "paddings": [0] * rank, "data_format": FORMATS[rank]}
    attrs |= given_attrs
    for kind in ("max", "avg"):
        attrs |= {"pooling_type": kind, "exclusive": data.draw(st.booleans())}
        full = OPS[f"pool{rank}d"].with_defaults(attrs)
        wanted = OPS[f"pool{rank}d"].kernel(np, x, **full)
        found = _fast(f"pool{rank}d", [x], full)(x)
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6)
        assert found.dtype == dtype
        g = rng.standard_normal(wanted.shape).astype(dtype)
        wanted_grad = OPS[f"pool{rank}d_grad"].kernel(np, x, wanted, g, **full)
        found_grad = _fast(f"pool{rank}d_grad", [x, wanted, g], full)(x, wanted, g)
        np.testing.assert_allclose(found_grad, wanted_grad, rtol=1e-5, atol=1e-6)


@settings(max_examples=12, deadline=None)
@given(st.data())
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_positions_and_what_is_put_to_them_agree_with_numpy(case: Any, dtype: str, data: Any) -> None:
    size, given_attrs = case
    x, rng = _image(data, size, dtype)
    rank = len(size)
    attrs: dict[str, Any] = {"strides": [1] * rank, "paddings": [0] * rank, **given_attrs}
    name = f"max_pool{rank}d_with_index"
    wanted, places = OPS[name].kernel(np, x, **attrs)
    order = np.argsort([0, 2, 1, *range(3, rank + 2)])  # channels are not next to samples in memory
    moved = np.ascontiguousarray(x.swapaxes(1, 2)).transpose(order)
    for image in (x, moved):
        found, mask = _fast(name, [image], attrs)(image)
        np.testing.assert_array_equal(found, wanted)
        np.testing.assert_array_equal(mask, places)
        assert (found.dtype, mask.dtype) == (np.dtype(dtype), np.int32)
    g = rng.standard_normal(wanted.shape).astype(dtype)
    spread = OPS[f"{name}_grad"].kernel(np, x, places, g)
    np.testing.assert_allclose(
        _fast(f"{name}_grad", [x, places, g], {})(x, places, g), spread, rtol=1e-5, atol=1e-6
    )
    unpool = "unpool" if rank == 2 else "unpool3d"
    for marks in (places, places.astype(np.int64)):
        full = {"ksize": [2] * rank, "output_size": list(size)}
        put = OPS[unpool].kernel(np, g, marks, **full)
        np.testing.assert_array_equal(_fast(unpool, [g, marks], full)(g, marks), put)


@pytest.mark.parametrize("wrong", [-1, 16, -(2**31)])
def test_positions_outside_of_the_image_are_refused(wrong: int) -> None:
    x, indices = np.ones((2, 3, 2, 2), np.float32), np.zeros((2, 3, 2, 2), np.int32)
    indices[1, 2, 0, 1] = wrong
    kernel = _fast("unpool", [x, indices], {"ksize": [2, 2], "output_size": [4, 4]})
    with pytest.raises(OutOfRangeError, match=f"index {wrong} is out of range"):
        kernel(x, indices)


def test_threads_compute_the_same_bits() -> None:
    from engine.kernels.cpu.threads import computing_threads

    x = np.random.default_rng(0).standard_normal((8, 64, 14, 14)).astype(np.float32)
    attrs = {"ksize": [5, 4], "adaptive": True, "strides": [1, 1], "paddings": [0, 0], "pooling_type": "avg"}
    kernel = _fast("pool2d", [x], attrs)
    with computing_threads(1):
        one = kernel(x)
    with computing_threads(3):
        several = kernel(x)
    np.testing.assert_array_equal(one, several)


def test_rows_longer_than_the_stack_stay_with_numpy() -> None:
    attrs = {"ksize": [1, 7], "adaptive": True, "strides": [1, 1], "paddings": [0, 0], "pooling_type": "max"}
    full = OPS["pool2d"].with_defaults(attrs)
    assert OPS["pool2d"].fast([Spec((1, 1, 1, 1 << 15), "float32")], full) is None
