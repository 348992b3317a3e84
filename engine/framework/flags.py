"""Paddle's flags: names and values that are set and read; those that mean something here act."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.core.errors import ArgumentError, DTypeError
from engine.eager.checks import check_values
from engine.eager.counting import count_operators

# The public flags of Paddle 2.6.2 for one machine with their first values, and some of its GPU builds, which
# scripts set. The engine has no use for most: they are stored and read back.
_FLAGS: dict[str, Any] = {
    "add_dependency_for_communication_op": True,
    "alloc_fill_value": -1,
    "allocator_strategy": "auto_growth",
    "allreduce_record_one_event": False,
    "apply_pass_to_program": False,
    "async_trace_count": 5,
    "auto_growth_chunk_size_in_mb": 0,
    "benchmark": False,
    "cache_inference_while_scope": False,
    "call_stack_level": 1,
    "check_nan_inf": False,
    "check_nan_inf_level": 0,
    "conv_workspace_size_limit": 512,
    "convert_all_blocks": True,
    "cpu_deterministic": False,
    "cudnn_batchnorm_spatial_persistent": False,
    "cudnn_deterministic": False,
    "cudnn_exhaustive_search": False,
    "dygraph_debug": 0,
    "eager_delete_scope": True,
    "eager_delete_tensor_gb": 0.0,
    "einsum_opt": False,
    "embedding_deterministic": 0,
    "enable_adjust_op_order": 0,
    "enable_api_kernel_fallback": True,
    "enable_async_trace": False,
    "enable_auto_detect_gpu_topo": True,
    "enable_auto_rdma_trans": True,
    "enable_cublas_tensor_op_math": False,
    "enable_dependency_builder_debug_info": False,
    "enable_dump_main_program": False,
    "enable_record_memory": False,
    "enable_unused_var_check": False,
    "executor_log_deps_every_microseconds": 0,
    "fast_eager_deletion_mode": True,
    "fraction_of_cpu_memory_to_use": 1.0,
    "fraction_of_cuda_pinned_memory_to_use": 0.5,
    "fraction_of_gpu_memory_to_use": 0.9200000166893005,
    "fuse_parameter_groups_size": 1,
    "fuse_parameter_memory_size": -1.0,
    "gemm_use_half_precision_compute_type": False,
    "get_host_by_name_time": 120,
    "gpu_allocator_retry_time": 10000,
    "gpu_memory_limit_mb": 0,
    "host_trace_level": 1,
    "init_allocated_mem": False,
    "initial_cpu_memory_in_mb": 500,
    "initial_gpu_memory_in_mb": 0,
    "inner_op_parallelism": 0,
    "ir_inplace_kernel_blacklist": "",
    "jit_engine_type": "Predictor",
    "local_exe_sub_scope_limit": 256.0,
    "log_memory_stats": False,
    "low_precision_op_list": 0,
    "max_inplace_grad_add": 0,
    "memory_fraction_of_eager_deletion": 1.0,
    "multiple_of_cupti_buffer_size": 1,
    "new_executor_sequential_run": False,
    "new_executor_serial_run": False,
    "new_executor_static_build": False,
    "new_executor_use_cuda_graph": False,
    "new_executor_use_inplace": False,
    "new_executor_use_local_scope": True,
    "paddle_num_threads": 1,
    "pe_profile_fname": "",
    "prim_enabled": False,
    "print_ir": False,
    "reader_queue_speed_test_mode": False,
    "reallocate_gpu_memory_in_mb": 0,
    "run_kp_kernel": False,
    "search_cache_max_number": 1000000,
    "selected_gpus": "",
    "set_to_1d": False,
    "sort_sum_gradient": False,
    "static_executor_perfstat_filepath": "",
    "sync_after_alloc": False,
    "tensor_operants_mode": "eager",
    "tracer_mkldnn_ops_off": "",
    "tracer_mkldnn_ops_on": "",
    "tracer_profile_fname": "xxgperf",
    "use_auto_growth_pinned_allocator": False,
    "use_autotune": False,
    "use_cuda_managed_memory": False,
    "use_mkldnn": False,
    "use_pinned_memory": True,
    "use_shm_cache": False,
    "use_stream_safe_cuda_allocator": True,
    "use_stride_kernel": True,
    "use_system_allocator": False,
    "use_virtual_memory_auto_growth": False,
}
_PREFIX = "FLAGS_"


def get_flags(flags: str | list[str] | tuple[str, ...]) -> dict[str, Any]:
    """The values of flags by name. Raises ArgumentError for a name that Paddle does not have."""
    if not isinstance(flags, (str, list, tuple)):
        raise DTypeError(f"get_flags: takes a name or a list of names: got {type(flags).__name__}")
    names = [flags] if isinstance(flags, str) else flags
    return {name: _FLAGS[_known("get_flags", name)] for name in names}


def set_flags(flags: Mapping[str, Any]) -> None:
    """Set flags from a dict of names and values.

    ``FLAGS_apply_pass_to_program`` has no effect: passes are switched by ``engine.program.passes.level``.
    ``FLAGS_check_nan_inf`` makes every eager operator look at its result and raise NotFiniteError where it
    holds nan or infinity (warn with ``FLAGS_check_nan_inf_level`` above 0); operators of a converted function
    or a Program are not looked at. ``FLAGS_low_precision_op_list`` above 0 counts eager operators, which
    ``amp.debugging`` prints. Raises ArgumentError for a name that Paddle does not have, DTypeError for
    a value of another kind.
    """
    if not isinstance(flags, Mapping):
        raise DTypeError(f"set_flags: takes a dict: got {type(flags).__name__}")
    found = {_known("set_flags", name): value for name, value in flags.items()}
    converted = {name: _converted(name, value) for name, value in found.items()}
    _FLAGS.update(converted)
    if converted.keys() & {"check_nan_inf", "check_nan_inf_level"}:
        check_values(_FLAGS["check_nan_inf"], _FLAGS["check_nan_inf_level"])
    if "low_precision_op_list" in converted:
        count_operators(_FLAGS["low_precision_op_list"] > 0)


def _known(where: str, name: Any) -> str:
    plain = name.removeprefix(_PREFIX) if isinstance(name, str) and name.startswith(_PREFIX) else None
    if plain not in _FLAGS:
        raise ArgumentError(f"{where}: there is no flag {name!r}; names are as in Paddle: 'FLAGS_...'")
    return plain


def _converted(name: str, value: Any) -> Any:
    """``value`` as the kind that the flag has; texts are read, as they come from the environment."""
    kind = type(_FLAGS[name])
    try:
        if kind is bool and isinstance(value, str):
            return {"1": True, "true": True, "0": False, "false": False}[value.lower()]
        if kind is not str and isinstance(value, (bool, int, float, str)):
            return kind(value)
        if kind is str and isinstance(value, str):
            return value
    except (KeyError, ValueError):
        pass
    raise DTypeError(f"set_flags: {_PREFIX}{name} is a {kind.__name__}: got {value!r}")
