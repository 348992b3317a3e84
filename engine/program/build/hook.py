"""Hooks on the gradients of Variables, traced into the Program's backward."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from engine.core.errors import DTypeError, GradientError
from engine.core.frames import located, user_frame
from engine.eager.backward import HookHandle
from engine.ops.control.py_layer import py_layer
from engine.program.build.builder import Builder, Hooked, current_builder
from engine.program.graph.liveness import with_sub_blocks
from engine.program.graph.program import Variable, reads, writes


def register_hook(variable: Variable, hook: Callable[[Any], Any]) -> HookHandle:
    """Call ``hook(gradient)`` where the gradient of ``variable`` is computed; its result replaces it.

    The hook is called when the backward part is built, with Variables, on the sum of the gradients from all
    that reads the variable, before this call and after it. Raises GradientError in a branch for a variable
    from outside that was read before, and in a loop for any from outside: there the hook would see a part of
    the gradient only.
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
    inside = now.block is builder.block
    found = builder.hooked.get(id(now))
    if found is not None and inside:
        functions = found.functions
    else:
        functions = []
        if not inside:
            now = builder.now(variable)
            _require_unread(builder, now)
        made = _insert(builder, now, functions)
        if inside:
            builder.hooked[id(now)] = Hooked(now, made, functions)
        else:  # after the branch the variable is the branch's result
            builder.rebound[id(variable)] = (variable, made)
    functions.append(hook)
    return HookHandle(functions, hook)


def _insert(builder: Builder, variable: Variable, functions: list[Callable[[Any], Any]]) -> Variable:
    """A copy of ``variable`` that all in the block reads in its place; its gradient passes the hooks."""
    block = builder.block
    (made,) = py_layer([variable], [variable], [], rule=_Rule(functions))
    operator = block.ops.pop()
    position = max(
        (n + 1 for n, o in enumerate(block.ops) if any(v is variable for v in writes(o))), default=0
    )
    for reader in with_sub_blocks(block.ops[position:]):
        reader.inputs = _substituted(reader.inputs, variable, made)
        for region in reader.regions:
            region.results = tuple(_substituted(list(region.results), variable, made))
    block.ops.insert(position, operator)
    root = builder.roots.get(id(variable), variable)
    builder.roots[id(made)] = root
    builder.families.setdefault(id(root), [root]).append(made)
    builder.program.changed()
    return made  # type: ignore[no-any-return]


def _substituted(value: Any, old: Variable, new: Variable) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)([_substituted(each, old, new) for each in value])
    return new if value is old else value


def _require_unread(builder: Builder, variable: Variable) -> None:
    block = builder.block
    while block is not variable.block and block.parent is not None:
        if block.loops:
            break
        block = block.parent
        if any(v is variable for o in with_sub_blocks(block.ops) for v in reads(o)):
            break
    else:
        return
    raise located(
        GradientError(
            f"register_hook: {variable.name!r} {variable.spec} comes from outside of this "
            f"{'loop' if block.loops else 'branch, and was read before it'}; register the hook where it is "
            "computed"
        ),
        user_frame(),
    )


class _Rule:
    """A gradient that passes through functions; they are looked up when the backward part is built."""

    def __init__(self, functions: list[Callable[[Any], Any]]) -> None:
        self.functions = functions

    def __call__(self, grads: Sequence[Any], outs: Any, specs: Any, saved: Any) -> list[Any]:
        gradient = grads[0]
        for function in self.functions:
            replaced = function(gradient)
            gradient = gradient if replaced is None else replaced
        return [gradient]
