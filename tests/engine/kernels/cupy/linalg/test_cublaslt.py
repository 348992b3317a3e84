"""The calls of cuBLASLt against a library of the tests that checks their descriptors of the operands."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.core.errors import DeviceError
from tests.cublaslt_stand_in import build
from tests.cupy_stand_in.module import installed

RNG = np.random.default_rng(0)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = build(tmp_path_factory.mktemp("cublaslt"))
    if made is None:
        pytest.skip("no g++")
    return made


@pytest.fixture
def cupy() -> Iterator[Any]:
    with installed() as module:
        yield module


@pytest.fixture
def library(cupy: Any, path: Path) -> Iterator[Any]:
    from engine.kernels.cupy.linalg.cublaslt import Library

    made = Library(str(path))
    made._functions.stand_in_reason.restype = ctypes.c_char_p
    made._functions.stand_in_stream.restype = ctypes.c_uint64
    yield made
    made.close()
    assert made._functions.stand_in_alive() == 0


def _numbers(*shape: int, dtype: str = "float32") -> Any:
    made = RNG.standard_normal(shape)
    return (made + 1j * RNG.standard_normal(shape) if dtype.startswith("c") else made).astype(dtype)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((3, 5), (5, 4)),
        ((1, 5), (5, 4)),
        ((3, 5), (5, 1)),
        ((3, 1), (1, 4)),
        ((1, 1), (1, 1)),
        ((2, 3, 5), (5, 4)),
        ((3, 5), (2, 5, 4)),
        ((2, 3, 3, 5), (2, 3, 5, 4)),
        ((2, 1, 3, 5), (3, 5, 4)),
        ((0, 5), (5, 4)),
        ((3, 0), (0, 4)),
    ],
)
@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
def test_layouts(library: Any, cupy: Any, a: Any, b: Any, turned: Any) -> None:
    x, y = (_numbers(*shape) for shape in (a, b))
    # Views that are transposed in memory.
    given = [
        cupy.asarray(z.swapaxes(-1, -2).copy()).swapaxes(-1, -2) if turn else cupy.asarray(z)
        for z, turn in zip((x, y), turned, strict=True)
    ]
    np.testing.assert_allclose(library.product(*given).get(), x @ y, rtol=1e-5, atol=1e-5)


def test_views_with_gaps_and_results_in_place(library: Any, cupy: Any) -> None:
    x, y = _numbers(2, 4, 3, 8), _numbers(2, 8, 3, 5)
    heads = cupy.asarray(x).swapaxes(1, 2)[..., 2:7]  # two strides for the batch: copied
    others = cupy.asarray(y)[:, 2:7].swapaxes(1, 2)
    want = x.swapaxes(1, 2)[..., 2:7] @ y[:, 2:7].swapaxes(1, 2)
    for out in (
        cupy.empty((2, 3, 4, 5), "float32"),
        cupy.empty((2, 3, 5, 4), "float32").swapaxes(2, 3),
        cupy.empty((2, 4, 3, 5), "float32").swapaxes(1, 2),
        cupy.empty((2, 3, 4, 10), "float32")[..., ::2],
    ):
        assert library.product(heads, others, out) is out
        np.testing.assert_allclose(out.get(), want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("dtype", "near"), [("float64", 1e-13), ("float16", 1e-2), ("complex64", 1e-5), ("complex128", 1e-13)]
)
def test_dtypes(library: Any, cupy: Any, dtype: str, near: float) -> None:
    x, y = _numbers(3, 6, dtype=dtype), _numbers(6, 2, dtype=dtype)
    found = library.product(cupy.asarray(x), cupy.asarray(y)).get()
    assert found.dtype == x.dtype
    np.testing.assert_allclose(found, x @ y, rtol=near, atol=near)


def test_bfloat16_is_summed_in_float32(library: Any, cupy: Any) -> None:
    ones = np.full((1, 300), 0x3F80, np.uint16)  # 1.0; sums beyond 256 are lost in bfloat16
    found = library.product(cupy.asarray(ones), cupy.asarray(ones.T)).get()
    assert found == 0x4396  # 300


def test_scales_and_additions(library: Any, cupy: Any) -> None:
    x, y = _numbers(3, 6), _numbers(6, 4)
    for shape in ((4,), (1, 4), (3, 4), (3, 1), (1,)):
        z = _numbers(*shape)
        for beta in (1.0, 0.25):
            found = library.product(*map(cupy.asarray, (x, y)), None, 0.5, beta, cupy.asarray(z)).get()
            np.testing.assert_allclose(found, 0.5 * (x @ y) + beta * z, rtol=1e-5, atol=1e-5)


def test_products_are_prepared_once_and_freed_when_there_are_many(
    library: Any, cupy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from engine.kernels.cupy.linalg import cublaslt

    monkeypatch.setattr(cublaslt, "_CACHED", 2)
    x = cupy.asarray(_numbers(4, 4))
    library.product(x, x)
    alive = library._functions.stand_in_alive()
    library.product(x, x + x)
    assert library._functions.stand_in_alive() == alive
    for length in (1, 2, 3):
        library.product(x[:length], x)
    assert len(library._products) == 2
    assert library._functions.stand_in_alive() == 1 + 2 * (alive - 1)


def test_a_product_is_on_the_current_stream_and_not_in_tf32(
    library: Any, cupy: Any, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from engine.kernels.cupy.linalg.cublaslt import COMPUTE_32F, COMPUTE_32F_FAST_TF32, Library

    x = cupy.asarray(_numbers(4, 4))
    with cupy.cuda.Stream(non_blocking=True) as stream:
        library.product(x, x)
    assert library._functions.stand_in_stream() == stream.ptr
    assert library._functions.stand_in_compute() == COMPUTE_32F
    monkeypatch.setenv("CUPY_TF32", "1")
    other = Library(str(path))
    other.product(x, x)
    assert library._functions.stand_in_compute() == COMPUTE_32F_FAST_TF32
    other.close()


def test_errors_contain_the_status_of_the_library(library: Any, cupy: Any) -> None:
    x = cupy.asarray(_numbers(3, 4))
    with pytest.raises(ValueError, match="inner dimensions differ"):
        library.product(x, x)
    with pytest.raises(DeviceError, match=r"cublasLtMatmulDescDestroy.* answers 7 \(INVALID_VALUE\)"):
        library.call("cublasLtMatmulDescDestroy", None)


def test_a_missing_library_is_logged_once(
    cupy: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, path: Path
) -> None:
    from engine.kernels.cupy import libraries
    from engine.kernels.cupy.linalg import cublaslt

    monkeypatch.setattr(libraries, "candidates", lambda *_: iter(["/nowhere/libcublasLt.so"]))
    assert cublaslt.found() is None
    assert cublaslt.found() is None
    (line,) = [record.getMessage() for record in caplog.records]
    assert "cuBLASLt was not found" in line
    assert "/nowhere/libcublasLt.so" in line
    caplog.clear()
    cublaslt.found.cache_clear()
    monkeypatch.setattr(libraries, "candidates", lambda *_: iter(["/nowhere/x.so", str(path)]))
    assert cublaslt.found().path == str(path)


def test_libraries_are_searched_in_these_places(
    cupy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from engine.kernels.cupy import libraries

    for folder in ("nvidia/cublas/lib", "cuda/lib64"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "libcublasLt.so.12").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("CUDA_PATH", str(tmp_path / "cuda"))
    monkeypatch.setattr("os.name", "posix")
    found = list(libraries.candidates("cublasLt", "cublas"))
    assert found[0] == "libcublasLt.so.12"  # the copy that CuPy has loaded
    places = [str(tmp_path / each / "libcublasLt.so.12") for each in ("nvidia/cublas/lib", "cuda/lib64")]
    assert [each for each in found if each in places] == places
