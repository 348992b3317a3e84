"""Paddle's ``static``: names over the Program and its Executor."""

from engine.jit.input_spec import InputSpec
from engine.program.program import Block, Program, Variable

__all__ = ["Block", "InputSpec", "Program", "Variable"]
