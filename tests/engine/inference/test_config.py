"""Config: what its switches say, and what summary() shows of them."""

from __future__ import annotations

import warnings

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import engine as paddle
from engine.core.errors import ArgumentError, DeviceError, DTypeError
from engine.core.strictness import LeniencyWarning
from engine.inference import (
    Config,
    DataType,
    PlaceType,
    PrecisionType,
    XpuConfig,
    get_num_bytes_of_data_type,
    get_trt_compile_version,
    get_version,
)

# What Paddle 2.6.2 prints for the same Config, without the folder.
RECORDED = """
+--------------------------+-------------+
| Option                   | Value       |
+--------------------------+-------------+
| model_file               | m.pdmodel   |
| params_file              | m.pdiparams |
+--------------------------+-------------+
| cpu_math_thread          | 1           |
| enable_mkldnn            | true        |
| mkldnn_cache_capacity    | 10          |
+--------------------------+-------------+
| use_gpu                  | false       |
+--------------------------+-------------+
| use_xpu                  | false       |
+--------------------------+-------------+
| use_cinn_compiler        | false       |
| save_optimized_model     | false       |
| ir_optim                 | true        |
| ir_debug                 | false       |
| memory_optim             | false       |
| enable_profile           | false       |
| enable_log               | false       |
| collect_shape_range_info | false       |
+--------------------------+-------------+
"""


def test_the_summary_is_paddles() -> None:
    config = Config("m.pdmodel", "m.pdiparams")
    config.disable_glog_info()
    assert config.summary() == RECORDED


def test_the_summary_reports_what_has_no_effect() -> None:
    config = Config("m.pdmodel", "m.pdiparams")
    config.delete_pass("fc_fuse_pass")
    config.collect_shape_range_info("shapes.txt")
    config.enable_memory_optim()
    with pytest.warns(LeniencyWarning, match="there is no TensorRT here"):
        config.enable_tensorrt_engine(precision_mode=PrecisionType.Half)
    lines = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in config.summary().splitlines()
        if "|" in line
    ]
    place = lines.index(["Without effect here", "Value"])
    assert ["memory_optim", "true"] in lines[:place]
    assert lines[place + 1 :] == [
        ["delete_pass(fc_fuse_pass)", "true"],
        ["collect_shape_range_info", "shapes.txt"],
        ["enable_tensorrt_engine", "Half"],
    ]
    assert not config.tensorrt_engine_enabled()
    assert config.tensorrt_precision_mode() is PrecisionType.Half
    assert config.shape_range_info_collected()


def test_a_new_config_has_paddles_defaults() -> None:
    config = Config()
    recorded = {
        "use_gpu": False,
        "ir_optim": True,
        "model_from_memory": False,
        "mkldnn_enabled": True,
        "cpu_math_library_num_threads": 1,
        "glog_info_disabled": False,
        "gpu_device_id": 0,
        "memory_pool_init_size_mb": 100,
        "fraction_of_gpu_memory_for_pool": 0.0,
        "specify_input_name": False,
        "use_feed_fetch_ops_enabled": False,
        "tensorrt_engine_enabled": False,
        "lite_engine_enabled": False,
        "onnxruntime_enabled": False,
        "use_xpu": False,
        "xpu_device_id": 0,
        "mkldnn_int8_enabled": False,
        "model_dir": "",
        "prog_file": "",
        "params_file": "",
        "shape_range_info_collected": False,
        "shape_range_info_path": "",
        "tensorrt_optimization_level": 3,
        "tensorrt_precision_mode": PrecisionType.Float32,
        "trt_allow_build_at_runtime": False,
        "use_opencl": False,
        "tuned_tensorrt_dynamic_shape": False,
        "tensorrt_varseqlen_enabled": False,
        "tensorrt_dla_enabled": False,
        "tensorrt_inspector_enabled": False,
        "tensorrt_dynamic_shape_enabled": False,
        "tensorrt_explicit_quantization_enabled": False,
    }
    assert {name: getattr(config, name)() for name in recorded} == recorded


NO_ARGUMENTS = [name for name in dir(Config) if name.startswith(("enable_", "disable_", "exp_enable_use"))]


@pytest.mark.parametrize("name", NO_ARGUMENTS)
def test_every_switch_is_accepted_and_reported(name: str) -> None:
    arguments: dict[str, tuple[object, ...]] = {"enable_custom_device": ("npu",), "enable_use_gpu": (100,)}
    config = Config()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeniencyWarning)
        getattr(config, name)(*arguments.get(name, ()))
    reported = {"disable_gpu", "disable_onnxruntime", "enable_use_gpu", "enable_mkldnn"}  # nothing changes
    assert name in reported or config.summary() != Config().summary()


def test_unsupported_devices_are_refused_in_strict_code() -> None:
    config = Config()
    with paddle.strict(), pytest.raises(DeviceError, match="there is no XPU here"):
        config.enable_xpu()
    with pytest.warns(LeniencyWarning, match="so the CPU is"):
        config.enable_use_gpu(100, 7)
    assert not config.use_gpu()


def test_copies_have_switches_of_their_own() -> None:
    config = Config("m.pdmodel", "m.pdiparams")
    copied = Config(config)
    copied.switch_ir_optim(False)
    copied.switch_ir_debug()
    assert (config.ir_optim(), copied.ir_optim()) == (True, False)
    assert "Without effect" not in config.summary()
    assert copied.prog_file() == "m.pdmodel"
    assert copied.pass_builder().all_passes() == []
    assert "fold_constants" in config.pass_builder().all_passes()


def test_threads_of_blas() -> None:
    with threadpool_limits(limits=None, user_api="blas"):
        config = Config()
        config.set_cpu_math_library_num_threads(1)
        with pytest.raises(ArgumentError, match="names no model"):
            paddle.inference.create_predictor(config)
        assert {info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"} == {1}
    with pytest.raises(ArgumentError, match="at least 1: got 0"):
        config.set_cpu_math_library_num_threads(0)


def test_wrong_arguments() -> None:
    with pytest.raises(DTypeError, match="got \\(int\\)"):
        Config(3)
    with pytest.raises(DTypeError, match="prog is bytes: got str"):
        Config().set_model_buffer("a", 1, b"", 0)  # type: ignore[arg-type]
    config = Config()
    config.set_xpu_device_id(2)
    assert isinstance(config.xpu_config(), XpuConfig)
    assert config.xpu_device_id() == 2


def test_enumerations_have_paddles_numbers() -> None:
    assert {d.name: int(d) for d in DataType} == {
        "FLOAT64": 7,
        "FLOAT32": 0,
        "FLOAT16": 5,
        "INT64": 1,
        "INT32": 2,
        "UINT8": 3,
        "INT8": 4,
        "BOOL": 6,
    }
    assert {p.name: int(p) for p in PlaceType} == {"UNK": -1, "CPU": 0, "GPU": 1, "XPU": 2, "CUSTOM": 4}
    assert Config.Precision.Half is Config.Half is PrecisionType.Half
    assert [get_num_bytes_of_data_type(d) for d in (DataType.FLOAT64, DataType.INT32, DataType.BOOL)] == [
        8,
        4,
        1,
    ]
    assert get_version().startswith("version: 2.6.2\n")
    assert get_trt_compile_version() == (0, 0, 0)
