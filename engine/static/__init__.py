"""Paddle's ``static``: Programs, the Executor that runs them, and layers as functions."""

from engine.jit.input_spec import InputSpec
from engine.program.annotate import device_guard, name_scope
from engine.program.executor import (
    Executor,
    default_main_program,
    default_startup_program,
    program_guard,
)
from engine.program.program import Block, Program, Variable
from engine.program.scope import Scope, global_scope, scope_guard
from engine.program.static_backward import append_backward, gradients
from engine.static import naming_table, nn
from engine.static.inputs import data
from engine.static.parameters import create_global_var, create_parameter

__all__ = [
    "Block", "Executor", "InputSpec", "Program", "Scope", "Variable", "append_backward", "create_global_var",
    "create_parameter", "data", "default_main_program", "default_startup_program", "device_guard",
    "global_scope", "gradients", "name_scope", "nn", "program_guard", "scope_guard",
]  # fmt: skip
