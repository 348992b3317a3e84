"""Paddle's ``fluid``, the package of versions before 2.0: thin names for scripts that still import it."""

from engine.base import (
    CPUPlace,
    CUDAPinnedPlace,
    CUDAPlace,
    Executor,
    ParamAttr,
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
from engine.fluid import dygraph, layers

__all__ = [
    "CPUPlace", "CUDAPinnedPlace", "CUDAPlace", "Executor", "ParamAttr", "Program", "Variable",
    "default_main_program", "disable_dygraph", "dygraph", "enable_dygraph", "framework", "in_dygraph_mode",
    "is_compiled_with_cuda", "layers", "program_guard", "require_version", "unique_name",
]  # fmt: skip
