"""Paddle's ``static``: names over the Program and its Executor."""

from engine.jit.input_spec import InputSpec
from engine.program.executor import Executor, default_main_program, program_guard
from engine.program.program import Block, Program, Variable
from engine.static.inputs import data

__all__ = [
    "Block", "Executor", "InputSpec", "Program", "Variable", "data", "default_main_program", "program_guard",
]  # fmt: skip
