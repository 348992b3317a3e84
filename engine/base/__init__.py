"""Paddle's ``base``: older paths of names that live elsewhere."""

from engine.base import core, data_feeder, dygraph, framework
from engine.core.attached import Variable
from engine.core.lazy import lazy
from engine.core.place import CPUPlace, CUDAPinnedPlace, CUDAPlace
from engine.device import is_compiled_with_cuda
from engine.framework import disable_static as enable_dygraph
from engine.framework import enable_static as disable_dygraph
from engine.framework import in_dynamic_mode as in_dygraph_mode
from engine.nn.param_attr import ParamAttr
from engine.program.graph.program import Program
from engine.program.run.executor import Executor, default_main_program, program_guard
from engine.utils import require_version, unique_name

__getattr__ = lazy(
    __name__,
    modules=("layers", "lod_tensor"),
    members={"engine.base.lod_tensor": ("create_lod_tensor", "create_random_int_lodtensor")},
)

__all__ = [
    "CPUPlace",
    "CUDAPinnedPlace",
    "CUDAPlace",
    "Executor",
    "ParamAttr",
    "Program",
    "Variable",
    "core",
    "create_lod_tensor",
    "create_random_int_lodtensor",
    "data_feeder",
    "default_main_program",
    "disable_dygraph",
    "dygraph",
    "enable_dygraph",
    "framework",
    "in_dygraph_mode",
    "is_compiled_with_cuda",
    "program_guard",
    "require_version",
    "unique_name",
]
