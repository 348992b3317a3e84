"""Paddle's ``fluid``, the package of versions before 2.0: thin names for scripts that still import it."""

from engine.base import (
    CPUPlace,
    CUDAPinnedPlace,
    CUDAPlace,
    Executor,
    Program,
    Variable,
    default_main_program,
    disable_dygraph,
    enable_dygraph,
    framework,
    in_dygraph_mode,
    is_compiled_with_cuda,
    program_guard,
    require_version,
    unique_name,
)
from engine.fluid import (
    clip,
    dygraph,
    dygraph_grad_clip,
    initializer,
    layers,
    optimizer,
    param_attr,
    regularizer,
)
from engine.fluid.param_attr import ParamAttr

__all__ = [
    "CPUPlace", "CUDAPinnedPlace", "CUDAPlace", "Executor", "ParamAttr", "Program", "Variable", "clip",
    "default_main_program", "disable_dygraph", "dygraph", "dygraph_grad_clip", "enable_dygraph", "framework",
    "in_dygraph_mode", "initializer", "is_compiled_with_cuda", "layers", "optimizer", "param_attr",
    "program_guard", "regularizer", "require_version", "unique_name",
]  # fmt: skip
