"""Convolutions on a GPU: each kernel and tile against NumPy's kernel, launches, bits, layouts, dtypes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from engine.core.operators.opdef import OPS
from engine.core.values import bfloat
from engine.ops.images.conv import conv2d
from tests.cupy_stand_in.counts import counted
from tests.each import each
from tests.engine.kernels.cupy.kernels_on_gpu import numbers, on_gpu, run


@pytest.fixture(scope="module", autouse=True)
def cupy() -> Iterator[Any]:
    with on_gpu() as module:
        yield module


def _near(got: Any, want: Any, dtype: Any = np.float32) -> None:
    assert got.dtype == dtype
    assert got.shape == want.shape
    most = max(1.0, float(np.abs(want).max(initial=0)))
    tolerance = {np.float64: 1e-12, np.float32: 2e-5, np.float16: 2e-3}[dtype] * most
    np.testing.assert_allclose(np.asarray(got, np.float64), want, rtol=0, atol=tolerance)


def _check(cupy: Any, x: Any, weight: Any, dtype: Any = np.float32, **attrs: Any) -> None:
    """Result and gradients of conv2d against NumPy's kernels in float64."""
    x, weight = x.astype(dtype), weight.astype(dtype)
    exact = x.astype(np.float64), weight.astype(np.float64)
    want = OPS["conv2d"].kernel(np, *exact, **attrs)
    (got,) = run(cupy, "conv2d", x, weight, **attrs)
    _near(got, want, dtype)
    g = numbers(3, *want.shape, dtype=dtype)
    wanted = OPS["conv2d_grad"].kernel(np, *exact, g.astype(np.float64), **attrs)
    for a, b in zip(run(cupy, "conv2d_grad", x, weight, g, **attrs), wanted, strict=True):
        _near(a, b, dtype)


# [samples, channels, height, width] and [filters, channels / groups, height, width] of the filter.
SIZES = {
    "tile of one place": ((1, 1, 1, 1), (1, 1, 1, 1), {}),
    "more than a tile of places": ((3, 2, 9, 7), (5, 2, 3, 3), {"paddings": [1, 1]}),
    "more than a tile of rows": ((1, 2, 4, 4), (35, 2, 2, 2), {}),
    "rows of two tiles": ((2, 3, 5, 5), (70, 3, 3, 3), {"strides": [2, 1]}),
    "a sum of one part": ((1, 7, 3, 3), (6, 7, 1, 1), {}),
    "a sum of many parts": ((1, 21, 4, 5), (6, 21, 3, 3), {"paddings": [2, 1]}),
    "directly": ((2, 3, 5, 6), (3, 3, 2, 3), {"dilations": [2, 1]}),
    "each channel": ((2, 5, 6, 5), (10, 1, 3, 3), {"groups": 5, "strides": [2, 2], "paddings": [1, 0]}),
    "wide groups": ((2, 12, 5, 4), (14, 6, 3, 2), {"groups": 2, "paddings": [1, 2, 0, 1]}),
    "strides beyond the filter": ((2, 6, 7, 8), (6, 6, 2, 1), {"strides": [3, 4]}),
    "strides and dilations": (
        (1, 5, 9, 9),
        (6, 5, 3, 3),
        {"strides": [2, 3], "dilations": [3, 2], "paddings": [3, 2]},
    ),
    "strides that share a divisor with dilations": (
        (1, 5, 9, 11),
        (6, 5, 3, 3),
        {"strides": [4, 2], "dilations": [2, 4], "paddings": [1, 4]},
    ),
    "a filter larger than the image": ((1, 5, 2, 3), (7, 5, 4, 5), {"paddings": [2, 1]}),
    "no sample": ((0, 2, 4, 4), (6, 2, 3, 3), {}),
    "same": ((1, 6, 7, 5), (6, 6, 3, 2), {"padding_algorithm": "SAME", "strides": [2, 2]}),
}


def test_sizes_that_fill_no_tile(cupy: Any) -> None:
    def check(name: str) -> None:
        shape, filters, attrs = SIZES[name]
        _check(cupy, numbers(1, *shape), numbers(2, *filters), **attrs)

    each(SIZES, str, check)


def test_channels_last_and_any_memory_order(cupy: Any) -> None:
    x, weight = numbers(1, 2, 6, 5, 7), numbers(2, 6, 7, 3, 2)
    _check(cupy, x, weight, data_format="NHWC", paddings=[1, 0], strides=[2, 1])
    # Samples last in memory, every second column, a channel that is repeated.
    spread = np.broadcast_to(numbers(4, 5, 1, 12, 3), (5, 6, 12, 3)).transpose(3, 1, 0, 2)[..., ::2]
    want = OPS["conv2d"].kernel(np, spread, weight[:, :6])
    kernel = OPS["conv2d"].overrides["cupy"][0]
    moved = cupy.broadcast_to(cupy.asarray(numbers(4, 5, 1, 12, 3)), (5, 6, 12, 3)).transpose(3, 1, 0, 2)
    _near(kernel(cupy, moved[..., ::2], cupy.asarray(weight)[:, :6]).get(), want)


def test_few_tiles_are_shared_by_blocks(cupy: Any) -> None:
    x, weight, bias = numbers(1, 2, 80, 3, 4), numbers(2, 80, 80, 3, 3), numbers(3, 80)
    for data_format in ("NCHW", "NHWC"):
        attrs = {"paddings": [1, 1], "strides": [1, 2], "data_format": data_format}
        if data_format == "NHWC":
            x = x.transpose(0, 2, 3, 1)
        _check(cupy, x, weight, **attrs)
        given = (x, weight, bias)
        with counted() as seen:
            (got,) = run(cupy, "conv2d_fusion", *given, activation="relu", **attrs)
        assert seen.launches == 4  # tiles and sums; it ran twice
        _near(got, OPS["conv2d_fusion"].kernel(np, *given, activation="relu", **attrs))


@pytest.mark.parametrize("dtype", [np.float64, np.float16])
def test_dtypes(cupy: Any, dtype: Any) -> None:
    _check(cupy, numbers(1, 2, 6, 5, 5), numbers(2, 7, 6, 3, 3), dtype, paddings=[1, 1])


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Changes a number that launches are chosen by."""
    from engine.kernels.cupy.images import convolution

    def change(name: str, value: int) -> None:
        monkeypatch.setattr(convolution, name, value)

    launches = convolution._gathering, convolution._filtering
    for cached in launches:
        cached.cache_clear()
    yield change
    for cached in launches:
        cached.cache_clear()


def test_large_tiles(cupy: Any, settings: Any) -> None:
    settings("_MANY", 1)
    _check(cupy, numbers(1, 1, 4, 9, 9), numbers(2, 130, 4, 2, 2))
    _check(cupy, numbers(1, 1, 130, 5, 5), numbers(2, 3, 130, 2, 2))


def test_many_parts_are_added(cupy: Any, settings: Any) -> None:
    settings("_LEAST", 16)
    settings("_LEAST_DIRECT", 16)
    _check(cupy, numbers(1, 3, 4, 18, 17), numbers(2, 6, 4, 2, 2))  # 24 parts of 32 places
    _check(cupy, numbers(1, 9, 2, 13, 12), numbers(2, 2, 1, 1, 2), groups=2)  # 10 of 128, directly


def test_bias_and_activation_go_into_the_launch(cupy: Any) -> None:
    x, weight, bias = numbers(1, 2, 3, 6, 6), numbers(2, 6, 3, 3, 3), numbers(3, 6)
    x[0, 0, 2, 2] = np.nan
    for filters in (6, 2):  # by tiles and directly
        for activation in ("", "relu"):
            given = (x, weight[:filters], bias[:filters])
            with counted() as seen:
                (got,) = run(cupy, "conv2d_fusion", *given, activation=activation)
            assert seen.launches == 2  # it ran twice
            want = OPS["conv2d_fusion"].kernel(np, *given, activation=activation)
            assert (np.isnan(got) == np.isnan(want)).all()
            _near(np.nan_to_num(got), np.nan_to_num(want))


def test_launches_of_lenet(cupy: Any) -> None:
    for shape, filters, paddings in (((64, 1, 28, 28), (6, 1, 3, 3), 1), ((64, 6, 14, 14), (16, 6, 5, 5), 0)):
        x, weight = cupy.asarray(numbers(1, *shape)), cupy.asarray(numbers(2, *filters))
        attrs = {"paddings": [paddings] * 2}
        with counted() as seen:
            y = OPS["conv2d"].overrides["cupy"][0](cupy, x, weight, **attrs)
        assert (seen.launches, seen.waits, seen.to_device) == (1, 0, 0)
        with counted() as seen:
            OPS["conv2d_grad"].overrides["cupy"][0](cupy, x, weight, y, **attrs)
        assert (seen.launches, seen.waits, seen.to_device) == (3, 0, 0)


def test_unserved_convolutions_go_to_the_default(cupy: Any) -> None:
    from engine.kernels.cupy.images import convolution
    from engine.kernels.cupy.images.convolution_operators import _found

    found = _found("conv2d", (1 << 20, 3, 64, 64), (6, 3, 3, 3), ())
    assert found is None  # 2**32 places
    found = _found("conv2d", (1, 1, 1, 1), (1 << 20, 1, 1, 1), ())
    assert found is None  # 65536 tiles of 16 filters, along an axis of the grid that has 65535
    small = _found("conv2d", (1, 3, 64, 64), (6, 3, 3, 3), ())
    assert small is not None
    assert convolution.serves(small)
    x = cupy.asarray(numbers(1, 1, 2, 3, 3))
    with pytest.raises(TypeError, match="dtypes do not fit"):
        OPS["conv2d"].overrides["cupy"][0](cupy, x, cupy.asarray(numbers(2, 1, 2, 2, 2, dtype=np.float64)))


def test_an_axis_of_one_element_may_have_any_stride(cupy: Any) -> None:
    x = cupy.asarray(numbers(1, 2, 3, 1, 4))
    far = cupy.ndarray(x.shape, x.dtype, x.data, strides=(*x.strides[:2], 1 << 40, x.strides[3]))
    weight = numbers(2, 2, 3, 1, 2)
    assert run(cupy, "conv2d", far, weight)[0].tobytes() == run(cupy, "conv2d", x, weight)[0].tobytes()


def _low(values: Any) -> Any:
    """float32 rounded to bfloat16, as its bits."""
    return bfloat.plain(bfloat.narrow(np, values))


def test_bfloat16_is_read_as_its_bits_and_rounded_once(cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from engine.eager.tensor import Tensor
    from engine.kernels.cupy.images import convolution_operators

    attrs: dict[str, Any] = {"paddings": [1, 1]}
    x, weight, g = _low(numbers(1, 2, 5, 4, 4)), _low(numbers(2, 6, 5, 3, 3)), _low(numbers(3, 2, 6, 4, 4))
    wide = [bfloat.widen(np, a).astype(np.float64) for a in (x, weight, g)]
    want = OPS["conv2d"].kernel(np, *wide[:2], **attrs), *OPS["conv2d_grad"].kernel(np, *wide, **attrs)
    for served in (True, False):
        if not served:  # the default kernel computes in float32 then
            monkeypatch.setattr(convolution_operators, "_sizes", lambda *_: None)
        got = [*run(cupy, "conv2d", x, weight, **attrs), *run(cupy, "conv2d_grad", x, weight, g, **attrs)]
        for a, b in zip(got, want, strict=True):
            assert a.dtype == np.uint16
            np.testing.assert_allclose(bfloat.widen(np, a), b, rtol=2**-8, atol=2**-18)
    monkeypatch.undo()
    tensors = [Tensor(cupy.asarray(a)) for a in (x, weight)]
    with counted() as seen:
        made = conv2d(*tensors, **attrs)
    assert seen.launches == 1  # nothing was widened
    assert made._array.get().tobytes() == run(cupy, "conv2d", x, weight, **attrs)[0].tobytes()
