"""The compiled gradient of filters of one pixel, against sums written out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

from engine.kernels.cpu import pool
from engine.kernels.fast import register
from engine.kernels.fast.images.convolution import PointwiseFilterKernel, filter_plan
from engine.kernels.fast.images.depthwise import filter_kernel
from engine.kernels.fast.images.pointwise_gradient_code import pointwise
from engine.ops.images.conv_choice import plan_of
from tests.engine.kernels.fast.images.test_convolution import compare

# Samples, channels, rows, columns, filters.
SIZES = [
    (9, 16, 5, 6, 7),
    (20, 80, 4, 9, 150),  # the last set has fewer channels and filters
    (33, 32, 9, 8, 20),
    (64, 64, 12, 13, 64),  # pixels in parts
    (48, 128, 3, 6, 13),
    (16, 192, 4, 4, 129),
]
ORDERS = {"rows": (2, 1, 3, 0), "channels": (1, 2, 3, 0), "channels last": (2, 3, 1, 0)}


@pytest.fixture(scope="module", autouse=True)
def makers() -> None:
    register()


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(pool.threads_, "get_num_threads", lambda: 3)
    yield
    pool.dismiss()


def _numbers(x: Any, filters: int, **changes: Any) -> Any:
    numbers = {"strides": (1, 1), "pads": ((0, 0), (0, 0)), "dilations": (1, 1), "groups": 1} | changes
    weight = (filters, x[1] // numbers["groups"], 1, 1)
    return filter_plan(plan_of(np, x, weight, *numbers.values()))


def _laid(rng: Any, shape: Any, order: str) -> Any:
    values, axes = rng.standard_normal(shape).astype(np.float32), ORDERS[order]
    return np.ascontiguousarray(values.transpose(axes)).transpose(np.argsort(axes))


@pytest.mark.parametrize(
    "orders", [("channels", "channels"), ("rows", "channels"), ("channels last", "rows")]
)
@pytest.mark.parametrize("size", SIZES)
def test_it_is_the_sum_of_products_over_all_pixels(threads: None, size: Any, orders: Any) -> None:
    rng = np.random.default_rng(0)
    *x_shape, filters = size
    x = _laid(rng, x_shape, orders[0])
    g = _laid(rng, (x_shape[0], filters, *x_shape[2:]), orders[1])
    kernel = filter_kernel(_numbers(tuple(x_shape), filters), x_shape[0])
    assert isinstance(kernel, PointwiseFilterKernel)
    assert kernel.handles[0].wait(120)
    found = kernel(x, g)
    assert (found.shape, found.dtype) == ((filters, x_shape[1], 1, 1), np.float32)
    wanted = np.einsum("nohw,nihw->oi", g.astype(np.float64), x.astype(np.float64))
    np.testing.assert_allclose(found[:, :, 0, 0], wanted, rtol=1e-4, atol=2e-6 * np.abs(wanted).max())


def test_images_with_gaps_are_copied() -> None:
    rng = np.random.default_rng(1)
    x, g = (_laid(rng, (16, c, 5, 8), "channels")[:, :, 1:, ::2] for c in (16, 3))
    kernel = PointwiseFilterKernel(_numbers((16, 16, 4, 4), 3), 16)
    assert kernel.handles[0].wait(120)
    wanted = np.einsum("nohw,nihw->oi", g, x)
    np.testing.assert_allclose(kernel(x, g)[:, :, 0, 0], wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize("odd", [None, np.nan, np.inf])
def test_convolutions_with_it_agree_with_numpy(threads: None, layout: str, odd: float | None) -> None:
    shape = (16, 6, 5, 32) if layout == "NHWC" else (16, 32, 6, 5)
    compare(shape, (18, 32, 1, 1), {"data_format": layout}, "first", odd, 0)


def test_the_number_of_threads_changes_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    x, g = (_laid(rng, (64, c, 12, 13), "rows") for c in (64, 64))
    kernel = PointwiseFilterKernel(_numbers((64, 64, 12, 13), 64), 64)
    assert kernel.handles[0].wait(120)
    assert kernel.plan.parts > 1
    made = []
    for count in (1, 2, 3):
        monkeypatch.setattr(pool.threads_, "get_num_threads", lambda count=count: count)
        made.append(kernel(x, g))
    pool.dismiss()
    np.testing.assert_array_equal(made[0], made[1])
    np.testing.assert_array_equal(made[0], made[2])


def test_pixels_are_divided_so_that_threads_have_work() -> None:
    assert pointwise(32, 64, 32768, 16).parts == 8
    assert pointwise(256, 256, 2048, 16).items() == 8
    assert pointwise(16, 4, 100, 16).parts == 1  # less than one chunk


@pytest.mark.parametrize(
    "changes",
    [{"strides": (2, 2)}, {"pads": ((1, 1), (0, 0))}, {"groups": 2}],
    ids=["stride", "padding", "groups"],
)
def test_others_have_another_kernel(changes: Any) -> None:
    assert not PointwiseFilterKernel.suits(_numbers((16, 64, 8, 8), 16, **changes))
    assert PointwiseFilterKernel.suits(_numbers((16, 64, 8, 8), 16))
    assert not PointwiseFilterKernel.suits(_numbers((16, 7, 8, 8), 16))  # no whole vectors of channels
