"""Paddle's ``static``: Programs, the Executor that runs them, and layers as functions."""

from engine.jit.input_spec import InputSpec
from engine.program.executor import (
    Executor,
    default_main_program,
    default_startup_program,
    program_guard,
)
from engine.program.program import Block, Program, Variable
from engine.program.scope import Scope, global_scope, scope_guard
from engine.static import naming_table, nn
from engine.static.inputs import data

__all__ = [
    "Block", "Executor", "InputSpec", "Program", "Scope", "Variable", "data", "default_main_program",
    "default_startup_program", "global_scope", "nn", "program_guard", "scope_guard",
]  # fmt: skip
