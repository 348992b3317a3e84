"""CUDA sources run on the host as CUDA defines; errors that would crash a GPU raise exceptions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.cupy_stand_in import orders
from tests.cupy_stand_in.module import installed
from tests.cupy_stand_in.raw import CompileException, WouldCrash

SUM = """
extern "C" __global__ void __launch_bounds__(256) sums(const float *x, float *y, int n) {
    __shared__ float part[256];
    int t = threadIdx.x;
    i64 at = (i64)blockIdx.x * blockDim.x + t;
    part[t] = at < n ? x[at] : 0.0f;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];
        BARRIER
    }
    if (t == 0) y[blockIdx.x] = part[0];
}
"""


@pytest.fixture(scope="module", autouse=True)
def cupy() -> Iterator[Any]:
    with installed() as top:
        yield top


def _kernel(source: str, name: str, **macros: Any) -> Any:
    from engine.kernels.cupy.source import Kernel, whole

    return Kernel(whole(source, macros), name)


def test_a_block_reduces_between_barriers(cupy: Any) -> None:
    x = np.arange(1000, dtype=np.float32)
    y = cupy.zeros(4, np.float32)
    _kernel(SUM, "sums", BARRIER="__syncthreads();")((4,), (256,), (cupy.asarray(x), y, np.int32(1000)))
    assert y.get().tolist() == [x[n : n + 256].sum() for n in range(0, 1000, 256)]


def test_a_barrier_that_is_missing_shows(cupy: Any) -> None:
    x = np.ones(1024, np.float32)
    y = cupy.zeros(4, np.float32)
    with orders.repeated("off"):
        _kernel(SUM, "sums", BARRIER="")((4,), (256,), (cupy.asarray(x), y, np.int32(1000)))
    assert y.get()[0] != 256


def test_shuffles_take_from_the_lanes_that_cuda_names(cupy: Any) -> None:
    source = """
    extern "C" __global__ void lanes(const T *x, T *y) {
        int t = threadIdx.x;
        T v = x[t], sum = v;
        for (int n = 16; n > 0; n /= 2) sum += __shfl_xor_sync(0xFFFFFFFF, sum, n);
        T *to = y + 5 * t;
        to[0] = sum;
        to[1] = __shfl_down_sync(0xFFFFFFFFu, v, 3);
        to[2] = __shfl_up_sync(0xFFFFFFFFu, v, 3);
        to[3] = __shfl_sync(0xFFFFFFFFu, v, 7);
        to[4] = __shfl_down_sync(0xFFFFFFFFu, v, 3, 8);
    }"""
    x = np.random.default_rng(3).integers(0, 1000, 64)
    for dtype in (np.float64, np.int32):
        y = cupy.zeros((64, 5), dtype)
        macro = {np.float64: "double", np.int32: "int"}[dtype]
        _kernel(source, "lanes", T=macro)((1,), (64,), (cupy.asarray(x.astype(dtype)), y))
        got, t = y.get(), np.arange(64)
        lane, first = t % 32, t // 32 * 32
        assert (got[:, 0] == x.reshape(2, 32).sum(1).repeat(32)).all()
        assert (got[:, 1] == x[first + np.where(lane + 3 < 32, lane + 3, lane)]).all()
        assert (got[:, 2] == x[first + np.where(lane >= 3, lane - 3, lane)]).all()
        assert (got[:, 3] == x[first + 7]).all()
        assert (got[:, 4] == x[np.where(t % 8 + 3 < 8, t + 3, t)]).all()


CONVERT = """
extern "C" __global__ void widen(const T *x, float *y, int n) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < n) y[at] = wide(x[at]);
}
extern "C" __global__ void narrow(const float *x, T *y, int n) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < n) put(y + at, x[at]);
}
"""


def _floats() -> np.ndarray:
    """Numbers where rounding to 16 bits is decided: each of them, those between two of them, and their
    neighbours."""
    with np.errstate(all="ignore"):
        halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32)
        between = halves + (np.roll(halves, 1) - halves) / 2
        upper = (np.arange(1 << 16, dtype=np.uint32) << 16 | 0x8000).view(np.float32)
        all_of = np.concatenate([halves, between, upper])
        more = [np.nextafter(all_of, np.float32(to)) for to in (np.inf, -np.inf)]
    return np.concatenate([all_of, *more])


def test_half_precision_is_widened_and_rounded_as_numpy_does(cupy: Any) -> None:
    bits = np.arange(1 << 16, dtype=np.uint16)
    wide = cupy.zeros(1 << 16, np.float32)
    args = (cupy.asarray(bits.view(np.float16)), wide, np.int32(1 << 16))
    _kernel(CONVERT, "widen", T="half_t")((256,), (256,), args)
    np.testing.assert_array_equal(wide.get(), bits.view(np.float16).astype(np.float32))
    x = _floats()
    narrow = cupy.zeros(x.size, np.float16)
    _kernel(CONVERT, "narrow", T="half_t")(
        (-(-x.size // 256),), (256,), (cupy.asarray(x), narrow, np.int32(x.size))
    )
    with np.errstate(all="ignore"):
        want = x.astype(np.float16)
    got, numbers = narrow.get(), ~np.isnan(want)
    assert np.isnan(got[~numbers]).all()
    np.testing.assert_array_equal(got[numbers].view(np.uint16), want[numbers].view(np.uint16))


def test_bfloat16_is_widened_and_rounded_as_the_engine_does(cupy: Any) -> None:
    from engine.core.values.bfloat import narrow as narrowed
    from engine.core.values.bfloat import widen

    bits = np.arange(1 << 16, dtype=np.uint16)
    wide = cupy.zeros(1 << 16, np.float32)
    _kernel(CONVERT, "widen", T="bfloat_t")((256,), (256,), (cupy.asarray(bits), wide, np.int32(1 << 16)))
    np.testing.assert_array_equal(wide.get(), widen(np, bits))
    x = _floats()
    narrow = cupy.zeros(x.size, np.uint16)
    _kernel(CONVERT, "narrow", T="bfloat_t")(
        (-(-x.size // 256),), (256,), (cupy.asarray(x), narrow, np.int32(x.size))
    )
    numbers = ~np.isnan(x)
    want = narrowed(cupy, cupy.asarray(x)).get()  # as CuPy's own functions round
    np.testing.assert_array_equal(narrow.get()[numbers], want[numbers])
    assert np.isnan(widen(np, narrow.get()[~numbers])).all()


def test_dynamic_shared_memory_is_spoiled_before_each_block_and_guarded(cupy: Any) -> None:
    source = """
    extern "C" __global__ void look(double *y, int at) {
        extern __shared__ double room[];
        y[blockIdx.x] = room[0];
        room[at] = 1.0;
    }"""
    y = cupy.zeros(2)
    kernel = _kernel(source, "look")
    kernel((2,), (1,), (y, np.int32(0)), shared=8)
    assert np.isnan(y.get()).all()
    with pytest.raises(WouldCrash, match="behind its 8 bytes"):
        kernel((1,), (1,), (y, np.int32(1)), shared=8)
    with pytest.raises(WouldCrash, match="at most 49152"):
        kernel((1,), (1,), (y, np.int32(0)), shared=49153)


def test_barriers_that_not_all_threads_reach_are_refused(cupy: Any) -> None:
    source = """
    extern "C" __global__ void part(int *y, int how) {
        int t = threadIdx.x;
        if (how == 0 && t == 3) return;
        if (how == 1 && t > 4) { __syncthreads(); } else { __syncthreads(); }
        if (how == 2 && t == 3)
            __syncthreads();
        y[t] = __shfl_sync(how == 3 ? 0xFFFFu : 0xFFFFFFFFu, t, 0);
    }"""
    y = cupy.zeros(8, np.int32)
    kernel = _kernel(source, "part")
    kernel((1,), (8,), (y, np.int32(1)))  # both barriers are on one line
    for how, message in (
        (0, "7 of 8 threads wait at source.cu:5, 1 have ended"),
        (2, "wait at"),
        (3, "mask"),
    ):
        with pytest.raises(WouldCrash, match=message):
            kernel((1,), (8,), (y, np.int32(how)))
        kernel((1,), (8,), (y, np.int32(4)))  # and the next launch works
        assert not y.get().any()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda c, x, y: ((1,), (256,), (x, y)), "2 arguments for 3 parameters"),
        (lambda c, x, y: ((1,), (256,), (x, y, np.int64(4))), "argument 2 is int64 .*integer of 4 bytes"),
        (lambda c, x, y: ((1,), (256,), (x, y, np.float32(4))), "argument 2 is float32"),
        (lambda c, x, y: ((1,), (256,), (x, y, x)), "argument 2 is an array"),
        (lambda c, x, y: ((1,), (256,), (x.astype("f8"), y, np.int32(4))), "an array of float64"),
        (lambda c, x, y: ((1,), (256,), (np.int32(1), y, np.int32(4))), "takes a pointer"),
        (lambda c, x, y: ((1,), (257,), (x, y, np.int32(4))), "at most 256"),
        (lambda c, x, y: ((1, 65536), (256,), (x, y, np.int32(4))), "65535"),
    ],
)
def test_launches_that_cupy_would_pass_on_are_refused(cupy: Any, wrong: Any, message: str) -> None:
    x, y = cupy.zeros(4, np.float32), cupy.zeros(4, np.float32)
    with pytest.raises(WouldCrash, match=message):
        _kernel(SUM, "sums", BARRIER="__syncthreads();")(*wrong(cupy, x, y))


def test_more_threads_than_find_registers_for_sure_need_bounds(cupy: Any) -> None:
    source = 'extern "C" __global__ void f(int *y) { y[threadIdx.x] = 1; }'
    y = cupy.zeros(512, np.int32)
    with pytest.raises(WouldCrash, match="at most 256"):
        _kernel(source, "f")((1,), (257,), (y,))
    _kernel(source.replace("void", "void __launch_bounds__(512)"), "f")((1,), (512,), (y,))
    assert y.get().all()


def test_sources_with_errors_and_missing_kernel_names_are_refused(cupy: Any) -> None:
    with pytest.raises(CompileException, match=r"source.cu.*(abc|expected)"):
        _kernel('extern "C" __global__ void f(int *y) { abc }', "f")((1,), (1,), (cupy.zeros(1, "i4"),))
    with pytest.raises(CompileException, match="deleted"):
        _kernel('extern "C" __global__ void f(float *y) { atomicAdd(y, 1.0f); }', "f")((1,), (1,), ())
    with pytest.raises(cupy.cuda.driver.CUDADriverError, match="CUDA_ERROR_NOT_FOUND"):
        _kernel("__global__ void f(int *y) { *y = 1; }", "f")((1,), (1,), (cupy.zeros(1, "i4"),))
    with pytest.raises(TypeError, match="give an array or a NumPy scalar"):
        _kernel('extern "C" __global__ void f(int y) {}', "f")((1,), (1,), (4,))


def test_warps_that_never_wait_for_each_other_take_their_turns(cupy: Any) -> None:
    source = """
    extern "C" __global__ void __launch_bounds__(1024) turns(const float *x, float *y) {
        int t = threadIdx.x;
        float sum = x[t];
        for (int n = 0; n < 40; n++) sum += __shfl_xor_sync(0xFFFFFFFFu, sum, 1);
        y[t] = sum;
    }
    """
    y = cupy.zeros(1024, np.float32)
    _kernel(source, "turns")((1,), (1024,), (cupy.asarray(np.ones(1024, np.float32)), y))
    assert (y.get() == 2.0**40).all()
