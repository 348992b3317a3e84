"""Compiled poolings against NumPy's: ties, NaN, padding, any order of the axes in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.core.operators.opdef import OPS
from engine.core.values.spec import Spec
from engine.kernels.fast import register

PLAIN = {
    "pooling_type": "max",
    "ksize": (2, 2),
    "strides": (2, 2),
    "paddings": (0, 0),
    "global_pooling": False,
    "ceil_mode": False,
    "exclusive": True,
    "adaptive": False,
    "padding_algorithm": "EXPLICIT",
    "data_format": "NCHW",
}

# Height and width of the image, and differences from PLAIN.
CASES = [
    (6, 8, {}),
    (7, 5, {"ceil_mode": True, "pooling_type": "avg"}),
    (7, 6, {"ksize": (3, 3), "paddings": (1, 1)}),
    (
        5,
        9,
        {
            "ksize": (3, 2),
            "strides": (1, 3),
            "paddings": (1, 0, 2, 1),
            "pooling_type": "avg",
            "exclusive": False,
        },
    ),
    (4, 6, {"ksize": (2, 3), "adaptive": True, "data_format": "NHWC"}),
    (5, 5, {"global_pooling": True, "pooling_type": "avg"}),
]


@pytest.fixture(scope="module", autouse=True)
def makers() -> None:
    register()


def _fast(name: str, inputs: Any, attrs: Any) -> Any:
    made = OPS[name].fast([Spec.of(a) for a in inputs], attrs)
    assert made is not None
    assert all(h.wait(120) for h in made.handles)
    return made.kernel


@settings(max_examples=6, deadline=None)
@given(st.data(), st.integers(0, 2**31))
@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case[2]))
def test_compiled_poolings_agree_with_numpy(case: Any, data: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    height, width, changed = case
    attrs = PLAIN | changed
    samples, channels = data.draw(st.sampled_from([5, 8, 13, 16, 33])), data.draw(st.integers(1, 3))
    x = rng.integers(-2, 3, (samples, channels, height, width)).astype(np.float32)  # many ties
    for odd in data.draw(st.lists(st.sampled_from([np.nan, np.inf, -np.inf]), max_size=4)):
        x.flat[rng.integers(x.size)] = odd
    if data.draw(st.booleans()):
        x[0] = -np.inf
    axes = data.draw(st.sampled_from([(0, 1, 2, 3), (1, 2, 3, 0), (2, 1, 3, 0)]))
    x = np.ascontiguousarray(x.transpose(axes)).transpose(np.argsort(axes))
    if attrs["data_format"] == "NHWC":
        x = x.transpose(0, 2, 3, 1)
    wanted = OPS["pool2d"].kernel(np, x, **attrs)
    found = _fast("pool2d", [x], attrs)(x)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    assert found.dtype == np.float32
    g = rng.standard_normal(wanted.shape).astype(np.float32)
    wanted_grad = OPS["pool2d_grad"].kernel(np, x, wanted, g, **attrs)
    found_grad = _fast("pool2d_grad", [x, wanted, g], attrs)(x, wanted, g)
    np.testing.assert_allclose(found_grad, wanted_grad, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("changed", [{}, {"data_format": "NHWC"}], ids=["empty", "channels last"])
def test_empty_images_and_uneven_windows_with_channels_last_stay_with_numpy(changed: Any) -> None:
    spec = Spec((8, 5, 6, 2) if changed else (8, 2, 0, 4), "float32")
    assert OPS["pool2d"].fast([spec], PLAIN | {"ksize": (2, 4), "adaptive": True} | changed) is None
