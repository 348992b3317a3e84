"""Adaptive rounding against all ways of rounding, and layers written as products of matrices."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import engine
from engine.core.errors import ArgumentError
from engine.nn import functional as F
from engine.quantization.calibration import weight_thresholds
from engine.quantization.options import QuantizeOptions
from engine.quantization.quantize_model import quantize_layer
from engine.quantization.weights.contraction import contraction_of
from engine.quantization.weights.rounding import Correlation, adaptive_rounding
from engine.static import InputSpec
from tests.engine.quantization.calibration.paddle.small_lenet import BATCH, SAMPLES, random_images
from tests.engine.quantization.calibration.test_against_paddle import lenet

IMAGE = {
    "strides": (1, 1),
    "paddings": (0, 0),
    "dilations": (1, 1),
    "groups": 1,
    "padding_algorithm": "EXPLICIT",
    "data_format": "NCHW",
}


def drawn(*shape: int, seed: int = 0) -> np.ndarray:
    found: np.ndarray = np.random.default_rng(seed).normal(size=shape).astype("float32")
    return found


CONVOLUTIONS: list[tuple[dict[str, Any], tuple[int, ...], tuple[int, ...]]] = [
    ({}, (2, 3, 6, 7), (4, 3, 3, 2)),
    ({"strides": (2, 1), "paddings": (1, 2)}, (2, 3, 6, 7), (4, 3, 3, 3)),
    ({"groups": 3, "paddings": (1, 0, 2, 1), "dilations": (2, 1)}, (2, 3, 7, 7), (6, 1, 2, 2)),
    ({"padding_algorithm": "SAME", "strides": (2, 2)}, (1, 2, 5, 4), (2, 2, 3, 3)),
    ({"data_format": "NHWC"}, (2, 5, 5, 3), (4, 3, 3, 3)),
]


@pytest.mark.parametrize(("attrs", "fed", "filters"), CONVOLUTIONS)
def test_convolutions_are_products(attrs: dict[str, Any], fed: Any, filters: Any) -> None:
    attrs = {**IMAGE, **attrs}
    x, w = drawn(*fed), drawn(*filters, seed=1)
    made = contraction_of("conv2d", attrs, filters)
    assert made is not None
    results = np.matmul(made.values(x), made.rows(w).swapaxes(1, 2))  # [groups, any, channels]
    padding: Any = "SAME" if attrs["padding_algorithm"] == "SAME" else list(attrs["paddings"])
    if isinstance(padding, list) and attrs["data_format"] == "NHWC":
        padding = 0
    expected = F.conv2d(
        engine.to_tensor(x),
        engine.to_tensor(w),
        stride=list(attrs["strides"]),
        padding=padding,
        dilation=list(attrs["dilations"]),
        groups=attrs["groups"],
        data_format=attrs["data_format"],
    ).numpy()
    if attrs["data_format"] == "NCHW":
        expected = expected.transpose(0, 2, 3, 1)
    expected = expected.reshape(-1, made.groups, filters[0] // made.groups).transpose(1, 0, 2)
    np.testing.assert_allclose(results, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(made.weight(made.rows(w)), w)


@pytest.mark.parametrize(
    ("op", "attrs", "fed", "weight", "call"),
    [
        ("matmul_v2", {"trans_x": False, "trans_y": False}, (2, 3, 5), (5, 4), lambda x, w: x @ w),
        ("matmul_v2", {"trans_x": True, "trans_y": True}, (5, 6), (4, 5), lambda x, w: x.T @ w.T),
        (
            "mul",
            {"x_num_col_dims": 1, "y_num_col_dims": 1},
            (3, 2, 5),
            (10, 4),
            lambda x, w: x.reshape(3, 10) @ w,
        ),
    ],
)
def test_products_are_products(op: str, attrs: Any, fed: Any, weight: Any, call: Any) -> None:
    x, w = drawn(*fed), drawn(*weight, seed=1)
    made = contraction_of(op, attrs, weight)
    assert made is not None
    results = np.matmul(made.values(x), made.rows(w).swapaxes(1, 2))[0]
    np.testing.assert_allclose(results, call(x, w).reshape(-1, 4), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(made.weight(made.rows(w)), w)


def test_other_operators_have_no_contraction() -> None:
    assert contraction_of("conv2d_transpose", IMAGE, (3, 4, 3, 3)) is None
    assert contraction_of("matmul_v2", {}, (2, 3, 4)) is None


def correlated(samples: int, entries: int) -> np.ndarray:
    """Values that go together: then errors can make up for each other."""
    return drawn(samples, 3) @ drawn(3, entries, seed=1) + 0.3 * drawn(samples, entries, seed=2)


def test_no_other_single_rounding_is_better_and_the_best_of_all_is_near() -> None:
    x, w = correlated(200, 6), drawn(6, 8, seed=3)
    thresholds = weight_thresholds(w, 1, 3)
    made = contraction_of("matmul_v2", {}, w.shape)
    assert made is not None
    correlation = Correlation(made)
    for part in np.split(x, 4):
        correlation.collect(part)
    found = adaptive_rounding(w, thresholds, 1, 3, correlation)
    exact = w / thresholds * 3
    h = correlation.mean()[0]

    def loss(integers: np.ndarray) -> np.ndarray:
        error = (integers - exact).astype(np.float64)
        of_channels: np.ndarray = np.einsum("ic,ij,jc->c", error, h, error)
        return of_channels

    nearest = np.rint(exact)
    assert np.abs(found - exact).max() < 1
    assert (loss(found) <= loss(nearest) + 1e-9).all()
    assert loss(found).sum() < 0.7 * loss(nearest).sum()
    for i in range(6):
        other = found.copy()
        other[i] = np.where(found[i] > exact[i], np.floor(exact[i]), np.ceil(exact[i]))
        assert (loss(other) >= loss(found) - 1e-6).all()
    ways = [
        np.where(np.array(up)[:, None], np.ceil(exact), np.floor(exact)) for up in product((0, 1), repeat=6)
    ]
    best = np.min([loss(way) for way in ways], axis=0)
    assert loss(found).sum() < 1.5 * best.sum()


def test_the_mean_is_that_of_all_batches() -> None:
    made = contraction_of("matmul_v2", {}, (6, 2))
    assert made is not None
    correlation, x = Correlation(made), correlated(40, 6)
    for part in (x[:30], x[30:]):
        correlation.collect(part)
    exact = x.T.astype(np.float64) @ x / 40
    damped = exact + 0.01 * np.trace(exact) / 6 * np.eye(6)
    np.testing.assert_allclose(correlation.mean()[0], damped, rtol=1e-5)


def test_integers_stay_in_range_and_whole_weights_stay() -> None:
    w = np.array([[1.0, -1.0, 0.5, 0.0], [0.9, -0.9, 0.3, 0.0]], np.float32).T
    made = contraction_of("matmul_v2", {}, w.shape)
    assert made is not None
    correlation = Correlation(made)
    correlation.collect(correlated(50, 4))
    for bits in (2, 3):
        highest = 2 ** (bits - 1) - 1
        found = adaptive_rounding(w, np.array([0.5], np.float32), None, bits, correlation)
        assert -highest - 1 <= found.min()
        assert found.max() <= highest
    zero = adaptive_rounding(0 * w, np.zeros(2, np.float32), 1, 8, correlation)
    assert not zero.any()
    whole = np.array([[3, -2], [1, 0], [2, 2], [-3, 1]], np.float32)
    np.testing.assert_array_equal(adaptive_rounding(whole, np.array([7.0]), None, 4, correlation), whole)


SPEC = [InputSpec([None, 1, 20, 20], name="x")]


def test_a_trained_network_with_weights_of_3_bits_answers_more_like_itself() -> None:
    fed, others = random_images(SAMPLES, seed=2)[0], random_images(200, seed=7)[0]
    batches = [fed[i : i + BATCH] for i in range(0, SAMPLES, BATCH)]
    exact = lenet()(engine.to_tensor(others)).numpy()
    noises = []
    for rounding in ("nearest", "adaptive"):
        options = QuantizeOptions(algo="abs_max", weight_bits=3, rounding=rounding)
        found = quantize_layer(lenet(), SPEC, batches, options)
        answers = found.layer()(engine.to_tensor(others)).numpy()
        noises.append(float(np.square(answers - exact).mean()))
    assert noises[1] < 0.5 * noises[0]


def test_progress_can_end_the_rounding_between_layers() -> None:
    fed, reported = [random_images(8, seed=2)[0]], []

    def progress(done: int, total: int | None) -> None:
        reported.append(done)
        if len(reported) == 3:  # after the batch and a layer
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        quantize_layer(lenet(), SPEC, fed, QuantizeOptions(algo="abs_max", rounding="adaptive"), progress)
    assert reported == [8, 8, 8]


def test_without_data_there_is_only_the_nearest() -> None:
    with pytest.raises(ArgumentError, match="'adaptive' needs calibration data"):
        quantize_layer(lenet(), SPEC, None, QuantizeOptions(rounding="adaptive"))
    with pytest.raises(ArgumentError, match="rounding 'random' is unknown; choose from nearest, adaptive"):
        QuantizeOptions(rounding="random")
    with pytest.raises(ArgumentError, match="equalize is True or False"):
        QuantizeOptions(equalize=1)  # type: ignore[arg-type]
