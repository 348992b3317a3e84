"""Normalization on a GPU: rows of their own statistics, channels of both formats, long channels in parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.core.operators.opdef import OPS
from tests.engine.kernels.cupy.against_numpy import same

TYPES = ["float32", "float64"]


def _drawn(dtype: str, *shapes: tuple[int, ...]) -> list[Any]:
    draws = np.random.default_rng(sum(map(len, shapes)))
    return [draws.normal(1, 2, size=shape).astype(dtype) for shape in shapes]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("scaled", [True, False])
def test_layers(cupy: Any, dtype: str, scaled: bool) -> None:
    for shape, begin in (
        ((3, 33), 1),
        ((2, 1030), 1),
        ((2, 3, 4), 1),
        ((2, 3, 4), -1),
        ((700, 9), 1),
        ((5,), 0),
    ):
        size = int(np.prod(shape[begin:]))
        x, g, scale, bias = _drawn(dtype, shape, shape, (size,), (size,))
        given = (scale, bias) if scaled else (None, None)
        same(cupy, "layer_norm", x, *given, begin_norm_axis=begin)
        _, mean, variance = OPS["layer_norm"].kernel(np, x, *given, begin_norm_axis=begin)
        launches = 3 if shape == (700, 9) else 2
        how = {"begin_norm_axis": begin, "launches": launches}
        same(cupy, "layer_norm_grad", x, g, mean, variance, given[0], **how)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("scaled", [True, False])
def test_groups_and_instances(cupy: Any, dtype: str, scaled: bool) -> None:
    for shape, layout in (
        ((2, 6, 5, 3), "NCHW"),
        ((2, 5, 3, 6), "NHWC"),
        ((3, 6), "NCHW"),
        ((2, 5, 6), "NLC"),
    ):
        x, g, scale, bias = _drawn(dtype, shape, shape, (6,), (6,))
        given = (scale, bias) if scaled else (None, None)
        for groups in (1, 3, 6):
            how = {"groups": groups, "data_layout": layout}
            same(cupy, "group_norm", x, *given, **how)
            _, mean, variance = OPS["group_norm"].kernel(np, x, *given, **how)
            same(cupy, "group_norm_grad", x, g, mean, variance, given[0], launches=2, **how)
        if layout == "NCHW":
            same(cupy, "instance_norm", x, *given)
            _, mean, inverse = OPS["instance_norm"].kernel(np, x, *given)
            same(cupy, "instance_norm_grad", x, g, mean, inverse, given[0], launches=2)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("how", [{}, {"is_test": True}, {"use_global_stats": True}])
def test_batches(cupy: Any, dtype: str, how: dict[str, Any]) -> None:
    for shape, layout in (
        ((4, 3), "NCHW"),
        ((2, 3, 5, 4), "NCHW"),
        ((2, 5, 4, 40), "NHWC"),
        ((2, 5, 4, 3), "NHWC"),
        ((3, 2, 1500), "NCL"),
        ((2, 2, 5000), "NCL"),
        ((900, 33), "NCHW"),
    ):
        channels = shape[-1] if layout == "NHWC" else shape[1]
        x, g, scale, bias, mean = _drawn(dtype, shape, shape, (channels,), (channels,), (channels,))
        once = 1 if shape[-1] != 5000 and shape != (900, 33) else 2
        alone = 1 if how else once
        attrs = {"data_layout": layout, **how}
        same(cupy, "batch_norm", x, scale, bias, mean, mean**2, launches=alone, momentum=0.8, **attrs)
        *_, saved, inverse = OPS["batch_norm"].kernel(np, x, scale, bias, mean, mean**2, **attrs)
        same(cupy, "batch_norm_grad", x, scale, g, saved, inverse, launches=once, **attrs)


def test_half_with_statistics_in_float(cupy: Any) -> None:
    (x, g), (scale, bias, mean) = _drawn("float16", (4, 3, 5), (4, 3, 5)), _drawn("float32", (3,), (3,), (3,))
    same(cupy, "batch_norm", x, scale, bias, mean, mean**2)
    *_, saved, inverse = OPS["batch_norm"].kernel(np, x, scale, bias, mean, mean**2)
    same(cupy, "batch_norm_grad", x, scale, g, saved, inverse)
    same(cupy, "layer_norm", *_drawn("float16", (3, 33), (33,), (33,)))


def test_statistics_far_from_zero_keep_their_digits(cupy: Any) -> None:
    x = (1e4 + np.random.default_rng(0).normal(size=(2, 2, 5000))).astype(np.float32)
    one, zero = np.ones(2, np.float32), np.zeros(2, np.float32)
    kernel, _ = OPS["batch_norm"].kernel_for("cupy")
    y, *_, inverse = kernel(cupy, *map(cupy.asarray, (x, one, zero, zero, one)))
    np.testing.assert_allclose(1 / inverse.get() ** 2, x.astype(float).var(axis=(0, 2)) + 1e-5, rtol=3e-5)
    assert np.abs(y.get().mean(axis=(0, 2))).max() < 2e-3


def test_nan_stays_in_its_row(cupy: Any) -> None:
    x = np.arange(66, dtype=np.float32).reshape(2, 33)
    x[0, 5] = np.nan
    same(cupy, "layer_norm", x)
    x[0, 5] = np.inf
    same(cupy, "layer_norm", x)
    same(cupy, "layer_norm", np.full((2, 7), 3.0, np.float32))
