"""Streams and events on the CPU, and what asks for a device that is absent."""

from __future__ import annotations

import sys
import time
from typing import Any

import pytest

import engine as paddle
from engine import device
from engine.core.errors import DeviceError, DTypeError, ModeError


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "engine.kernels.cupy", None)


def test_events_measure_time() -> None:
    first, second = device.Event(enable_timing=True), device.Event()
    with pytest.raises(ModeError, match="call record"):
        first.elapsed_time(second)
    first.record()
    began = time.perf_counter()
    while time.perf_counter() - began < 0.002:
        pass
    device.current_stream().record_event(second)
    assert 2 <= first.elapsed_time(second) < 2000
    assert second.query()
    second.synchronize()


def test_the_current_stream() -> None:
    stream, other = device.Stream(), device.Stream("cpu", priority=1)
    assert device.current_stream() == stream == other
    assert device.set_stream(stream) == other
    assert device.current_stream() is stream
    with device.stream_guard(other):
        assert device.current_stream() is other
        with device.stream_guard(None):
            assert device.current_stream() is other
    assert device.current_stream() is stream
    event = stream.record_event()
    stream.wait_event(event)
    stream.wait_stream(other)
    assert stream.query()
    for use in (device.set_stream, lambda s: device.stream_guard(s).__enter__()):
        with pytest.raises(DTypeError, match="takes a Stream: got int"):
            use(3)


ASKING: dict[str, Any] = {
    "Stream": lambda cuda: cuda.Stream(),
    "Event": lambda cuda: cuda.Event(),
    "current_stream": lambda cuda: cuda.current_stream(),
    "stream_guard": lambda cuda: cuda.stream_guard(None).__enter__(),
    "properties": lambda cuda: cuda.get_device_properties(),
    "max_memory_allocated": lambda cuda: cuda.max_memory_allocated(),
    "max_memory_reserved": lambda cuda: cuda.max_memory_reserved(0),
    "set_device": lambda cuda: paddle.set_device("gpu"),
}


@pytest.mark.usefixtures("no_gpu")
@pytest.mark.parametrize("name", ASKING)
@pytest.mark.parametrize("kind", [ValueError, RuntimeError, ImportError, DeviceError])
def test_functions_for_gpus_raise_without_one(name: str, kind: type[Exception]) -> None:
    with pytest.raises(kind, match="gpu:0"):
        ASKING[name](device.cuda)


def test_other_devices() -> None:
    with pytest.raises(DeviceError, match="XPUPlace\\(1\\)"):
        device.XPUPlace(1)
    with pytest.raises(DeviceError, match="IPUs are not used"):
        device.IPUPlace()
    with pytest.raises(DeviceError):
        device.xpu.synchronize()
