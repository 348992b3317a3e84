"""The device of a setting, with a GPU (the stand-in for CuPy) and without one."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

import engine as paddle
from engine.core import devices
from engine.core.errors import ArgumentError, MissingDeviceError
from engine.core.place import place_guard
from engine.run import main
from engine.training.environment import difference, environment
from tests.cupy_stand_in.module import installed


@pytest.fixture
def gpu() -> Iterator[None]:
    with installed(), place_guard("cpu"):
        yield


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "engine.kernels.cupy", None)


@pytest.mark.usefixtures("gpu")
def test_with_a_gpu() -> None:
    assert devices.use("auto") == devices.Used("gpu:0")
    assert paddle.zeros([2]).place == paddle.CUDAPlace(0)
    assert devices.label() == "gpu:0 (Stand-in)"
    assert devices.versions() == {"cupy": sys.modules["cupy"].__version__, "cuda": "12.9", "driver": "12.9"}
    shown = environment()
    assert (shown["device"], shown["driver"]) == ("gpu:0 (Stand-in)", "12.9")
    before = {"device": "cpu", "threads": int(shown["threads"]), "blas": shown["blas"]}
    assert difference(before).endswith("before: device cpu before, gpu:0 (Stand-in) now")
    assert devices.use("cpu").device == devices.label() == paddle.get_device() == "cpu"
    assert devices.versions() == {}


@pytest.mark.usefixtures("no_gpu")
def test_without_a_gpu_scripts_run_on_the_cpu() -> None:
    used = devices.use("auto")
    assert used.device == paddle.get_device() == "cpu"
    assert used.fallback.startswith("device auto: the CPU computes, because gpu:0 needs CuPy, which")
    with pytest.raises(
        MissingDeviceError,
        match=r"^device gpu:1: needs CuPy.*; pip install 'model-studio\[gpu\]'.*, or .* --device cpu$",
    ):
        devices.use("gpu:1")
    with pytest.raises(ArgumentError, match="'tpu' is not a device"):
        devices.use("tpu")


@pytest.mark.usefixtures("no_gpu")
def test_a_script_begins_on_the_chosen_device(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--device", "gpu:1", "-m", "timeit"]) == 1
    assert capsys.readouterr().err.startswith("run: device gpu:1: needs CuPy")
    assert main(["--device", "gpu:x", "script.py"]) == 2
