"""Traces of kernels compute what the kernels compute, on special and random values, for every writer."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import engine  # noqa: F401
from engine.core.operators.opdef import OPS, REQUIRED
from engine.core.values.spec import Spec
from engine.kernels.choice import kernels
from engine.kernels.steps.cost import cost_of, is_candidate, probed_cost
from engine.kernels.steps.traced import GivenNumber
from tests.cupy_stand_in.module import gpu, installed

SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, -1e-40, 3e38, -3e38, 1.0, -1.0, 0.5, 2.5]
GIVEN = {
    "low": -0.5,
    "high": 0.5,
    "min": -1.5,
    "max": 1.5,
    "t_min": -1.0,
    "t_max": 1.0,
    "out_dtype": "float64",
}
# Elementwise operators that compiled loops have no code for, and why: they stay with NumPy.
_LIBRARY = "a function of C's library, which has no code for vectors"
NOT_COMPILED = {
    **dict.fromkeys(("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh"), _LIBRARY),
    **dict.fromkeys(("cos", "cosh", "sin", "sinh", "tan", "hypot", "log10", "log2", "pow"), _LIBRARY),
    **dict.fromkeys(("elementwise_fmax", "elementwise_fmin", "elementwise_mod", "elementwise_pow"), _LIBRARY),
    "elementwise_floordiv": _LIBRARY,
}
# Elementwise operators whose kernels can't be traced, and why: every backend calls its array module.
_SERIES = "sums a series, in a way that depends on the values"
_INTEGERS = "of integers alone, which writers lack the operation of"
_CHECKS = "refuses inputs of other shapes, and some values"
_LACKING = "a function that writers lack"
_VIEWS = "turns axes or repeats elements; elements of equal shapes keep their places by chance"
NOT_TRACED = {
    **dict.fromkeys(("digamma", "erfinv", "i0", "i0e", "i1", "i1e", "lgamma"), _SERIES),
    **dict.fromkeys(("bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "gcd", "lcm"), _INTEGERS),
    **dict.fromkeys(("isclose", "ldexp", "logaddexp", "nan_to_num"), _LACKING),
    **dict.fromkeys(("bce_loss", "kldiv_loss", "sigmoid_cross_entropy_with_logits"), _CHECKS),
    "nextafter": _LACKING,
    **dict.fromkeys(("angle", "complex", "conj"), "of complex numbers, which writers lack"),
    "kept_mean_grad": "spreads a mean of a shape that it is given",
    **dict.fromkeys(("channel_shuffle", "channel_shuffle_grad", "tile_dims_grad", "tile_like"), _VIEWS),
    "write_to_array_grad": _VIEWS,
}
BOUND_BY_DTYPE = {"tolerable_log"}  # its results end at the largest number of the dtype


def _kinds(name: str, dtype: str) -> list[str]:
    return ["bool" if given in ("condition", "mask") else dtype for given in OPS[name].input_names]


def _attributes(name: str) -> dict[str, Any]:
    opdef = OPS[name]
    return {
        key: GIVEN.get(key, 0.7) if value is None or value is REQUIRED else value
        for key, value in opdef.attributes.items()
    }


def _elementwise(dtype: str) -> list[str]:
    return sorted(
        n for n, opdef in OPS.items() if cost_of(opdef, _kinds(n, dtype), _attributes(n)) is not None
    )


def _arrays(name: str, dtype: str, size: int = 10_000) -> list[Any]:
    random = np.random.default_rng(3)
    arrays = []
    for n, kind in enumerate(_kinds(name, dtype)):
        extremes = [0, 1]
        if dtype.startswith("int"):
            extremes += [np.iinfo(dtype).min, np.iinfo(dtype).max]
            found = np.concatenate([np.roll(extremes, n), random.integers(-50, 50, size)]).astype(dtype)
        else:
            if dtype.startswith("float"):
                limits = np.finfo(dtype)
                extremes = [limits.max, limits.min, limits.tiny, limits.smallest_subnormal]
            special = np.roll(np.array([*SPECIAL, *extremes], np.float64), n * 5)
            with np.errstate(all="ignore"):
                found = np.concatenate([special, 3 * random.standard_normal(size)])
                found = found > 0 if dtype == "bool" else found.astype(dtype)
        arrays.append(found > 0 if kind == "bool" else found)
    return arrays


def _same(name: str, dtype: str, got: Any, want: Any) -> None:
    cost = cost_of(OPS[name], _kinds(name, dtype), _attributes(name))
    assert cost is not None
    assert got.dtype == want.dtype, name
    if want.dtype.kind in "biu":
        np.testing.assert_array_equal(got, want, name)
    elif not cost.functions:
        np.testing.assert_array_equal(np.isnan(got), np.isnan(want), name)
        there = ~np.isnan(want)
        bits = {2: "u2", 4: "u4", 8: "u8"}[want.dtype.itemsize]
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


@pytest.mark.parametrize("dtype", ["float32", "float64", "bool"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_compiled_loops_compute_what_kernels_compute(dtype: str) -> None:
    pytest.importorskip("llvmlite", reason="llvmlite is not installed")
    from engine.kernels.fast import elementwise

    missing = []
    for name in _elementwise(dtype):
        attrs, arrays = _attributes(name), _arrays(name, dtype)
        made = elementwise.single(name)([Spec.of(x) for x in arrays], attrs)
        if made is None:
            missing.append(name)
            continue
        while not made.ready:
            time.sleep(0.001)
        with np.errstate(all="ignore"):
            _same(name, dtype, made.kernel(*arrays), OPS[name].kernel(np, *arrays, **attrs))
    without_erf = {"erf", "gelu", "gelu_grad"} if dtype == "float64" else set()  # compiled for float32 alone
    assert set(missing) == (NOT_COMPILED.keys() if dtype != "bool" else set()) | without_erf


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "int64", "bool"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_cuda_computes_what_kernels_compute(cupy: Any, dtype: str) -> None:
    from engine.kernels.cupy.elementwise import single

    for name in _elementwise(dtype):
        attrs, arrays = _attributes(name), _arrays(name, dtype)
        # 16 bits are computed in float, and rounded once.
        wide = dtype == "float16" and name not in BOUND_BY_DTYPE
        exact = [x.astype(np.float32) if wide and x.dtype == np.float16 else x for x in arrays]
        with np.errstate(all="ignore"):
            want = OPS[name].kernel(np, *exact, **attrs)
            got = cupy.asnumpy(single(name)(cupy, *[cupy.asarray(x) for x in arrays], **attrs))
            want = want.astype(got.dtype)
        _same(name, dtype, got, want)


def test_operators_alone_are_compiled_where_one_loop_is_faster() -> None:
    from engine.kernels.fast import MAKERS, maker_of, register

    register()
    alone = {n for n in _elementwise("float32") if n not in MAKERS and maker_of(OPS[n]) is not None}
    assert {"gelu", "gelu_grad", "sigmoid", "silu", "swish_grad", "softplus", "elu", "mish"} <= alone
    # NumPy's function takes most of their time, and is as fast.
    assert alone.isdisjoint(("exp", "tanh", "tanh_shrink", "stanh", "logit", "logsigmoid", "relu", "sin"))


def test_numbers_of_attributes_stay_such_through_arithmetic() -> None:
    given = GivenNumber(3.0)
    for made in (-given, given + 1, 1 + given, given - 1, 1 - given, 2 * given, given / 2, 2 / given):
        assert isinstance(made, GivenNumber)
    assert [float(x) for x in (1 - given, 2 / given, given - 1)] == [-2.0, 2 / 3, 2.0]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_kernels_of_elements_that_are_not_traced_are_known() -> None:
    """If results move with the elements, an operator is one of elements: its kernel is traced, or listed."""
    random = np.random.default_rng(0)
    moved = random.permutation(20)
    traced = [set(_elementwise(dtype)) for dtype in ("float32", "int64", "bool")]
    found = set()
    for name, opdef in OPS.items():
        if not is_candidate(opdef) or any(name in names for names in traced):
            continue
        for dtype in ("float32", "int64"):
            whole = random.integers(1, 99, (len(opdef.inputs), 20))
            values = random.random(whole.shape) if dtype == "float32" else whole
            arrays = [
                x > 0.5 if k == "bool" else x.astype(dtype)
                for x, k in zip(values, _kinds(name, dtype), strict=True)
            ]
            try:
                made, there = (
                    opdef.kernel(np, *[x.reshape(4, 5) for x in given], **_attributes(name))
                    for given in (arrays, [x[moved] for x in arrays])
                )
            except Exception:
                continue  # it refuses the dtype, the shape or a number
            if isinstance(made, np.ndarray) and made.shape == (4, 5):
                if np.array_equal(made.reshape(-1)[moved], there.reshape(-1), equal_nan=True):
                    found.add(name)
    assert found == NOT_TRACED.keys()


def test_operators_that_are_not_formulas_of_elements_have_no_cost() -> None:
    for name in ("matmul_v2", "reduce_sum", "reshape2", "softmax", "dropout", "concat", "conv2d", "cumsum"):
        assert probed_cost(OPS[name]) is None, name
