"""Hooks on the gradients of Variables, traced into the Program's backward."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from engine.core.errors import DTypeError, GradientError
from engine.eager.backward import HookHandle
from engine.ops.control.py_layer import py_layer
from engine.program.build.builder import current_builder
from engine.program.graph.program import Variable


def register_hook(variable: Variable, hook: Callable[[Any], Any]) -> HookHandle:
    """Call ``hook(gradient)`` where the gradient of ``variable`` is computed; its result replaces it.

    The hook is called when the backward part is built, with Variables. From here on the name stands for a
    value of its own: gradients from operators that read it before do not pass the hook.
    """
    builder = current_builder()
    if not callable(hook):
        raise DTypeError(f"register_hook: takes a function of the gradient: got {type(hook).__name__}")
    if variable.stop_gradient or builder is None:
        raise GradientError(
            f"register_hook: {variable.name!r} has stop_gradient=True, or no Program is being built: it "
            "gets no gradient"
        )
    now = builder.rebound[id(variable)][1] if id(variable) in builder.rebound else variable
    functions = [hook]
    (made,) = py_layer([now], [now], [], rule=_Rule(functions))
    builder.rebound[id(variable)] = (variable, made)
    return HookHandle(functions, hook)


class _Rule:
    """A gradient that goes through functions; they are looked up when the backward part is built."""

    def __init__(self, functions: list[Callable[[Any], Any]]) -> None:
        self.functions = functions

    def __call__(self, grads: Sequence[Any], outs: Any, specs: Any, saved: Any) -> list[Any]:
        gradient = grads[0]
        for function in self.functions:
            replaced = function(gradient)
            gradient = gradient if replaced is None else replaced
        return [gradient]
