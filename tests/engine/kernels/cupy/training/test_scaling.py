"""Loss scaling on a GPU: two launches for gradients of a dtype, no waits, scales change as on the CPU."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

from engine.core.operators.opdef import OPS
from engine.core.values.bfloat import narrow, widen
from engine.kernels.choice import kernels
from tests.cupy_stand_in.counts import counted
from tests.cupy_stand_in.module import gpu, installed

SHAPES = [(3, 4), (5,), (0, 2), (), (700,)]


@pytest.fixture(scope="module", autouse=True)
def cupy() -> Iterator[Any]:
    with nullcontext() if gpu() else installed(), kernels.guard("auto"):
        import cupy

        import engine.kernels.cupy

        assert engine.kernels.cupy.xp is cupy
        yield cupy


def _gradients(kind: str) -> list[Any]:
    rng = np.random.default_rng(0)
    return [np.asarray(9 * rng.standard_normal(shape)).astype(kind) for shape in SHAPES]


@pytest.mark.parametrize("bad", [None, np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", ["float32", "float64", "float16"])
def test_gradients_are_divided_or_become_zeros(cupy: Any, kind: str, bad: Any) -> None:
    given = _gradients(kind)
    if bad is not None:
        given[4][650] = bad
    scale = np.array([1024.0], np.float32)
    with np.errstate(invalid="ignore"):
        want = OPS["check_finite_and_unscale"].kernel(np, given, scale)
    moved = [cupy.asarray(g) for g in given]
    on_gpu = cupy.asarray(scale)
    for choice in ("auto", "numpy"):
        with kernels.guard(choice), counted() as counts:
            got = OPS["check_finite_and_unscale"].kernel_for("cupy")[0](cupy, moved, on_gpu)
        assert (counts.waits, counts.to_device) == (0, 0)
        assert gpu() or choice == "numpy" or counts.launches <= 3  # a zero, a look, a division
        for a, b in zip(got, want, strict=True):
            assert (a.dtype, a.shape) == (b.dtype, b.shape)
            np.testing.assert_array_equal(a.get(), b)


def test_dtypes_may_differ_and_one_that_is_not_finite_is_enough(cupy: Any) -> None:
    single, half = _gradients("float32")[0], _gradients("float16")[1]
    low = narrow(cupy, cupy.asarray(single))
    scale = cupy.asarray(np.array([2.0], np.float32))
    unscale = OPS["check_finite_and_unscale"].kernel_for("cupy")[0]
    one, two, three, found = unscale(cupy, [cupy.asarray(single), cupy.asarray(half), low], scale)
    assert not found.get()[0]
    np.testing.assert_array_equal(one.get(), single / 2)
    np.testing.assert_array_equal(two.get(), half / 2)
    np.testing.assert_array_equal(widen(cupy, three).get(), widen(cupy, low).get() / 2)
    half[2] = np.inf
    *made, found = unscale(cupy, [cupy.asarray(single), cupy.asarray(half), low], scale)
    assert found.get()[0]
    assert not any(each.get().any() for each in made)


def test_the_scale_follows_good_and_bad_steps_without_a_wait(cupy: Any) -> None:
    opdef = OPS["update_loss_scaling"]
    attrs = {"incr_every_n_steps": 2, "decr_every_n_nan_or_inf": 2, "incr_ratio": 4.0, "decr_ratio": 0.3}
    state = [np.array([8.0], np.float32), np.zeros(1, np.int32), np.zeros(1, np.int32)]
    moved = [cupy.asarray(each) for each in state]
    for step, bad in enumerate((0, 0, 0, 1, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0)):
        if step == 6:
            state[0][:] = moved[0][:] = np.float32(3e38)  # may not grow beyond
        found = np.array([bool(bad)])
        on_gpu = cupy.asarray(found)
        with counted() as counts:
            opdef.kernel_for("cupy")[0](cupy, on_gpu, *moved, **attrs)
        assert (counts.waits, counts.to_device) == (0, 0)
        opdef.kernel(np, found, *state, **attrs)
        for a, b in zip(moved, state, strict=True):
            assert a.get() == b, f"step {step}"
