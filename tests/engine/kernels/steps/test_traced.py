"""Traces of kernels compute what the kernels compute, on special and random values, for every writer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import engine  # noqa: F401
from engine.core.opdef import OPS, REQUIRED
from engine.core.spec import Spec
from engine.kernels.choice import kernels
from engine.kernels.steps.cost import cost_of, probed_cost
from engine.kernels.steps.traced import GivenNumber
from tests.cupy_stand_in.module import gpu, installed

SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, -1e-40, 3e38, -3e38, 1.0, -1.0, 0.5, 2.5]
NUMBERS = {"low": -0.5, "high": 0.5, "min": -1.5, "max": 1.5, "t_min": -1.0, "t_max": 1.0}
# Elementwise operators that compiled loops have no code for, and why: they stay with NumPy.
_LIBRARY = "a function of C's library, which has no code for vectors"
NOT_COMPILED = {
    **dict.fromkeys(("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh"), _LIBRARY),
    **dict.fromkeys(("cos", "cosh", "sin", "sinh", "tan", "hypot", "log10", "log2", "pow"), _LIBRARY),
    **dict.fromkeys(("elementwise_fmax", "elementwise_fmin", "elementwise_mod"), _LIBRARY),
    **dict.fromkeys(("elementwise_pow", "elementwise_floordiv"), _LIBRARY),
}


def _elementwise() -> list[str]:
    return sorted(name for name, opdef in OPS.items() if probed_cost(opdef) is not None)


def _attributes(name: str) -> dict[str, Any]:
    opdef = OPS[name]
    return {
        key: NUMBERS.get(key, 0.7) if value is None or value is REQUIRED else value
        for key, value in opdef.attributes.items()
    }


def _arrays(name: str, dtype: str) -> list[Any]:
    random = np.random.default_rng(3)
    arrays = []
    for n, given in enumerate(OPS[name].input_names):
        special = np.roll(np.array(SPECIAL, np.float64), n * 5)
        with np.errstate(over="ignore"):
            found = np.concatenate([special, 3 * random.standard_normal(10_000)]).astype(dtype)
        arrays.append(found > 0 if given in ("condition", "mask") else found)
    return arrays


def _same(name: str, dtype: str, got: Any, want: Any) -> None:
    cost = cost_of(
        OPS[name],
        [dtype if n not in ("condition", "mask") else "bool" for n in OPS[name].input_names],
        _attributes(name),
    )
    assert cost is not None
    assert got.dtype == want.dtype
    if want.dtype == bool or not cost.functions:
        np.testing.assert_array_equal(np.isnan(got), np.isnan(want), name) if want.dtype != bool else None
        there = np.ones(want.shape, bool) if want.dtype == bool else ~np.isnan(want)
        bits = {1: "u1", 2: "u2", 4: "u4", 8: "u8"}[want.dtype.itemsize]
        np.testing.assert_array_equal(got[there].view(bits), want[there].view(bits), name)
    else:
        tolerance = {"float16": 2e-3, "float32": 2e-5, "float64": 1e-12}[dtype]
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance, err_msg=name)


@pytest.fixture(scope="module")
def cupy() -> Iterator[Any]:
    with nullcontext() if gpu() else installed(), kernels.guard("auto"):
        import cupy

        import engine.kernels.cupy

        assert engine.kernels.cupy.xp is cupy
        yield cupy


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_compiled_loops_compute_what_kernels_compute(dtype: str) -> None:
    pytest.importorskip("llvmlite", reason="the extra 'fast' is not installed")
    from engine.kernels.fast import elementwise

    missing = []
    for name in _elementwise():
        attrs, arrays = _attributes(name), _arrays(name, dtype)
        made = elementwise.single(name)([Spec.of(x) for x in arrays], attrs)
        if made is None:
            missing.append(name)
            continue
        while not made.ready:
            pass
        with np.errstate(all="ignore"):
            _same(name, dtype, made.kernel(*arrays), OPS[name].kernel(np, *arrays, **attrs))
    without_erf = {"erf", "gelu", "gelu_grad"} if dtype == "float64" else set()  # compiled for float32 alone
    assert set(missing) == (NOT_COMPILED.keys() & set(_elementwise())) | without_erf


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_cuda_computes_what_kernels_compute(cupy: Any, dtype: str) -> None:
    from engine.kernels.cupy.elementwise import single

    for name in _elementwise():
        attrs, arrays = _attributes(name), _arrays(name, dtype)
        # 16 bits are computed in float, and rounded once.
        exact = [x.astype(np.float32) if x.dtype == np.float16 else x for x in arrays]
        with np.errstate(all="ignore"):
            want = OPS[name].kernel(np, *exact, **attrs)
            got = cupy.asnumpy(single(name)(cupy, *[cupy.asarray(x) for x in arrays], **attrs))
            want = want.astype(got.dtype)
        _same(name, dtype, got, want)


def test_numbers_of_attributes_stay_such_through_arithmetic() -> None:
    given = GivenNumber(3.0)
    for made in (-given, given + 1, 1 + given, given - 1, 1 - given, 2 * given, given / 2, 2 / given):
        assert isinstance(made, GivenNumber)
    assert [float(x) for x in (1 - given, 2 / given, given - 1)] == [-2.0, 2 / 3, 2.0]


def test_operators_that_are_not_formulas_of_elements_have_no_cost() -> None:
    for name in ("matmul_v2", "reduce_sum", "reshape2", "softmax", "dropout", "concat", "conv2d", "cumsum"):
        assert probed_cost(OPS[name]) is None, name
