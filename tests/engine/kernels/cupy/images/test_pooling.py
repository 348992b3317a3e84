"""Poolings on a GPU against NumPy's kernels: ties, NaN, infinity, padding, ragged and large windows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from engine.core.operators.opdef import OPS
from engine.core.values import bfloat
from tests.cupy_stand_in.counts import counted
from tests.each import each
from tests.engine.kernels.cupy.kernels_on_gpu import numbers, on_gpu, run


@pytest.fixture(scope="module", autouse=True)
def cupy() -> Iterator[Any]:
    with on_gpu() as module:
        yield module


def _image(*shape: int) -> Any:
    """Numbers of which many are equal, with NaN and infinities."""
    x = np.random.default_rng(7).integers(-2, 3, shape).astype(np.float32)
    flat = x.reshape(-1)
    for value, every in ((np.nan, 23), (-np.inf, 5), (np.inf, 31)):
        flat[every // 2 :: every] = value
    flat[[1, 10]] = np.nan  # two in one window
    return x


def _equal(got: Any, want: Any) -> None:
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=1e-6, atol=2e-8)  # a fifth of a sum's rounding


CASES = {
    "side by side": {"ksize": [2, 2], "strides": [2, 2]},
    "overlapping": {"ksize": [3, 2], "strides": [1, 1]},
    "padded": {"ksize": [3, 3], "strides": [2, 1], "paddings": [1, 1]},
    "padded on one side": {"ksize": [2, 3], "strides": [1, 2], "paddings": [0, 1, 2, 0]},
    "windows in the padding": {"ksize": [2, 2], "strides": [3, 3], "paddings": [1, 1], "ceil_mode": True},
    "padding counts": {
        "ksize": [3, 3],
        "strides": [2, 2],
        "paddings": [1, 1],
        "exclusive": False,
        "ceil_mode": True,
    },
    "gaps": {"ksize": [1, 2], "strides": [3, 4]},
    "same": {"ksize": [3, 2], "strides": [2, 2], "padding_algorithm": "SAME"},
    "whole image": {"ksize": [1, 1], "global_pooling": True},
    "even parts": {"ksize": [7, 3], "adaptive": True},
    "ragged parts": {"ksize": [3, 4], "adaptive": True},
    "larger than the image": {"ksize": [9, 11], "strides": [1, 1], "paddings": [3, 3]},
}


@pytest.mark.parametrize("kind", ["max", "avg"])
def test_windows(cupy: Any, kind: str) -> None:
    def check(name: str) -> None:
        attrs: dict[str, Any] = {"pooling_type": kind, **CASES[name]}
        x = _image(2, 3, 7, 9)
        if kind == "avg":
            x = np.nan_to_num(x, posinf=2, neginf=-2)
        for data_format in ("NCHW", "NHWC"):
            attrs["data_format"] = data_format
            if data_format == "NHWC":
                x = np.ascontiguousarray(x.transpose(0, 2, 3, 1))
            want = OPS["pool2d"].kernel(np, x, **attrs)
            _equal(run(cupy, "pool2d", x, **attrs)[0], want)
            g = numbers(2, *want.shape)
            _equal(
                run(cupy, "pool2d_grad", x, want, g, **attrs)[0],
                np.ascontiguousarray(OPS["pool2d_grad"].kernel(np, x, want, g, **attrs)),
            )
            if kind == "max":
                where = {key: v for key, v in attrs.items() if key != "pooling_type"}
                values = numbers(3, *x.shape)
                _equal(
                    run(cupy, "max_pool2d_pick", x, want, values, **where)[0],
                    OPS["max_pool2d_pick"].kernel(np, x, want, values, **where),
                )

    each(CASES, str, check)


def test_places_of_maxima(cupy: Any) -> None:
    def check(name: str) -> None:
        attrs = {key: v for key, v in CASES[name].items() if key != "exclusive"}
        x = _image(2, 3, 7, 9)
        want = OPS["max_pool2d_with_index"].kernel(np, x, **attrs)
        for got, expected in zip(run(cupy, "max_pool2d_with_index", x, **attrs), want, strict=True):
            _equal(got, expected)

    each(CASES, str, check)


def test_large_windows_are_shared_by_a_warp(cupy: Any) -> None:
    x = numbers(1, 3, 2, 13, 11)
    for kind in ("max", "avg"):
        for name in ("whole image", "larger than the image"):
            attrs: dict[str, Any] = {"pooling_type": kind, **CASES[name]}
            want = OPS["pool2d"].kernel(np, x, **attrs)
            np.testing.assert_allclose(run(cupy, "pool2d", x, **attrs)[0], want, rtol=0, atol=1e-6)
    x[1, 1, 3, 4] = np.nan
    (got,) = run(cupy, "pool2d", x, ksize=[1, 1], global_pooling=True)
    assert np.isnan(got).sum() == np.isnan(got[1, 1]).sum() == 1


def test_volumes_dtypes_and_no_samples(cupy: Any) -> None:
    attrs: dict[str, Any] = {"ksize": [2, 1, 3], "strides": [1, 2, 2], "paddings": [1, 0, 1]}
    for dtype in (np.float64, np.float16):
        x = numbers(1, 2, 2, 4, 3, 5, dtype=dtype)
        for kind in ("max", "avg"):
            want = OPS["pool3d"].kernel(np, x.astype(np.float64), pooling_type=kind, **attrs)
            (got,) = run(cupy, "pool3d", x, pooling_type=kind, **attrs)
            assert got.dtype == dtype
            np.testing.assert_allclose(got, want, rtol=1e-13 if dtype is np.float64 else 1e-3)
    assert run(cupy, "pool2d", numbers(1, 0, 2, 4, 4), ksize=[2, 2])[0].shape == (0, 2, 3, 3)


def test_any_memory_order(cupy: Any) -> None:
    x, g = numbers(1, 6, 8, 3, 2), numbers(2, 3, 4, 3, 2)
    turned = x.transpose(3, 2, 0, 1), g.transpose(3, 2, 0, 1)
    y = OPS["pool2d"].kernel(np, turned[0], ksize=[2, 2], strides=[2, 2])
    want = OPS["pool2d_grad"].kernel(np, turned[0], y, turned[1], ksize=[2, 2], strides=[2, 2])
    moved = [cupy.asarray(a).transpose(3, 2, 0, 1) for a in (x, g)]
    got = run(cupy, "pool2d_grad", moved[0], cupy.asarray(y), moved[1], ksize=[2, 2], strides=[2, 2])[0]
    _equal(got, np.ascontiguousarray(want))


def test_one_launch_and_no_wait(cupy: Any) -> None:
    x = cupy.asarray(numbers(1, 64, 6, 28, 28))
    attrs: dict[str, Any] = {"ksize": [2, 2], "strides": [2, 2]}
    with counted() as seen:
        y = OPS["pool2d"].overrides["cupy"][0](cupy, x, **attrs)
    assert (seen.launches, seen.waits, seen.to_device) == (1, 0, 0)
    with counted() as seen:
        OPS["pool2d_grad"].overrides["cupy"][0](cupy, x, y, y, **attrs)
    assert (seen.launches, seen.waits, seen.to_device) == (1, 0, 0)


def test_bfloat16_is_read_as_its_bits(cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from engine.kernels.cupy.images import pooling

    low = bfloat.plain(bfloat.narrow(np, numbers(1, 2, 3, 5, 4)))
    wide = bfloat.widen(np, low)
    attrs: dict[str, Any] = {"ksize": [3, 2], "paddings": [1, 0]}
    y, places = OPS["max_pool2d_with_index"].kernel(np, wide, **attrs)
    mean = OPS["pool2d"].kernel(np, wide, pooling_type="avg", **attrs)
    for served in (True, False):
        if not served:  # the default kernels compute in float32 then
            monkeypatch.setattr(pooling, "_windows", lambda *_: None)
        got, where = run(cupy, "max_pool2d_with_index", low, **attrs)
        assert got.dtype == np.uint16
        _equal(bfloat.widen(np, got), y)
        _equal(where, places)
        (got,) = run(cupy, "pool2d", low, pooling_type="avg", **attrs)
        np.testing.assert_allclose(bfloat.widen(np, got), mean, rtol=2**-8)
