"""Convolutions by Winograd's transforms against NumPy's, and who takes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

from engine.core.operators.opdef import OPS
from engine.core.values.spec import Spec
from engine.kernels.cpu import pool
from engine.kernels.fast import register
from engine.kernels.fast.images.winograd_transforms import transforms
from engine.ops.images import conv_makers

PLAIN = {
    "strides": (1, 1),
    "paddings": (1, 1),
    "padding_algorithm": "EXPLICIT",
    "dilations": (1, 1),
    "groups": 1,
    "data_format": "NCHW",
}


@pytest.fixture(scope="module", autouse=True)
def makers() -> None:
    register()


@pytest.mark.parametrize("m", [2, 4])
def test_transforms_give_the_sums_of_products(m: int) -> None:
    rng = np.random.default_rng(m)
    image, filters = rng.standard_normal((m + 2, m + 2)), rng.standard_normal((3, 3))
    result, of_filters, of_image = (np.array(matrix) for matrix in transforms(m))
    product = (of_filters @ filters @ of_filters.T) * (of_image @ image @ of_image.T)
    wanted = [[np.sum(image[r : r + 3, c : c + 3] * filters) for c in range(m)] for r in range(m)]
    np.testing.assert_allclose(result @ product @ result.T, wanted, rtol=1e-12, atol=1e-12)


def _samples_last(values: Any) -> Any:
    return np.ascontiguousarray(values.transpose(2, 1, 3, 0)).transpose(3, 1, 0, 2)


class Convolution:
    """The compiled kernels of one convolution, and NumPy's."""

    def __init__(self, x: Any, weight: Any, attrs: dict[str, Any]) -> None:
        rng = np.random.default_rng(7)
        self.x = _samples_last(rng.standard_normal(x, dtype=np.float32))
        self.weight = rng.standard_normal(weight, dtype=np.float32)
        self.bias = rng.standard_normal(weight[:1], dtype=np.float32)
        self.attrs = PLAIN | attrs
        self.fused = self.attrs | {"activation": "relu"}
        self.both = self.attrs | {"need_x": True, "need_weight": True}
        shape = OPS["conv2d"].infer_specs([Spec.of(self.x), Spec.of(self.weight)], self.attrs)[0].shape
        self.g = rng.standard_normal(shape, dtype=np.float32)
        self.forward = self._compiled("conv2d_fusion", (self.x, self.weight, self.bias), self.fused)
        self.backward = self._compiled("conv2d_grad", (self.x, self.weight, self.g), self.both)

    def _compiled(self, name: str, inputs: Any, attrs: Any) -> Any:
        made = OPS[name].fast([Spec.of(a) for a in inputs], attrs)
        assert all(h.wait(120) for h in made.handles)
        assert any("Winograd" in h.key for h in made.handles)
        return made.kernel

    def compare(self) -> None:
        """NumPy's results and the compiled ones: rounding apart, and NaN and infinity in the same places."""
        found = (self.forward(self.x, self.weight, self.bias), *self.backward(self.x, self.weight, self.g))
        with np.errstate(invalid="ignore"):
            wanted = (
                OPS["conv2d_fusion"].kernel(np, self.x, self.weight, self.bias, **self.fused),
                *OPS["conv2d_grad"].kernel(np, self.x, self.weight, self.g, **self.both),
            )
            for one, other in zip(found, wanted, strict=True):
                assert (one.dtype, one.shape) == (other.dtype, other.shape)
                size = np.abs(other[np.isfinite(other)]).max()
                np.testing.assert_allclose(one, other, rtol=1e-5, atol=5e-6 * size)


@pytest.fixture(scope="module")
def odd() -> Convolution:
    """Sizes that nothing divides: channels, filters, samples, tiles of a row and of a column."""
    return Convolution((13, 17, 7, 6), (35, 17, 3, 3), {})


def test_results_and_gradients_agree_with_numpy(odd: Convolution) -> None:
    odd.compare()


@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
@pytest.mark.parametrize("value", [np.nan, np.inf, 3e38])
def test_infinity_and_nan_reach_only_their_outputs(odd: Convolution, value: float) -> None:
    before = odd.x[3, 4, 2, 2], odd.g[1, 5, 0, 3]
    odd.x[3, 4, 2, 2], odd.g[1, 5, 0, 3] = value, -value
    try:
        odd.compare()
    finally:
        odd.x[3, 4, 2, 2], odd.g[1, 5, 0, 3] = before


@pytest.fixture(scope="module")
def few() -> Convolution:
    """Images so small that an item has all of them, and makes the filters' transforms or gradients itself."""
    return Convolution((13, 259, 4, 3), (261, 259, 3, 3), {})


def test_convolutions_of_few_pixels_agree_with_numpy(few: Convolution) -> None:
    few.compare()


@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
def test_infinity_and_nan_in_few_pixels_reach_only_their_outputs(few: Convolution) -> None:
    before = few.x[3, 4, 2, 2], few.g[1, 5, 0, 1]
    few.x[3, 4, 2, 2], few.g[1, 5, 0, 1] = np.nan, np.inf
    try:
        few.compare()
    finally:
        few.x[3, 4, 2, 2], few.g[1, 5, 0, 1] = before


@pytest.mark.parametrize(
    ("x", "filters"), [((4, 18, 5, 4), 37), ((7, 33, 4, 4), 29), ((40, 130, 8, 8), 70)], ids=str
)
def test_samples_and_filters_that_fill_no_vector_agree_with_numpy(x: Any, filters: int) -> None:
    Convolution(x, (filters, x[1], 3, 3), {}).compare()


def test_weights_with_gaps_agree_with_numpy(odd: Convolution) -> None:
    contiguous, odd.weight = odd.weight, np.asfortranarray(odd.weight)
    try:
        odd.compare()
    finally:
        odd.weight = contiguous


def test_small_images_and_uneven_padding_agree_with_numpy() -> None:
    attrs = {"paddings": (2, 0, 1, 1), "data_format": "NCHW"}
    Convolution((8, 32, 2, 2), (16, 32, 3, 3), attrs).compare()


@pytest.mark.parametrize("which", ["odd", "few"])
def test_the_number_of_threads_changes_no_bit(
    which: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    one: Convolution = request.getfixturevalue(which)
    made = []
    for count in (1, 3):
        monkeypatch.setattr(pool.threads_, "get_num_threads", lambda count=count: count)
        made.append([one.forward(one.x, one.weight, one.bias), *one.backward(one.x, one.weight, one.g)])
    pool.dismiss()
    for alone, together in zip(*made, strict=True):
        np.testing.assert_array_equal(alone, together)


@pytest.mark.parametrize(
    ("x", "weight", "attrs"),
    [
        ((16, 3, 8, 8), (64, 3, 3, 3), {}),  # too few channels
        ((16, 32, 8, 8), (32, 32, 3, 3), {"strides": (2, 1)}),
        ((16, 32, 8, 8), (32, 32, 3, 3), {"dilations": (1, 2)}),
        ((16, 32, 8, 8), (32, 32, 1, 3), {}),
        ((16, 32, 8, 8), (32, 32, 3, 3), {"paddings": (3, 1)}),
        ((16, 64, 8, 8), (64, 32, 3, 3), {"groups": 2}),
    ],
)
def test_other_convolutions_are_sums_of_products(x: Any, weight: Any, attrs: Any) -> None:
    plan = conv_makers._plan([Spec(x, "float32"), Spec(weight, "float32")], PLAIN | attrs)
    assert plan is not None
    assert not conv_makers._by_transforms(plan)
