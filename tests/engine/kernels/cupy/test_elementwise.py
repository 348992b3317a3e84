"""Chains of elementwise operators on a GPU: one launch, bitwise identical to NumPy, any layout, and
fallbacks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

from engine.core.operators.opdef import OPS
from engine.kernels.choice import kernels
from engine.ops.elementwise.fused import Steps
from tests.cupy_stand_in.counts import counted
from tests.cupy_stand_in.module import gpu, installed

ARITHMETIC = Steps(
    (
        ("elementwise_add", (0, 1), ()),
        ("relu", (2,), ()),
        ("elementwise_mul", (3, 0), ()),
        ("scale", (4,), (("scale", 0.3), ("bias", 0.7))),
        ("elementwise_sub", (5, 3), ()),
        ("elementwise_div", (6, 1), ()),
        ("sqrt", (3,), ()),
    )
)
MASKED = Steps(
    (
        ("greater_than", (0, 1), ()),
        ("logical_not", (2,), ()),
        ("where", (3, 0, 1), ()),
        ("cast", (2,), (("out_dtype", "float32"),)),
    )
)
WHOLE = Steps(
    (
        ("elementwise_mul", (0, 1), ()),
        ("elementwise_sub", (2, 1), ()),
        ("elementwise_max", (3, 0), ()),
        ("less_than", (4, 1), ()),
    )
)


@pytest.fixture(scope="module", autouse=True)
def cupy() -> Iterator[Any]:
    with nullcontext() if gpu() else installed(), kernels.guard("auto"):
        import cupy

        import engine.kernels.cupy

        assert engine.kernels.cupy.xp is cupy
        yield cupy


def _numbers(seed: int, *shape: int, dtype: Any = np.float32) -> Any:
    found = 3 * np.random.default_rng(seed).standard_normal(shape)
    return (found * 1e9 if np.dtype(dtype).kind == "i" else found).astype(dtype)


def _moved(cupy: Any, x: Any) -> Any:
    """The array on the device in its layout: through its base."""
    if x.base is None:
        return cupy.asarray(x)
    whole = cupy.asarray(x.base)
    start = (x.ctypes.data - x.base.ctypes.data) // x.itemsize
    if min(x.strides, default=0) < 0:
        return whole[::-1]
    view = cupy.ndarray(x.shape, x.dtype, whole.reshape(-1)[start:].data, x.strides)
    return view


def _both(cupy: Any, xs: list[Any], steps: Steps, outputs: tuple[int, ...]) -> tuple[list[Any], list[Any]]:
    """Results of our kernel, in one launch, and of NumPy's operators one by one."""
    want = OPS["fused_elementwise"].kernel(np, xs, steps=steps, outputs=outputs)
    given = [_moved(cupy, x) for x in xs]
    kernel, _ = OPS["fused_elementwise"].kernel_for("cupy")
    with counted() as counts:
        got = kernel(cupy, given, steps=steps, outputs=outputs)
    if not gpu():
        assert (counts.launches, counts.to_device, counts.waits) == (1, 0, 0)
    return [g.get() for g in got], list(want)


def _same(got: list[Any], want: list[Any]) -> None:
    for a, b in zip(got, want, strict=True):
        assert (a.dtype, a.shape, a.flags.c_contiguous) == (b.dtype, b.shape, True)
        np.testing.assert_array_equal(a, b)


LAYOUTS = {
    "in a row": lambda kind: [_numbers(1, 5, 7, dtype=kind), _numbers(2, 5, 7, dtype=kind)],
    "row of a bias": lambda kind: [_numbers(1, 3, 5, 7, dtype=kind), _numbers(2, 7, dtype=kind)],
    "channels": lambda kind: [_numbers(1, 3, 5, 7, dtype=kind), _numbers(2, 5, 1, dtype=kind)],
    "turned": lambda kind: [_numbers(1, 7, 5, dtype=kind).T, _numbers(2, 5, 7, dtype=kind)],
    "backwards": lambda kind: [_numbers(1, 41, dtype=kind)[::-1], _numbers(2, 41, dtype=kind)],
    "with gaps": lambda kind: [_numbers(1, 6, 9, dtype=kind)[1:, 2:7], _numbers(2, 5, 5, dtype=kind)],
    "each broadcasts": lambda kind: [_numbers(1, 5, 1, dtype=kind), _numbers(2, 7, dtype=kind)],
    "one number": lambda kind: [_numbers(1, dtype=kind), _numbers(2, dtype=kind)],
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_arithmetic_has_the_bits_of_numpy_in_every_layout(cupy: Any, layout: str) -> None:
    xs = LAYOUTS[layout](np.float32)
    _same(*_both(cupy, xs, ARITHMETIC, (4, 7, 8)))


def test_doubles_and_wide_indices_give_the_same_bits(cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.kernels.cupy.chain._INT", 0)
    steps = Steps(ARITHMETIC)
    _same(*_both(cupy, LAYOUTS["channels"](np.float64), steps, (4, 7, 8)))
    if not gpu():
        (launch,) = steps.launches.values()
        assert "i64 at" in launch._kernel.code


def test_truths_and_choices_take_nan_as_numpy_does(cupy: Any) -> None:
    x, y = LAYOUTS["in a row"](np.float32)
    x[0, :3], y[0, 1:4] = np.nan, np.nan
    x[1, 0], x[1, 1] = np.inf, -np.inf
    _same(*_both(cupy, [x, y], MASKED, (3, 4, 5)))


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_integers_wrap_around(cupy: Any, kind: Any) -> None:
    _same(*_both(cupy, LAYOUTS["in a row"](kind), WHOLE, (4, 5)))


def test_half_precision_is_rounded_after_each_operator(cupy: Any) -> None:
    """An operator is computed in float: one that NumPy computes in several roundings may differ by one."""
    steps = Steps((("elementwise_add", (0, 1), ()), ("elementwise_mul", (2, 0), ()), ("square", (3,), ())))
    _same(*_both(cupy, LAYOUTS["in a row"](np.float16), steps, (2, 3, 4)))


def test_functions_are_near_those_of_numpy(cupy: Any) -> None:
    names = ("gelu", "silu", "softplus", "logsigmoid", "elu", "expm1", "erf", "mish", "tanh", "log1p")
    steps = Steps(tuple((name, (0,), ()) for name in names))
    x = np.concatenate([np.linspace(-40, 40, 81), [0.0, -0.0, 1e-9, -1e-300, np.inf, np.nan]])
    got, want = _both(cupy, [x], steps, tuple(range(1, 11)))
    for name, a, b in zip(names, got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14, err_msg=name)  # NumPy's silu cancels there


def test_numbers_of_attributes_need_no_other_kernel(cupy: Any) -> None:
    from engine.kernels.cupy import elementwise

    kernel = elementwise.single("leaky_relu")
    x = _numbers(1, 9)
    found = []
    for alpha in (0.1, 0.25):
        got = kernel(cupy, cupy.asarray(x), alpha=alpha).get()
        np.testing.assert_array_equal(got, np.where(x > 0, x, x * np.float32(alpha)))
        layout = ((x.shape, x.strides, x.dtype),)
        found.append(elementwise._of_one("leaky_relu", (("alpha", alpha),), layout, None))
    assert found[0] is not found[1]
    assert found[0]._kernel is found[1]._kernel


def test_results_are_written_into_the_arrays_of_the_plan(cupy: Any) -> None:
    x, y = LAYOUTS["turned"](np.float32)
    given = [_moved(cupy, x), cupy.asarray(y)]
    kernel, _ = OPS["fused_elementwise"].kernel_for("cupy")
    want = OPS["fused_elementwise"].kernel(np, [x, y], steps=ARITHMETIC, outputs=(7, 4))
    got = kernel(cupy, given, steps=ARITHMETIC, outputs=(7, 4), out=[given[0], None])
    assert got[0] is given[0]
    for a, b in zip(got, want, strict=True):
        np.testing.assert_array_equal(a.get(), b)


def test_nothing_is_launched_for_no_elements(cupy: Any) -> None:
    kernel, _ = OPS["fused_elementwise"].kernel_for("cupy")
    with counted() as counts:
        got = kernel(cupy, [cupy.zeros((0, 3)), cupy.zeros(3)], steps=ARITHMETIC, outputs=(8,))
    assert got[0].shape == (0, 3)
    assert counts.launches <= 2  # the zeros


def test_operators_without_a_rule_are_handed_over(cupy: Any) -> None:
    """A cast of floats to integers, an integer division, complex numbers."""
    kernel, _ = OPS["fused_elementwise"].kernel_for("cupy")
    x = cupy.asarray(_numbers(1, 5))
    steps = Steps((("cast", (0,), (("out_dtype", "int64"),)), ("elementwise_add", (1, 1), ())))
    (got,) = kernel(cupy, [x], steps=steps, outputs=(2,))
    np.testing.assert_array_equal(got.get(), 2 * x.get().astype(np.int64))
    z = cupy.asarray(_numbers(1, 5) + 1j)
    clip, _ = OPS["scale"].kernel_for("cupy")
    np.testing.assert_allclose(clip(cupy, z, scale=2.0, bias=1.0).get(), 2 * z.get() + 1)


def test_layouts_that_are_remembered_are_bounded(cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.kernels.cupy.elementwise._LAYOUTS", 3)
    steps = Steps(ARITHMETIC)
    kernel, _ = OPS["fused_elementwise"].kernel_for("cupy")
    for n in range(1, 9):
        kernel(cupy, [cupy.ones(n), cupy.ones(n)], steps=steps, outputs=(8,))
        assert len(steps.launches) <= 3
