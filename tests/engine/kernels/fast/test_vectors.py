"""Minimum, maximum, sums over lanes and arguments of generated kernels."""

import ctypes

import numpy as np
import pytest

ir = pytest.importorskip("llvmlite.ir", reason="llvmlite is not installed")

from engine.kernels.fast import vectors as v  # noqa: E402
from engine.kernels.fast.compiler import Compiler  # noqa: E402


def _run(write, *arguments, begin=0, end=1):
    def build(module, name):
        frame = v.Frame(module, name)
        write(frame)
        return frame.close()

    handle = Compiler().function(write.__name__, build)
    assert handle.wait(60)
    handle.call((ctypes.c_int64 * len(arguments))(*arguments), begin, end)


def test_minimum_and_maximum_propagate_nan_as_numpy():
    values = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 3.0]
    a = np.repeat(values, 8).astype(np.float32)
    b = np.tile(values, 8).astype(np.float32)
    low, high = np.empty_like(a), np.empty_like(a)

    def both(frame):
        builder, vector = frame.builder, ir.VectorType(v.F32, 8)
        with v.loop(builder, frame.begin, frame.end, 8) as i:
            x, y = (v.load(builder, v.offset(builder, frame.pointer(n), i, v.F32), vector) for n in (0, 1))
            for n, function in ((2, v.minimum), (3, v.maximum)):
                place = v.offset(builder, frame.pointer(n), i, v.F32)
                v.store(builder, function(builder, x, y), place)

    _run(both, *(array.ctypes.data for array in (a, b, low, high)), end=64)
    np.testing.assert_array_equal(low, np.minimum(a, b))
    np.testing.assert_array_equal(high, np.maximum(a, b))


def test_lanes_are_joined_and_scalars_arrive():
    x = np.arange(16, dtype=np.float64) / 3
    result = np.zeros(2)
    small = np.float32(0.1)

    def sums(frame):
        builder = frame.builder
        found = v.load(builder, frame.pointer(0), ir.VectorType(v.F64, 16))
        factor = frame.scalar(2, v.F64)
        v.store(builder, builder.fmul(v.total(builder, found, v.plus), factor), frame.pointer(1))
        wide = builder.fpext(frame.scalar(3, v.F32), v.F64)
        v.store(builder, wide, v.offset(builder, frame.pointer(1), v.I64(1), v.F64))

    bits = int(np.float64(2.5).view(np.int64)), int(small.view(np.int32))
    _run(sums, x.ctypes.data, result.ctypes.data, *bits)
    assert result[0] == pytest.approx(x.sum() * 2.5, rel=1e-15)
    assert result[1] == small


def test_a_local_lives_through_a_loop():
    result = np.zeros(1, np.float64)

    def powers(frame):
        builder = frame.builder
        value = v.Local(builder, v.constant(v.F64, 1.0))
        with v.loop(builder, frame.begin, frame.end):
            value.set(builder.fmul(value.get(), v.constant(v.F64, 2.0)))
        v.store(builder, value.get(), frame.pointer(0))

    _run(powers, result.ctypes.data, begin=3, end=13)
    assert result[0] == 1024
