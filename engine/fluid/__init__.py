"""Paddle's ``fluid``, the package of versions before 2.0: thin names for scripts that still import it."""

import importlib
import importlib.util
import sys
from typing import Any

from engine.base.lod_tensor import create_lod_tensor, create_random_int_lodtensor
from engine.core.alias.absent import reason
from engine.fluid import (
    clip,
    core,
    dygraph,
    dygraph_grad_clip,
    executor,
    framework,
    initializer,
    layers,
    optimizer,
    param_attr,
    regularizer,
)
from engine.fluid.core import LoDTensor, LoDTensorArray
from engine.fluid.dygraph import (
    disable_dygraph,
    enable_dygraph,
    load_dygraph,
    save_dygraph,
)
from engine.fluid.dygraph.layers import Layer
from engine.fluid.executor import Executor, ParallelExecutor, Scope, global_scope, scope_guard
from engine.fluid.framework import (
    CPUPlace,
    CUDAPinnedPlace,
    CUDAPlace,
    Program,
    Variable,
    cpu_places,
    cuda_pinned_places,
    cuda_places,
    default_main_program,
    default_startup_program,
    in_dygraph_mode,
    is_compiled_with_cuda,
    name_scope,
    program_guard,
    require_version,
)
from engine.fluid.input import data, embedding, one_hot
from engine.fluid.param_attr import ParamAttr, WeightNormParamAttr
from engine.fluid.renamed.modules import add_to as _add_modules_to
from engine.fluid.transpiler import DistributeTranspiler, DistributeTranspilerConfig
from engine.framework.flags import get_flags, set_flags
from engine.io.feeding import DataFeeder
from engine.static import (
    BuildStrategy,
    CompiledProgram,
    ExecutionStrategy,
    device_guard,
    gradients,
)
from engine.static.state_files import load, load_program_state, save, set_program_state

__all__ = [
    "BuildStrategy",
    "CPUPlace",
    "CUDAPinnedPlace",
    "CUDAPlace",
    "CompiledProgram",
    "DataFeeder",
    "DistributeTranspiler",
    "DistributeTranspilerConfig",
    "ExecutionStrategy",
    "Executor",
    "Layer",
    "LoDTensor",
    "LoDTensorArray",
    "ParallelExecutor",
    "ParamAttr",
    "Program",
    "Scope",
    "Tensor",
    "Variable",
    "WeightNormParamAttr",
    "clip",
    "core",
    "cpu_places",
    "create_lod_tensor",
    "create_random_int_lodtensor",
    "cuda_pinned_places",
    "cuda_places",
    "data",
    "default_main_program",
    "default_startup_program",
    "device_guard",
    "disable_dygraph",
    "disable_imperative",
    "enable_imperative",
    "dygraph",
    "dygraph_grad_clip",
    "embedding",
    "enable_dygraph",
    "executor",
    "framework",
    "get_flags",
    "global_scope",
    "gradients",
    "in_dygraph_mode",
    "initializer",
    "is_compiled_with_cuda",
    "layers",
    "load",
    "load_dygraph",
    "load_program_state",
    "memory_optimize",
    "name_scope",
    "one_hot",
    "optimizer",
    "param_attr",
    "program_guard",
    "regularizer",
    "release_memory",
    "require_version",
    "save",
    "save_dygraph",
    "scope_guard",
    "set_flags",
    "set_program_state",
    "unique_name",
]


_add_modules_to(__name__)
Tensor = LoDTensor
enable_imperative, disable_imperative = enable_dygraph, disable_dygraph


def __getattr__(name: str) -> Any:
    """A module of fluid, imported at its first use, or a Layer of ``fluid.dygraph.nn``."""
    if name in dygraph.nn.__all__:
        return getattr(dygraph.nn, name)
    if not name.startswith("_") and importlib.util.find_spec(f"{__name__}.{name}") is not None:
        return importlib.import_module(f"{__name__}.{name}")
    why = reason("paddle.fluid", name)
    said = f"module {__name__!r} has no attribute {name!r}"
    if why is not None:
        said = f"paddle.fluid.{name}: is absent: it {why}"
    raise AttributeError(said, name=name, obj=sys.modules[__name__])


def memory_optimize(
    input_program: Any,
    skip_opt_set: Any = None,
    print_log: bool = False,
    level: int = 0,
    skip_grads: bool = True,
) -> None:
    """Nothing to do, as in Paddle from 1.6 on: buffers are reused anyway."""


def release_memory(input_program: Any, skip_opt_set: Any = None) -> None:
    """Nothing to do, see ``memory_optimize``."""
