"""The switches of ``Config`` for engines and devices that the engine does not have: stored and reported,
without effect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

from engine.core.errors import DeviceError
from engine.core.strictness import tolerate
from engine.inference.kinds import PrecisionType


class XpuConfig:
    """Options for Baidu's XPUs, as attributes; stored, without effect."""

    device_id = 0
    l3_size = 0
    l3_ptr: Any = None
    l3_autotune_size = 0
    context: Any = None
    context_gm_size = -1
    stream: Any = None
    conv_autotune_level = 0
    conv_autotune_file = ""
    conv_autotune_file_writeback = False
    fc_autotune_level = 0
    fc_autotune_file = ""
    fc_autotune_file_writeback = False
    gemm_compute_precision = 1
    transformer_softmax_optimize_level = 0
    transformer_encoder_adaptive_seqlen = True
    quant_post_static_gelu_out_threshold = 10.0
    quant_post_dynamic_activation_method = 0
    quant_post_dynamic_weight_precision = 1
    quant_post_dynamic_op_types: Sequence[str] = ()


class OtherEngines:
    """What Paddle's Config can hand a model to, and the engine can't.

    A call is recorded, ``summary()`` reports it, and the model runs with the engine's own operators. Where a
    device or another library was asked for, there is a LeniencyWarning; Paddle without that library raises
    RuntimeError.
    """

    def __init__(self) -> None:
        self._stored: dict[str, str] = {}
        self._trt: dict[str, Any] = {"precision": PrecisionType.Float32, "level": 3, "dynamic": {}}
        self._shapes: dict[str, Any] = {"collected": "", "tuned": "", "build": False}
        self._xpu: XpuConfig = XpuConfig()

    def _keep(self, switch: str, value: Any = True) -> None:
        self._stored[switch] = str(value).lower() if isinstance(value, bool) else str(value)

    def _elsewhere(self, switch: str, library: str, value: Any = True) -> None:
        """Keep a switch that asks for what is not here."""
        tolerate(
            DeviceError(
                f"Config.{switch}: there is no {library} here: the model runs with the engine's own "
                "operators; leave it out"
            )
        )
        self._keep(switch, value)

    def _is_stored(self, *switches: str) -> bool:
        return any(switch in self._stored for switch in switches)

    # -- TensorRT ------------------------------------------------------------------------------------------
    def enable_tensorrt_engine(
        self,
        workspace_size: int = 1 << 30,
        max_batch_size: int = 1,
        min_subgraph_size: int = 3,
        precision_mode: PrecisionType = PrecisionType.Float32,
        use_static: bool = False,
        use_calib_mode: bool = True,
        use_cuda_graph: bool = False,
    ) -> None:
        self._elsewhere("enable_tensorrt_engine", "TensorRT", precision_mode.name)
        self._trt["precision"] = precision_mode

    def tensorrt_engine_enabled(self) -> bool:
        """False: no part of the model runs in TensorRT."""
        return False

    def tensorrt_precision_mode(self) -> PrecisionType:
        found: PrecisionType = self._trt["precision"]
        return found

    def set_trt_dynamic_shape_info(
        self,
        min_input_shape: Mapping[str, Sequence[int]] = {},
        max_input_shape: Mapping[str, Sequence[int]] = {},
        optim_input_shape: Mapping[str, Sequence[int]] = {},
        disable_trt_plugin_fp16: bool = False,
    ) -> None:
        """Shapes may vary in any case: a plan is made for each."""
        self._trt["dynamic"] = dict(min_input_shape)
        self._keep("set_trt_dynamic_shape_info", sorted(min_input_shape))

    def tensorrt_dynamic_shape_enabled(self) -> bool:
        return bool(self._trt["dynamic"])

    def set_tensorrt_optimization_level(self, level: int) -> None:
        self._trt["level"] = int(level)
        self._keep("set_tensorrt_optimization_level", level)

    def tensorrt_optimization_level(self) -> int:
        return int(self._trt["level"])

    def enable_tensorrt_varseqlen(self) -> None:
        self._keep("enable_tensorrt_varseqlen")

    def tensorrt_varseqlen_enabled(self) -> bool:
        return self._is_stored("enable_tensorrt_varseqlen")

    def enable_tensorrt_dla(self, dla_core: int = 0) -> None:
        self._keep("enable_tensorrt_dla", dla_core)

    def tensorrt_dla_enabled(self) -> bool:
        return self._is_stored("enable_tensorrt_dla")

    def enable_tensorrt_inspector(self, inspector_serialize: bool = False) -> None:
        self._keep("enable_tensorrt_inspector", inspector_serialize)

    def tensorrt_inspector_enabled(self) -> bool:
        return self._is_stored("enable_tensorrt_inspector")

    def enable_tensorrt_explicit_quantization(self) -> None:
        self._keep("enable_tensorrt_explicit_quantization")

    def tensorrt_explicit_quantization_enabled(self) -> bool:
        return self._is_stored("enable_tensorrt_explicit_quantization")

    def enable_tensorrt_memory_optim(
        self, engine_memory_sharing: bool = True, sharing_identifier: int = 0
    ) -> None:
        self._keep("enable_tensorrt_memory_optim", engine_memory_sharing)

    def exp_disable_tensorrt_ops(self, ops: Sequence[str]) -> None:
        self._keep("exp_disable_tensorrt_ops", list(ops))

    def mark_trt_engine_outputs(self, output_tensor_names: Sequence[str] = ()) -> None:
        self._keep("mark_trt_engine_outputs", list(output_tensor_names))

    def collect_shape_range_info(self, shape_range_info_path: str) -> None:
        """Nothing is written: shapes may vary in any case."""
        self._shapes["collected"] = shape_range_info_path
        self._keep("collect_shape_range_info", shape_range_info_path)

    def shape_range_info_collected(self) -> bool:
        return bool(self._shapes["collected"])

    def shape_range_info_path(self) -> str:
        return str(self._shapes["collected"])

    def enable_tuned_tensorrt_dynamic_shape(
        self, shape_range_info_path: str = "", allow_build_at_runtime: bool = True
    ) -> None:
        self._shapes |= {"tuned": shape_range_info_path, "build": allow_build_at_runtime}
        self._keep("enable_tuned_tensorrt_dynamic_shape", shape_range_info_path)

    def tuned_tensorrt_dynamic_shape(self) -> bool:
        return self._is_stored("enable_tuned_tensorrt_dynamic_shape")

    def trt_allow_build_at_runtime(self) -> bool:
        return bool(self._shapes["build"])

    # -- other libraries and devices -----------------------------------------------------------------------
    def enable_onnxruntime(self) -> None:
        self._elsewhere("enable_onnxruntime", "ONNX Runtime")

    def disable_onnxruntime(self) -> None:
        self._stored.pop("enable_onnxruntime", None)

    def onnxruntime_enabled(self) -> bool:
        """False: the model does not run in ONNX Runtime."""
        return False

    def enable_ort_optimization(self) -> None:
        self._keep("enable_ort_optimization")

    def enable_lite_engine(
        self,
        precision_mode: PrecisionType = PrecisionType.Float32,
        zero_copy: bool = False,
        passes_filter: Sequence[str] = (),
        ops_filter: Sequence[str] = (),
    ) -> None:
        self._elsewhere("enable_lite_engine", "Paddle Lite", precision_mode.name)

    def lite_engine_enabled(self) -> bool:
        """False: no part of the model runs in Paddle Lite."""
        return False

    def enable_opencl(self) -> None:
        self._elsewhere("enable_opencl", "OpenCL")

    def use_opencl(self) -> bool:
        return False

    def enable_dlnne(
        self,
        min_subgraph_size: int = 3,
        max_batch_size: int = 1,
        use_static_batch: bool = False,
        weight_share_mode: str = "0",
        disable_nodes_by_outputs: Set[str] = frozenset(),
        input_shape_dict: Mapping[str, Sequence[int]] = {},
        use_calib_mode: bool = False,
        precision_mode: PrecisionType = PrecisionType.Float32,
    ) -> None:
        self._elsewhere("enable_dlnne", "DLNNE", precision_mode.name)

    def enable_xpu(
        self,
        l3_size: int = 16 << 20,
        l3_locked: bool = False,
        conv_autotune: bool = False,
        conv_autotune_file: str = "",
        transformer_encoder_precision: str = "int16",
        transformer_encoder_adaptive_seqlen: bool = False,
        enable_multi_stream: bool = False,
    ) -> None:
        self._elsewhere("enable_xpu", "XPU", f"l3_size={l3_size}")

    def use_xpu(self) -> bool:
        return False

    def set_xpu_device_id(self, device_id: int = 0) -> None:
        self._xpu.device_id = int(device_id)
        self._keep("set_xpu_device_id", device_id)

    def xpu_device_id(self) -> int:
        return self._xpu.device_id

    def set_xpu_config(self, config: XpuConfig) -> None:
        self._xpu = config
        self._keep("set_xpu_config")

    def xpu_config(self) -> XpuConfig:
        return self._xpu

    def enable_custom_device(
        self, device_type: str, device_id: int = 0, precision: PrecisionType = PrecisionType.Float32
    ) -> None:
        self._elsewhere("enable_custom_device", f"device {device_type!r}", f"{device_type}:{device_id}")

    def enable_ipu(
        self,
        ipu_device_num: int = 1,
        ipu_micro_batch_size: int = 1,
        ipu_enable_pipelining: bool = False,
        ipu_batches_per_step: int = 1,
    ) -> None:
        self._elsewhere("enable_ipu", "IPU", ipu_device_num)

    def set_ipu_config(
        self,
        ipu_enable_fp16: bool = False,
        ipu_replica_num: int = 1,
        ipu_available_memory_proportion: float = 1.0,
        ipu_enable_half_partial: bool = False,
        ipu_enable_model_runtime_executor: bool = False,
    ) -> None:
        self._keep("set_ipu_config")

    def set_ipu_custom_info(
        self,
        ipu_custom_ops_info: Sequence[Sequence[str]] = (),
        ipu_custom_patterns: Mapping[str, bool] = {},
    ) -> None:
        self._keep("set_ipu_custom_info")

    def load_ipu_config(self, config_path: str) -> None:
        self._keep("load_ipu_config", config_path)

    def exp_enable_use_cutlass(self) -> None:
        self._elsewhere("exp_enable_use_cutlass", "CUTLASS")
