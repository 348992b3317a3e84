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

__getattr__ = lazy(__name__, modules=("layers",))

__all__ = [
    "CPUPlace",
    "CUDAPinnedPlace",
    "CUDAPlace",
    "Executor",
    "ParamAttr",
    "Program",
    "Variable",
    "core",
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
