"""Messages for a GPU that can't be used; with a stand-in for CuPy, since machines differ."""

from __future__ import annotations

import types
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

import engine
from engine.core.errors import DeviceError
from tests.cupy_stand_in.module import replaced


class _RuntimeError(Exception):
    pass


def _stand_in(count: Any, zeros: Any = None) -> types.ModuleType:
    cupy: Any = types.ModuleType("cupy")

    def get_count() -> int:
        if isinstance(count, Exception):
            raise count
        return int(count)

    class Device:
        def __init__(self, index: int) -> None: ...
        def __enter__(self) -> None: ...
        def __exit__(self, *_: object) -> None: ...

    runtime = types.SimpleNamespace(getDeviceCount=get_count, CUDARuntimeError=_RuntimeError)
    cupy.cuda = types.SimpleNamespace(runtime=runtime, Device=Device)
    cupy.zeros = zeros
    made: types.ModuleType = cupy
    return made


@pytest.fixture
def cupy() -> Iterator[Any]:
    with ExitStack() as stack:

        def install(*arguments: Any) -> None:
            stack.close()  # the one before
            stack.enter_context(replaced(cupy=_stand_in(*arguments)))

        yield install


def test_no_driver(cupy: Any) -> None:
    cupy(_RuntimeError("cudaErrorInsufficientDriver: CUDA driver version is insufficient"))
    with pytest.raises(
        DeviceError, match=r"'gpu:0' can't be used: .*cudaErrorInsufficientDriver.*set_device\('cpu'\)"
    ):
        engine.set_device("gpu")
    assert engine.get_device() == "cpu"


def test_a_missing_gpu_is_refused(cupy: Any) -> None:
    cupy(2)
    with pytest.raises(
        DeviceError, match=r"'gpu:5' does not exist: this machine has 2 GPU\(s\); use 'gpu:0' to 'gpu:1'"
    ):
        engine.set_device("gpu:5")
    cupy(0)
    with pytest.raises(DeviceError, match="this machine has no GPU"):
        engine.set_device("gpu")


def test_a_gpu_that_can_not_compute(cupy: Any) -> None:
    def zeros(_: int) -> Any:
        raise OSError("libnvrtc.so.12 not found")

    cupy(1, zeros)
    with pytest.raises(DeviceError, match="CuPy says OSError: libnvrtc"):
        engine.set_device("gpu")
    assert engine.get_device() == "cpu"


def test_a_gpu_without_the_compiler_of_kernels(cupy: Any) -> None:
    """CuPy's wheels have sums ready-made; everything else is compiled by NVRTC, which is not in them."""

    class Zeros:
        def sum(self) -> Any:
            return types.SimpleNamespace(item=lambda: 0.0)

        def __add__(self, _: int) -> Any:
            raise RuntimeError("Failure finding nvrtc library")

    cupy(1, lambda _: Zeros())
    with pytest.raises(
        DeviceError, match=r"RuntimeError: Failure finding nvrtc library; .*pip install 'model-studio\[gpu\]'"
    ):
        engine.set_device("gpu")
