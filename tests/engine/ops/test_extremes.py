"""Sizes and values at which NumPy reads elsewhere, takes all memory or never ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import linalg
from engine.core.errors import ArgumentError, EngineError, OutOfRangeError, ShapeError
from engine.core.operators.opdef import OPS
from engine.core.values.spec import Spec
from engine.ops.detection import roi
from engine.ops.sparse import rows


@pytest.mark.parametrize("offset", [2**31, -(2**31), 2**63 - 1, -(2**63)])
def test_a_diagonal_outside_the_matrix_is_empty(offset: int) -> None:
    x = paddle.ones([3, 4])
    assert paddle.diagonal(x, offset=offset).shape == [0]
    assert paddle.diag(x, offset=offset).shape == [0]


def test_indices_of_a_triangle_take_memory_for_the_triangle_only() -> None:
    wide = paddle.tril_indices(3, 10**12, -1).numpy()
    np.testing.assert_array_equal(wide, np.stack(np.tril_indices(3, -1)))
    tall = paddle.triu_indices(10**12, 3, 1).numpy()
    np.testing.assert_array_equal(tall, np.stack(np.triu_indices(3, 1)))
    assert paddle.tril_indices(10**12, 0, 0).shape == [2, 0]


SPECTRAL: dict[str, Callable[[Any], Any]] = {
    "svd": linalg.svd,
    "pinv": linalg.pinv,
    "lstsq": lambda x: linalg.lstsq(x, paddle.ones(x.shape, x.dtype)),
    "matrix_rank": linalg.matrix_rank,
    "cond": linalg.cond,
}


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, complex(0, np.inf)])
@pytest.mark.parametrize("name", SPECTRAL)
def test_singular_values_of_what_is_not_finite_are_refused(name: str, value: complex) -> None:
    x = np.eye(3, dtype="complex64" if isinstance(value, complex) else "float32")
    x[0, 0] = value
    with pytest.raises(ArgumentError, match=r"x, shape \[3, 3\], contains NaN or infinity"):
        SPECTRAL[name](paddle.to_tensor(x))


def test_the_gradient_of_a_determinant_looks_at_its_input_first() -> None:
    x = paddle.to_tensor(np.full((3, 3), np.inf, "float32"), stop_gradient=False)
    with pytest.raises(ArgumentError, match="det: x, shape"):
        linalg.det(x).backward()


def test_a_mean_of_no_integer_is_refused() -> None:
    for mean in (1e30, 2.0**31, np.inf):
        with pytest.raises(OutOfRangeError, match="poisson: x holds means below 2147483647"):
            paddle.poisson(paddle.to_tensor([1.0, mean], "float64"))


def test_a_box_far_larger_than_its_map_takes_the_memory_of_the_map(monkeypatch: pytest.MonkeyPatch) -> None:
    x = paddle.to_tensor(np.random.default_rng(0).random((1, 2, 4, 4)), "float32")
    count = paddle.to_tensor([1], "int32")

    def means(side: float) -> Any:
        box = paddle.to_tensor([[-side, -side, side, side]], "float32")
        return paddle.vision.ops.roi_align(x, box, count, output_size=2, aligned=True).numpy()

    assert 0 < means(2e9).max() < 1e-15
    near = means(1e5)
    monkeypatch.setattr(roi, "_MANY", 10**9)  # all points
    np.testing.assert_array_equal(near, means(1e5))
    assert near.min() > 0


@pytest.mark.parametrize("size", [2**31, [2**31, 1]])
@pytest.mark.parametrize(
    "pool", [paddle.nn.functional.adaptive_avg_pool2d, paddle.nn.functional.adaptive_max_pool2d]
)
def test_adaptive_windows_are_not_listed_before_their_result_exists(
    pool: Callable[..., Any], size: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> Any:
        raise MemoryError("Unable to allocate")  # as on a computer with less memory than [2**31, 1] takes

    monkeypatch.setattr(np, "empty", full)
    monkeypatch.setattr(np, "zeros", full)
    with pytest.raises((MemoryError, EngineError)):
        pool(paddle.ones([1, 1, 4, 4]), size)


def test_gradients_of_another_size_are_refused() -> None:
    """Attributes and gradient of a Program that is not trusted: each kernel looks before it allocates."""
    x, g = Spec([4, 4], "float32"), Spec([4, 2, 3], "float32")
    strided = {"shape": [2, 10**9], "stride": [1, 0], "offset": 0}
    framed = {"frame_length": 2, "hop_length": 10**9, "axis": -1}
    for name, given, attrs in (("as_strided_grad", (g, x), strided), ("frame_grad", (x, g), framed)):
        with pytest.raises(ShapeError, match=f"{name}: the gradient is float32"):
            OPS[name].infer_specs(given, attrs)
    interpolated = OPS["bilinear_interp_v2_grad"].kernel
    with pytest.raises(ShapeError, match=r"the size of the result is \[1000000000, 4\]; the gradient is"):
        interpolated(np, np.ones((1, 1, 2, 2)), np.ones((1, 1, 4, 4)), np.array([10**9, 4]))
    ones, times = np.ones(3, np.float32), np.array([1, 1, 10**12])
    with pytest.raises(ShapeError, match="repeats add up to 1000000000002, the gradient has 3"):
        OPS["repeat_interleave_with_tensor_index_grad"].kernel(np, ones, ones, times)
    with pytest.raises(OutOfRangeError, match="rows are 0 to 1: got 1000000000000"):
        rows.summed(np, np.ones((1, 2)), np.array([10**12]), 2)
