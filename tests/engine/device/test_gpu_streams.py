"""Streams, events and memory of a GPU, on the stand-in for CuPy: what CuPy is asked for, in which order."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import device
from engine.core.errors import ArgumentError, DTypeError, ModeError
from engine.core.place import place_guard
from tests.cupy_stand_in.counts import counted
from tests.cupy_stand_in.module import installed


@pytest.fixture(autouse=True)
def cupy() -> Iterator[Any]:
    with installed() as found, place_guard("gpu:0"):
        yield found


def test_work_goes_to_the_stream_of_the_block(cupy: Any) -> None:
    stream = device.Stream(priority=1)
    outside = device.current_stream()
    assert stream != outside
    with device.stream_guard(stream):
        assert device.current_stream() == stream
        assert cupy.cuda.get_current_stream() is stream.stream_base
        with device.cuda.stream_guard(None):
            assert cupy.cuda.get_current_stream() is stream.stream_base
    assert device.current_stream() == outside
    assert device.set_stream(stream) == outside
    assert device.current_stream() == stream
    assert device.set_stream(outside) == stream
    assert stream.query()
    assert f"{stream.stream_base.ptr:#x}" in repr(stream)


def test_streams_wait_for_one_another_and_the_host_does_not(
    cupy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    reported: list[Any] = []
    monkeypatch.setattr(cupy.cuda.Stream, "wait_event", lambda self, event: reported.append((self, event)))
    first, second = device.cuda.Stream(), device.cuda.Stream(0, 2)
    with counted() as counts:
        event = first.record_event()
        second.wait_event(event)
        second.wait_stream(first)
        first.wait_stream(device.Stream("cpu"))  # whose work is done
    assert counts.waits == 0
    assert [stream for stream, _ in reported] == [second.stream_base] * 2
    assert reported[0][1] is event.event_base
    with counted() as counts:
        event.synchronize()
        second.synchronize()
        device.Stream("cpu").wait_stream(first)
        device.cuda.synchronize(0)
    assert counts.waits == 4
    assert first.cuda_stream == first.stream_base.ptr
    assert first.place == paddle.CUDAPlace(0)


def test_events() -> None:
    first, second = device.Event(), device.cuda.Event()
    with pytest.raises(ModeError, match="call record"):
        first.elapsed_time(second)
    first.record()
    second.record(device.current_stream())
    assert 0 <= first.elapsed_time(second) < 10_000
    assert second.query()
    shared = device.Event(interprocess=True)
    shared.record()
    with pytest.raises(ModeError, match="measures no time"):
        first.elapsed_time(shared)
    other = device.Event("cpu")
    other.record()
    with pytest.raises(ArgumentError, match="use two of one device"):
        first.elapsed_time(other)
    with pytest.raises(ArgumentError, match="can't be recorded in a stream of"):
        first.record(device.Stream("cpu"))


def test_invalid_stream_arguments_are_refused() -> None:
    with pytest.raises(ArgumentError, match=r"priority must be 1 \(high\) or 2 \(normal\): got 3"):
        device.Stream(priority=3)
    with pytest.raises(DTypeError, match="must be a stream of CuPy: got int"):
        device.Stream(stream_base=7)
    for wrong in ("cpu", -1):
        with pytest.raises(ArgumentError, match="GPU"):
            device.cuda.get_device_name(wrong)
    with pytest.raises(ValueError, match=r"'gpu:7' does not exist: this machine has 1 GPU\(s\)"):
        device.cuda.memory_allocated(7)


class FakePool:
    """A pool of which a test says how much is in use."""

    used = total = walks = 0

    def malloc(self, size: int) -> object:
        self.used += -(-size // 512) * 512
        self.total = max(self.total, self.used)
        return object()

    def used_bytes(self) -> int:
        self.walks += 1
        return self.used

    def total_bytes(self) -> int:
        return self.total

    def free_all_blocks(self) -> None:
        self.total = self.used


def test_the_peak_is_exact_and_seldom_counted() -> None:
    from engine.kernels.cupy.device.memory import Peaks

    pool = FakePool()
    peaks = Peaks(pool)
    for _ in range(4):
        peaks(1000)
    pool.used -= 3000
    assert (peaks.used(0), peaks.held(0)) == (4096, 4096)
    before = pool.walks
    peaks(100)
    pool.used -= 512
    assert pool.walks == before  # nothing could have passed the peak
    peaks(5000)
    assert peaks.used(0) == 1096 + 5120
    peaks.reset_used(0)
    pool.used -= 5120
    peaks(1)
    assert peaks.used(0) == 1096 + 5120
    peaks.reset_used(0)
    assert peaks.used(0) == 1096 + 512
    peaks.free_blocks(0)
    assert peaks.held(0) == 1096 + 5120
    peaks.reset_held(0)
    assert peaks.held(0) == 1096 + 512


def test_the_peak_counts_what_all_threads_ask_for() -> None:
    from engine.kernels.cupy.device.memory import Peaks

    pool = FakePool()
    peaks = Peaks(pool)
    threads = [threading.Thread(target=peaks, args=(512,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert peaks.used(0) == 8 * 512


def test_memory_is_asked_for(cupy: Any) -> None:
    kept = paddle.ones([256])
    assert device.cuda.max_memory_allocated() >= device.cuda.memory_allocated(0) >= 0
    assert device.cuda.max_memory_reserved("gpu:0") >= device.cuda.memory_reserved() >= 0
    device.cuda.reset_max_memory_allocated()
    device.cuda.reset_max_memory_reserved()
    device.cuda.empty_cache()
    properties = device.cuda.get_device_properties(paddle.CUDAPlace(0))
    assert (properties.name, properties.major) == (device.cuda.get_device_name(), 8)
    assert device.cuda.get_device_capability() == (8, 0)
    assert kept.place == paddle.CUDAPlace(0)


def test_page_locked_tensors() -> None:
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    x = paddle.to_tensor(values, place=paddle.CUDAPinnedPlace())
    assert repr(x.place) == "Place(gpu_pinned)"
    assert (x.place.is_cuda_pinned_place(), x.place.is_cpu_place(), x.place.is_gpu_place()) == (1, 0, 0)
    assert x.place != paddle.CPUPlace()
    assert x.pin_memory() is x
    for blocking, waits in ((True, 1), (False, 0)):
        with counted() as counts:
            moved = x.cuda(blocking=blocking)
        assert (counts.waits, counts.to_device) == (waits, 1)
        assert moved.place == paddle.CUDAPlace(0)
        np.testing.assert_array_equal(moved.numpy(), values)
    with counted() as counts:
        x.to("gpu:0", blocking=False)
    assert counts.waits == 0
    back = moved.pin_memory()
    assert back.place.is_cuda_pinned_place()
    np.testing.assert_array_equal(back.numpy(), values)
    assert back.cpu().place == paddle.CPUPlace()
    empty = paddle.to_tensor(np.zeros((0, 3), np.float32), place="cpu").pin_memory()
    assert empty.cuda().shape == [0, 3]


def test_gradients_flow_through_page_locked_memory() -> None:
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    (x.pin_memory().cuda(blocking=False) * 3.0).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    assert x.grad.place == paddle.CUDAPlace(0)
