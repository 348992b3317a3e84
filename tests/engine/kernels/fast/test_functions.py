"""exp, log, tanh and sigmoid as compiled code against NumPy in a wider type, for vectors of every width."""

import ctypes

import numpy as np
import pytest

ir = pytest.importorskip("llvmlite.ir", reason="llvmlite is not installed")

from engine.kernels.fast import functions  # noqa: E402
from engine.kernels.fast import vectors as v  # noqa: E402
from engine.kernels.fast.compiler import Compiler  # noqa: E402

TYPES = {np.float32: v.F32, np.float64: v.F64}
EDGES = [
    0.0,
    -0.0,
    np.inf,
    -np.inf,
    np.nan,
    1.0,
    -1.0,
    0.625,
    -0.625,
    88.7,
    88.73,
    -87.4,
    -103.9,
    -104.1,
    709.7,
    709.8,
    -708.5,
    -745.1,
    -745.2,
    1e-45,
    5e-324,
    1e-39,
    3.4e38,
    1.7e308,
    0.70710677,
    1.4142135,
]


def _sigmoid(x):
    e = np.exp(-np.abs(x))
    return np.where(x < 0, e, 1) / (1 + e)


REFERENCES = {"exp": np.exp, "log": np.log, "tanh": np.tanh, "sigmoid": _sigmoid}


@pytest.fixture(scope="module")
def compiler():
    return Compiler()


def _values(dtype):
    rng = np.random.default_rng(0)
    spread = [rng.standard_normal(5001) * scale for scale in (1e-3, 0.3, 1, 10, 60, 400)]
    low, high = (-44, 38) if dtype is np.float32 else (-320, 308)
    with np.errstate(over="ignore"):
        return np.concatenate([*spread, 10.0 ** rng.uniform(low, high, 5003), EDGES]).astype(dtype)


def _written(name, kind, lanes):
    def build(module, symbol):
        frame = v.Frame(module, symbol)
        b = frame.builder
        source, target = frame.pointer(0), frame.pointer(1)
        vector = ir.VectorType(kind, lanes)
        with v.loop(b, frame.begin, frame.end, lanes) as i:
            mask = v.first(b, b.sub(frame.end, i), lanes)
            x = v.masked_load(b, v.offset(b, source, i, kind), vector, mask)
            result = getattr(functions, name)(b, x)
            v.masked_store(b, result, v.offset(b, target, i, kind), mask)
        return frame.close()

    return build


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", REFERENCES)
def test_agrees_with_numpy_to_the_last_digits(compiler, name, dtype):
    x = _values(dtype)
    with np.errstate(all="ignore"):
        exact = REFERENCES[name](x.astype(np.longdouble))
        want = exact.astype(dtype)
    results = []
    for lanes in (4, 8, 16):
        handle = compiler.function(f"{name} {dtype.__name__} {lanes}", _written(name, TYPES[dtype], lanes))
        assert handle.wait(60)
        got = np.full(x.size + 3, 77, dtype)
        handle.call((ctypes.c_int64 * 2)(x.ctypes.data, got.ctypes.data), 0, x.size)
        assert (got[x.size :] == 77).all()  # a masked store touches nothing behind the end
        results.append(got[: x.size])
    for got in results:
        finite = np.isfinite(want)
        np.testing.assert_array_equal(got[~finite], want[~finite])
        np.testing.assert_array_equal(np.signbit(got[want == 0]), np.signbit(want[want == 0]))
        error = np.abs(got[finite] - exact[finite]) / np.spacing(np.abs(want[finite]))
        assert error.max() < 3
        np.testing.assert_array_equal(got, results[0])  # the width of vectors changes no bit
