"""Paddle's ``base.framework``: the classes of Programs, and what mode is on."""

from engine.core.attached import Variable
from engine.core.operators.operator import Operator
from engine.core.place import CPUPlace, CUDAPinnedPlace, CUDAPlace
from engine.eager.tensor import Parameter
from engine.framework import in_dynamic_mode as in_dygraph_mode
from engine.framework import use_pir_api
from engine.program.graph.program import Block, Program
from engine.program.run.executor import default_main_program, program_guard

__all__ = [
    "Block",
    "CPUPlace",
    "CUDAPinnedPlace",
    "CUDAPlace",
    "Operator",
    "Parameter",
    "Program",
    "Variable",
    "default_main_program",
    "in_dygraph_mode",
    "program_guard",
    "use_pir_api",
]
