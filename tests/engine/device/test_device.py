"""device: what there is on a machine without a GPU."""

import pytest

import engine as paddle
from engine.core.errors import EngineError


@pytest.fixture
def no_cupy(monkeypatch):
    from engine.device import kinds

    monkeypatch.setattr(kinds, "find_spec", lambda name: None)
    monkeypatch.setitem(__import__("sys").modules, "engine.kernels.cupy", None)


def test_only_the_cpu(no_cupy):
    device = paddle.device
    assert device.get_available_device() == device.get_all_device_type() == ["cpu"]
    assert device.cuda.device_count() == 0
    assert not device.is_compiled_with_cuda()
    assert device.get_cudnn_version() is None
    assert device.get_device() == "cpu"
    device.synchronize()
    device.cuda.empty_cache()
    with pytest.raises(EngineError, match="gpu:0"):
        device.cuda.get_device_name()
    with pytest.raises(EngineError, match="gpu:1"):
        device.cuda.memory_allocated(1)


def test_kinds_that_never_are_there():
    device = paddle.device
    for question in ("xpu", "ipu", "rocm", "cinn"):
        assert getattr(device, f"is_compiled_with_{question}")() is False
    assert device.is_compiled_with_custom_device("npu") is False
    assert device.get_all_custom_device_type() == device.get_available_custom_device() == []


def test_work_for_a_gpu_that_is_sent_to_the_cpu(monkeypatch):
    monkeypatch.setenv("MODEL_STUDIO_DEVICE", "cpu")
    assert paddle.device.cuda.device_count() == 0
    paddle.device.cuda.empty_cache()
    assert paddle.set_device("gpu:0").is_cpu_place()


@pytest.mark.parametrize("wrong", [-1, "cpu", 2.5])
def test_memory_queries_refuse_other_devices(wrong):
    with pytest.raises(ValueError, match=r"GPU|not a device"):
        paddle.device.cuda.memory_allocated(wrong)
