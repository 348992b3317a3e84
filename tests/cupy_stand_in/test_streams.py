"""Streams, graphs, events and memory of the stand-in behave, and refuse, as CUDA's and CuPy's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.cupy_stand_in import counts
from tests.cupy_stand_in.module import installed
from tests.cupy_stand_in.streams import CUDARuntimeError


@pytest.fixture(scope="module", autouse=True)
def cupy() -> Iterator[Any]:
    with installed() as top:
        yield top


def _captured(cupy: Any, function: Any) -> tuple[Any, Any]:
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        assert stream.is_capturing()
        made = function()
        return stream.end_capture(), made


ADD = """
extern "C" __global__ void add(const float *x, float *y) { y[threadIdx.x] += x[threadIdx.x]; }
"""


def _pinned() -> Any:
    import cupyx

    return cupyx.zeros_pinned((2, 2))


def test_a_graph_computes_when_it_is_launched_and_on_the_same_memory(cupy: Any) -> None:
    x, y = cupy.asarray(np.arange(4, dtype=np.float32)), cupy.zeros(4, np.float32)
    z, rows = cupy.zeros((2, 4), np.float32), cupy.asarray(np.array([1, 0]))
    kernel = cupy.RawModule(code=ADD).get_function("add")

    def work() -> Any:
        kernel((1,), (4,), (x, y))
        w = cupy.exp(x * 2) + y.sum()
        z[1] = w
        cupy.add(z, 1, out=z)
        z[0].fill(5)
        return w, z[rows], z.max(axis=0), cupy.concatenate([x, y]), w.reshape(2, 2)

    graph, made = _captured(cupy, work)
    assert not y.get().any()
    assert not z.get().any()
    assert all(np.isnan(each.get()).all() for each in made)
    for step in (1, 2):
        with counts.counted() as found:
            graph.launch()
        assert found.launches == 1
        assert found.waits == 0
        want = np.exp(x.get() * 2) + step * x.get().sum()
        np.testing.assert_allclose(made[0].get(), want, rtol=1e-6)
        np.testing.assert_array_equal(y.get(), step * x.get())
        np.testing.assert_allclose(made[1].get(), [want + 1, [5] * 4], rtol=1e-6)
        np.testing.assert_array_equal(made[2].get(), np.maximum(want + 1, 5).astype(np.float32))
        np.testing.assert_array_equal(made[3].get(), np.concatenate([x.get(), y.get()]))
        np.testing.assert_array_equal(made[4].get(), made[0].get().reshape(2, 2))
    x[...] = 0  # the graph reads the present values
    graph.launch()
    np.testing.assert_array_equal(made[0].get(), 1 + y.get().sum().repeat(4))


def test_memory_that_a_graph_freed_is_reused_and_overwritten(cupy: Any) -> None:
    x = cupy.ones(1000)
    own = cupy.cuda.MemoryPool()
    with cupy.cuda.using_allocator(own.malloc):
        stream = cupy.cuda.Stream(non_blocking=True)
        with stream:
            stream.begin_capture()
            (x * 3).sum()
            graph = stream.end_capture()
            other = cupy.zeros(1000)
    graph.launch()
    assert (other.get() == 3).all()


@pytest.mark.parametrize(
    ("wrong", "error", "message", "spoils"),
    [
        (lambda c, s, x: s.synchronize(), CUDARuntimeError, "cudaErrorStreamCaptureUnsupported", True),
        (lambda c, s, x: c.cuda.Device().synchronize(), CUDARuntimeError, "CaptureUnsupported", True),
        (lambda c, s, x: s.record().synchronize(), CUDARuntimeError, "cudaErrorCapturedEvent", True),
        (lambda c, s, x: float(x.sum()), RuntimeError, "is capturing", False),
        (lambda c, s, x: x.get(), RuntimeError, "is capturing", False),
        (lambda c, s, x: c.nonzero(x), RuntimeError, "is capturing", False),
        (lambda c, s, x: x[x > 0], RuntimeError, "is capturing", False),
        (lambda c, s, x: x.set(np.zeros((2, 2))), RuntimeError, "is capturing", False),
        (lambda c, s, x: x.set(_pinned()), RuntimeError, "H2D transfers are disallowed", False),
        (lambda c, s, x: x.get(out=_pinned(), blocking=False), RuntimeError, "D2H transfers", False),
        (lambda c, s, x: c.asarray(np.zeros(2)), RuntimeError, "H2D transfers are disallowed", False),
        (lambda c, s, x: x @ x, NotImplementedError, "calling cuBLAS API during stream capture", False),
        (lambda c, s, x: x.dot(x), NotImplementedError, "cuBLAS", False),
        (lambda c, s, x: c.einsum("ij,jk->ik", x, x), NotImplementedError, "cuBLAS", False),
        (lambda c, s, x: c.linalg.inv(x), NotImplementedError, "cuSOLVER", False),
        (lambda c, s, x: s.begin_capture(), CUDARuntimeError, "cudaErrorIllegalState", False),
        (lambda c, s, x: c.cuda.Stream.null.begin_capture(), RuntimeError, "default .legacy. stream", False),
    ],
)
def test_a_capture_refuses_invalid_calls(
    cupy: Any, wrong: Any, error: Any, message: str, spoils: bool
) -> None:
    x = cupy.ones((2, 2))
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        with pytest.raises(error, match=message):
            wrong(cupy, stream, x)
        if spoils:
            with pytest.raises(CUDARuntimeError, match="cudaErrorStreamCaptureInvalidated"):
                stream.end_capture()
        else:
            stream.end_capture().launch()
    assert not stream.is_capturing()
    stream.synchronize()


def test_a_stream_that_waits_for_a_capture_takes_part_in_it(cupy: Any) -> None:
    first, second = cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream(non_blocking=True)
    x = cupy.ones(3)
    with first:
        first.begin_capture()
        second.wait_event(first.record())
        with second:
            y = x * 2
        first.wait_event(second.record())
        graph = first.end_capture()
    assert not second.is_capturing()
    assert np.isnan(y.get()).all()
    graph.launch()
    assert (y.get() == 2).all()
    with pytest.raises(NotImplementedError, match="via stream capture"):
        cupy.cuda.Graph()


def test_a_blocking_stream_that_captures_leaves_no_work_to_the_null_stream(cupy: Any) -> None:
    stream, x = cupy.cuda.Stream(), cupy.ones(3)
    stream.begin_capture()
    with pytest.raises(CUDARuntimeError, match="StreamCaptureImplicit"):
        x.fill(2)
    stream.end_capture()
    x.fill(2)


def test_a_pool_counts_splits_joins_and_has_a_limit(cupy: Any) -> None:
    pool = cupy.cuda.MemoryPool()
    with cupy.cuda.using_allocator(pool.malloc):
        a, b = cupy.empty(1000, np.float32), cupy.empty(3, np.int8)
        assert (pool.used_bytes(), pool.total_bytes()) == (4096 + 512, 4096 + 512)
        view, place = a[10:], a.data.ptr
        del a
        assert pool.used_bytes() == 4096 + 512  # the view holds it
        del view
        assert (pool.used_bytes(), pool.free_bytes(), pool.n_free_blocks()) == (512, 4096, 1)
        c = cupy.empty(100, np.int8)
        assert c.data.ptr == place
        assert (pool.used_bytes(), pool.free_bytes(), pool.total_bytes()) == (1024, 3584, 4608)
        del c
        assert pool.n_free_blocks() == 1
        with cupy.cuda.Stream():  # free blocks of one stream are not given to another
            assert cupy.empty(100, np.int8).data.ptr != place
        del b
        pool.free_all_blocks()
        assert pool.total_bytes() == 0
        pool.set_limit(size=2048)
        held = cupy.empty(1024, np.int8)
        with pytest.raises(cupy.cuda.memory.OutOfMemoryError) as error:
            cupy.empty(1025, np.int8)
        assert str(error.value) == (
            "Out of memory allocating 1,536 bytes (allocated so far: 1,024 bytes, limit set to: 2,048 bytes)."
        )
        assert isinstance(error.value, MemoryError)
        assert held.data.mem.size == 1024
        (held + 1)  # a result needs memory as well, here the last there is
    free, total = cupy.cuda.runtime.memGetInfo()
    assert 0 < total - free < total
    with pytest.raises(cupy.cuda.memory.OutOfMemoryError, match="allocating 9,999,999,488 bytes"):
        cupy.cuda.alloc(9_999_999_000)


def test_copies_from_and_to_pinned_memory_do_not_block_the_host(cupy: Any) -> None:
    import cupyx

    x, out = cupyx.empty_pinned((2, 3), np.float32), cupyx.zeros_pinned((2, 3), np.float32)
    x[...] = 7
    y = cupy.empty((2, 3), np.float32)
    with counts.counted() as found:
        y.set(x)
        y.get(out=out, blocking=False)
    assert (found.to_device, found.to_host, found.pinned, found.waits) == (1, 1, 2, 0)
    assert np.isnan(out).all()  # the copy has not been waited for
    cupy.cuda.get_current_stream().synchronize()
    assert (out == 7).all()
    with counts.counted() as found:
        y.set(np.zeros((2, 3), np.float32))
        y.get(out=np.empty((2, 3), np.float32), blocking=False)
    assert (found.pinned, found.waits) == (0, 1)
    y.set(x)
    event = cupy.cuda.get_current_stream().record()
    x[0, 0] = 8
    with pytest.raises(AssertionError, match="was written before its copy was waited for"):
        event.synchronize()


def test_a_number_is_an_argument_of_a_kernel_and_no_copy(cupy: Any) -> None:
    with counts.counted() as found:
        graph, made = _captured(cupy, lambda: cupy.asarray(np.float32(2.5)))
    assert (found.to_device, found.launches) == (0, 1)
    graph.launch()
    assert made.get() == np.float32(2.5)


def test_time_between_events(cupy: Any) -> None:
    first, last = cupy.cuda.Event(), cupy.cuda.Event()
    first.record()
    last.record()
    with pytest.raises(CUDARuntimeError, match="cudaErrorNotReady"):
        cupy.cuda.get_elapsed_time(first, last)
    last.synchronize()
    assert cupy.cuda.get_elapsed_time(first, last) > 0
    with pytest.raises(CUDARuntimeError, match="cudaErrorInvalidResourceHandle"):
        cupy.cuda.get_elapsed_time(first, cupy.cuda.Event())
