"""The generated product of matrices, next to sums in twice the precision."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

import engine as paddle  # noqa: F401 - the operators
from engine.core.values.spec import Spec
from engine.kernels.cpu import pool, products, threads
from engine.kernels.fast import target
from engine.kernels.fast.compiler import compiler
from engine.kernels.fast.linalg import matmul, tiled
from engine.kernels.fast.linalg.blas import AS_IT_IS, TRANSPOSED
from engine.kernels.fast.vectors import F32, F64

Array = np.ndarray[Any, Any]
KINDS = {"float32": (F32, ctypes.c_float), "float64": (F64, ctypes.c_double)}
# Rows, columns, inner: around the sizes of tiles, vectors and panels.
SIZES = [
    *[(1, 1, 1), (1, 40, 3), (8, 48, 128), (9, 49, 129), (17, 15, 16), (3, 33, 257), (64, 64, 32)],
    *[(7, 1, 300), (26, 130, 77), (128, 10, 512), (5, 16, 1025)],
]


def product(dtype: str) -> Callable[..., None]:
    """The code of this machine's vectors, whatever they are."""
    kind, scalar = KINDS[dtype]
    handle = compiler().at_once(f"tiled product of a test {kind}", partial(tiled.build, kind))
    whole, place = ctypes.c_int64, ctypes.c_void_p
    types: Sequence[Any] = [*[ctypes.c_int32] * 3, *[whole] * 3, scalar, place, whole, place, whole]
    assert handle.address is not None
    return ctypes.CFUNCTYPE(None, *types, scalar, place, whole)(handle.address)


def call(a: Array, b: Array, c: Array, flags: Sequence[int], factor: float = 1.0, add: float = 0.0) -> None:
    """c = factor * a @ b, where ``flags`` mark transposed ones, which are given as they lie in memory."""
    inner = a.shape[0 if flags[0] else 1]
    step = [x.strides[0] // x.itemsize for x in (a, b, c)]
    turned = [TRANSPOSED if flag else AS_IT_IS for flag in flags]
    product(str(a.dtype))(
        101, *turned, *c.shape, inner, factor, a.ctypes.data, step[0], b.ctypes.data, step[1], add,
        c.ctypes.data, step[2],
    )  # fmt: skip


def operands(
    sizes: tuple[int, int, int], flags: Sequence[int], dtype: str
) -> tuple[Array, Array, Array, Array]:
    """a and b within larger arrays of NaN, room for c within one of zeros, and the exact product."""
    rows, columns, inner = sizes
    random = np.random.default_rng(sizes)
    given = []
    for flag, shape in zip(flags, ((rows, inner), (inner, columns)), strict=True):
        lies = shape[::-1] if flag else shape
        around = np.full((lies[0] + 1, lies[1] + 3), np.nan, dtype)
        around[: lies[0], : lies[1]] = random.standard_normal(lies)
        given.append(around[: lies[0], : lies[1]])
    exact = [(x.T if flag else x).astype(np.longdouble) for x, flag in zip(given, flags, strict=True)]
    return given[0], given[1], np.zeros((rows + 1, columns + 5), dtype), exact[0] @ exact[1]


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("flags", [(0, 0), (0, 1), (1, 0), (1, 1)], ids=["ab", "abT", "aTb", "aTbT"])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_a_product_is_the_exact_one_rounded(sizes: Any, flags: Any, dtype: str) -> None:
    a, b, around, exact = operands(sizes, flags, dtype)
    c = around[: sizes[0], : sizes[1]]
    tolerance = 4 * np.finfo(dtype).eps * sizes[2] ** 0.5 * 8
    call(a, b, c, flags)
    np.testing.assert_allclose(c, exact.astype(dtype), atol=tolerance, rtol=tolerance)
    call(a, b, c, flags, factor=2.0, add=1.0)
    np.testing.assert_allclose(c, 3 * exact.astype(dtype), atol=3 * tolerance, rtol=tolerance)
    around[: sizes[0], : sizes[1]] = 0
    assert not around.any()  # nothing is written next to the result


@pytest.mark.parametrize("flags", [(0, 0), (1, 1)])
def test_values_that_are_not_finite_stay_in_their_row_and_column(flags: Any) -> None:
    a, b, around, _ = operands((20, 70, 140), flags, "float32")
    rows, columns = (a.T if flags[0] else a), (b.T if flags[1] else b)
    around.fill(np.nan)  # what a result replaces does not count
    rows[3, 130], columns[5, 66] = np.nan, np.inf
    call(a, b, around[:20, :70], flags)
    expected = np.matmul(rows.astype("float64"), columns.astype("float64"))
    np.testing.assert_array_equal(np.isnan(around[:20, :70]), np.isnan(expected))
    np.testing.assert_array_equal(np.isposinf(around[:20, :70]), np.isposinf(expected))


def test_an_element_does_not_depend_on_what_is_computed_with_it() -> None:
    a, b, around, _ = operands((70, 100, 300), (0, 0), "float32")
    whole = around[:70, :100]
    call(a, b, whole, (0, 0))
    for begin, end in ((0, 13), (13, 16), (16, 70)):
        part = np.empty((end - begin, 100), "float32")
        call(a[begin:end], b, part, (0, 0))
        np.testing.assert_array_equal(part, whole[begin:end])
    for begin, end in ((0, 5), (5, 64), (64, 100)):
        part = np.empty((70, end - begin), "float32")
        call(a, b[:, begin:end], part, (0, 0))
        np.testing.assert_array_equal(part, whole[:, begin:end])


@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True)], ids=str)
def test_a_product_of_a_plan_has_the_same_bits_on_any_threads(turned: Any, monkeypatch: Any) -> None:
    if not target.here().has("avx512f"):
        pytest.skip("plans take it with vectors of 512 bits")
    for module in (matmul, products):
        monkeypatch.setattr(module, "SHARD", 1 << 12)
    monkeypatch.setattr(matmul, "_TILED", 1)
    random = np.random.default_rng(1)
    x = random.standard_normal((60, 90)[:: -1 if turned[0] else 1]).astype("float32")
    y = random.standard_normal((90, 70)[:: -1 if turned[1] else 1]).astype("float32")
    fast = matmul.matmul([Spec.of(x), Spec.of(y)], {"trans_x": turned[0], "trans_y": turned[1]})
    assert fast is not None
    assert compiler().wait(120)
    assert fast.ready
    made = []
    for count in (1, 2, 3):
        monkeypatch.setattr(threads, "_count", count)
        made.append(fast.kernel(x, y))
    exact = (x.T if turned[0] else x).astype("float64") @ (y.T if turned[1] else y).astype("float64")
    np.testing.assert_allclose(made[0], exact, rtol=1e-4, atol=1e-4)
    for other in made[1:]:
        np.testing.assert_array_equal(other, made[0])
    pool.dismiss()


def test_only_vectors_of_512_bits_take_it() -> None:
    with target.assumed(target.EXAMPLES["avx2"]):
        assert tiled.gemm(F32) is None
        assert tiled.tiles() == ((6, 2, 1), 2)
    with target.assumed(target.EXAMPLES["avx512"]):
        assert tiled.tiles() == ((8, 2, 1), 3)
