"""Products of matrices on a GPU: the own kernel at its borders, and the choice of the backend."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.core.operators.opdef import OPS
from engine.core.place import place_guard
from engine.core.values import bfloat
from engine.eager.tensor import Tensor
from engine.kernels.choice import kernels
from tests.cublaslt_stand_in import build
from tests.cupy_stand_in.counts import counted
from tests.cupy_stand_in.module import gpu, installed

RNG = np.random.default_rng(1)
REAL = gpu()  # checked before the stand-in, which has one, is installed
needs_stand_in = pytest.mark.skipif(
    REAL, reason="the stand-in's memory is the host's, and it counts launches"
)


@pytest.fixture(scope="module", autouse=True)
def cupy() -> Iterator[Any]:
    with nullcontext() if REAL else installed(), kernels.guard("auto"):
        import cupy

        import engine.kernels.cupy

        assert engine.kernels.cupy.xp is cupy
        yield cupy


def _numbers(*shape: int, dtype: str = "float64") -> Any:
    made = RNG.standard_normal(shape)
    return (made + 1j * RNG.standard_normal(shape) if dtype.startswith("c") else made).astype(dtype)


def _check(cupy: Any, x: Any, y: Any, near: float = 1e-12) -> Any:
    from engine.kernels.cupy.linalg import products

    first, second = (products.product(cupy.asarray(x), cupy.asarray(y)).get() for _ in range(2))
    assert first.tobytes() == second.tobytes()
    want = np.matmul(x, y)
    assert first.dtype == want.dtype
    np.testing.assert_allclose(first, want, rtol=near, atol=near)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((1, 1), (1, 1)),
        ((3, 5), (5, 4)),
        ((33, 31), (31, 65)),
        ((32, 32), (32, 32)),
        ((3, 0), (0, 4)),
        ((0, 3), (3, 2)),
        ((5,), (5,)),
        ((0,), (0,)),
        ((5,), (5, 2)),
        ((3, 5), (5,)),
        ((2, 3, 5), (5,)),
        ((5,), (2, 5, 3)),
        ((2, 1, 3, 7), (4, 7, 2)),
        ((2, 3, 4, 2, 2), (2, 1, 4, 2, 3)),
        ((1, 2, 1, 2, 1, 2, 2), (2, 1, 2, 1, 2, 2, 3)),
        ((0, 3, 2), (0, 2, 3)),
    ],
)
def test_borders(cupy: Any, a: Any, b: Any) -> None:
    _check(cupy, _numbers(*a), _numbers(*b))


def test_large_tiles(cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from engine.kernels.cupy.linalg import gemm

    monkeypatch.setattr(gemm, "_BUSY", 1)
    gemm._launch.cache_clear()
    _check(cupy, _numbers(67, 18), _numbers(18, 130))
    gemm._launch.cache_clear()


@pytest.mark.parametrize("a_turned", [False, True])
@pytest.mark.parametrize("b_turned", [False, True])
def test_operands_have_any_layout(cupy: Any, a_turned: bool, b_turned: bool) -> None:
    from engine.kernels.cupy.linalg import gemm

    x, y = _numbers(2, 4, 3, 7), _numbers(2, 4, 7, 5)
    a, b = (
        cupy.asarray(np.ascontiguousarray(z.swapaxes(-1, -2))).swapaxes(-1, -2) if turned else cupy.asarray(z)
        for z, turned in ((x, a_turned), (y, b_turned))
    )
    for part in ((slice(None),), (..., slice(None, None, -1), slice(None))):
        heads = cupy.empty((2, 3, 4, 5), "float64").swapaxes(1, 2)
        assert gemm.product(a[part], b, heads) is heads
        np.testing.assert_allclose(heads.get(), x[part] @ y, 1e-12, 1e-12)
    z = _numbers(3, 1)
    found = gemm.product(a[0, 0], b[0, 0], None, 2.0, -0.5, cupy.asarray(z))
    np.testing.assert_allclose(found.get(), 2 * (x[0, 0] @ y[0, 0]) - 0.5 * z, 1e-12, 1e-12)


def test_long_sums_are_split_into_parts(cupy: Any) -> None:
    from engine.kernels.cupy.linalg import gemm

    x, y, z = _numbers(2, 3, 1100), _numbers(2, 1100, 2), _numbers(2)
    with counted() as counts:
        found = gemm.product(cupy.asarray(x), cupy.asarray(y), None, 1.0, 1.0, cupy.asarray(z))
    assert counts.launches == (0 if REAL else 2)
    np.testing.assert_allclose(found.get(), x @ y + z, 1e-11)
    a, b = _numbers(40000), _numbers(40000)
    with counted() as counts:
        made = gemm.dots(cupy.asarray(a)[None], cupy.asarray(b)[None], cupy.empty(1, "float64"))
    assert counts.launches == (0 if REAL else 2)
    np.testing.assert_allclose(made.get(), [a @ b], 1e-10)


@pytest.mark.parametrize(
    ("dtype", "near"), [("float32", 1e-5), ("float16", 4e-3), ("complex64", 1e-5), ("complex128", 1e-12)]
)
def test_dtypes(cupy: Any, dtype: str, near: float) -> None:
    _check(cupy, _numbers(5, 9, dtype=dtype), _numbers(9, 3, dtype=dtype), near)
    _check(cupy, _numbers(9, dtype=dtype), _numbers(9, dtype=dtype), near)


def test_integers_are_left_to_cupy(cupy: Any) -> None:
    _check(cupy, np.arange(6).reshape(2, 3), np.arange(6).reshape(3, 2))


def test_nan_and_infinity_reach_their_rows_alone(cupy: Any) -> None:
    from engine.kernels.cupy.linalg import products

    x, y = np.ones((3, 4)), np.ones((4, 2))
    x[0, 1], x[1, 2] = np.nan, np.inf
    found = products.product(cupy.asarray(x), cupy.asarray(y)).get()
    assert np.isnan(found[0]).all()
    assert (found[1:] == [[np.inf, np.inf], [4, 4]]).all()


@pytest.mark.parametrize("name", ["matmul_v2", "mul", "bmm", "mv", "product_of_rows"])
def test_bfloat16_is_rounded_once(cupy: Any, name: str) -> None:
    from engine.core.operators.generate import make_apply

    shape = (2, 3, 300) if name == "bmm" else (3, 300)
    other = {"bmm": (2, 300, 2), "mv": (300,), "product_of_rows": (3, 2)}.get(name, (300, 2))
    x, y = (bfloat.narrow(cupy, cupy.asarray(_numbers(*each, dtype="float32"))) for each in (shape, other))
    a, b = (bfloat.widen(cupy, each).get().astype("float64") for each in (x, y))
    with place_guard("gpu:0"), counted() as counts:
        found = make_apply(OPS[name])(Tensor(x), Tensor(y))
    assert counts.launches <= 2
    assert found.dtype.name == "bfloat16"
    want = a.T @ b if name == "product_of_rows" else a @ b
    np.testing.assert_allclose(bfloat.widen(cupy, found._array).get(), want, rtol=1 / 256, atol=1e-6)


@needs_stand_in
def test_large_products_are_those_of_the_library(
    cupy: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from engine.kernels.cupy.linalg import cublaslt, products

    monkeypatch.setattr(products, "OWN", 10)
    path = build(tmp_path)
    if path is None:
        pytest.skip("no g++")
    library = cublaslt.Library(str(path))
    monkeypatch.setattr(cublaslt, "found", lambda: library)
    x, y, z = _numbers(3, 5), _numbers(5, 4), _numbers(4)
    _check(cupy, x, y)
    kernel, _ = OPS["addmm"].kernel_for("cupy")
    found = kernel(cupy, *map(cupy.asarray, (z, x, y)), alpha=0.5)
    np.testing.assert_allclose(found.get(), z + 0.5 * (x @ y), 1e-12)
    assert len(library._products) == 2
    library._functions.stand_in_refuse(1)
    with pytest.MonkeyPatch.context() as patch:
        warnings: list[Any] = []
        patch.setattr(cublaslt._log, "warning", lambda *args: warnings.append(args))
        _check(cupy, _numbers(4, 5), y)
        assert len(warnings) == 1
        assert "has no algorithm" in warnings[0][0]
    library.close()


@needs_stand_in
def test_without_the_library_a_capture_has_the_own_kernel(cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from engine.kernels.cupy.linalg import cublaslt, gemm, products

    monkeypatch.setattr(products, "OWN", 10)
    monkeypatch.setattr(cublaslt, "found", lambda: None)
    own: list[Any] = []
    plain = gemm.product
    monkeypatch.setattr(gemm, "product", lambda *args: own.append(args) or plain(*args))
    x, y = _numbers(3, 5), _numbers(5, 4)
    _check(cupy, x, y)
    assert not own
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cupy.cuda.Stream, "is_capturing", lambda self: True)
        _check(cupy, x, y)
    assert len(own) == 2


def test_a_missing_compiler_is_logged_once(
    cupy: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from engine.kernels.cupy import source
    from engine.kernels.cupy.linalg import gemm, products

    def fail(*_: Any, **__: Any) -> Any:
        raise cupy.cuda.compiler.CompileException("no NVRTC", "", "", ())

    products._compiles.cache_clear()
    gemm._launch.cache_clear()
    monkeypatch.setattr(source, "kernel", lambda *_, **__: fail)
    x, y = _numbers(3, 5), _numbers(5, 4)
    _check(cupy, x, y)
    low = bfloat.narrow(cupy, cupy.asarray(x.astype("float32")))
    found = bfloat.widen(cupy, products.product(low, low.T)).get()
    np.testing.assert_allclose(found, x @ x.T, rtol=0.05, atol=0.05)
    (line,) = [record.getMessage() for record in caplog.records]
    assert "no NVRTC" in line
    caplog.clear()
    products._compiles.cache_clear()
    gemm._launch.cache_clear()
