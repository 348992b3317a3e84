"""The building mode: applying an operator infers its results and appends it to the current Block."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from engine.core import mode as modes
from engine.core.errors import ArgumentError, EngineError
from engine.core.opdef import OpDef
from engine.core.operator import Operator
from engine.core.spec import Spec
from engine.eager.tensor import Tensor
from engine.program.program import Block, Program, Variable, variables_of

_ENGINE_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class Builder(modes.Mode):
    """Appends to ``program``. An eager Tensor it meets becomes a persistable Variable of the same storage."""

    fast = False
    static = True

    def __init__(self, program: Program, grad: bool = True, block: Block | None = None) -> None:
        self.program = program
        self.grad = grad
        self.block = block if block is not None else program.global_block()
        # Values changed in place while building: the object the user holds, and what it stands for now.
        self.rebound: dict[int, tuple[Any, Variable]] = {}

    def with_grad(self, grad: bool) -> modes.Mode:
        return self if grad == self.grad else self._variant(grad, self.block)

    def in_block(self, block: Block) -> Builder:
        return self._variant(self.grad, block)

    def _variant(self, grad: bool, block: Block) -> Builder:
        made = Builder(self.program, grad, block)
        made.rebound = self.rebound
        return made

    def apply(self, opdef: OpDef, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        values = tuple(self._value(opdef, i.name, v) for i, v in opdef.named_inputs(inputs))
        attrs = opdef.with_defaults(attrs)
        try:
            specs = opdef.infer_specs([_spec_of(v) for v in values], attrs)
        except EngineError as error:
            raise located(error, user_frame()) from None
        operator = Operator(opdef, values, attrs)
        frame = user_frame()
        if frame is not None:
            operator.code, operator.instruction = frame.f_code, frame.f_lasti
        outputs = self._outputs(opdef, values, specs)
        operator.outputs = tuple(outputs)
        self.block.append(operator)
        return outputs[0] if opdef.single else tuple(outputs)

    def _value(self, opdef: OpDef, name: str, value: Any) -> Any:
        if id(value) in self.rebound:
            return self._value(opdef, name, self.rebound[id(value)][1])
        if value is None or isinstance(value, Variable):
            return value
        if isinstance(value, (list, tuple)):
            return [self._value(opdef, name, v) for v in value]
        if isinstance(value, Tensor):
            return self.program.capture(value)
        raise ArgumentError(
            f"{opdef.name}: input {name!r} must be a Variable or Tensor: got {type(value).__name__}; "
            "use to_tensor()"
        )

    def _outputs(self, opdef: OpDef, values: tuple[Any, ...], specs: tuple[Any, ...]) -> list[Any]:
        stop = not self.grad or not opdef.rules or all(
            v.stop_gradient for n, value in enumerate(values) if opdef.input_names[n] in opdef.rule_of
            for v in variables_of(value)
        )  # fmt: skip
        base = self.program.unique_name(opdef.name)
        outputs: list[Any] = []
        for n, spec in enumerate(specs):
            declared = opdef.outputs[min(n, len(opdef.outputs) - 1)]
            if declared.writes:
                outputs.append(values[opdef.index_of[declared.writes]])
                continue
            if spec is None:  # a result that the attributes say is not wanted
                outputs.append(None)
                continue
            floating = spec.dtype.is_floating_point or spec.dtype.is_complex
            outputs.append(self.block.create_var(f"{base}.tmp_{n}", spec, stop_gradient=stop or not floating))
        return outputs


def _spec_of(value: Any) -> Any:
    if isinstance(value, list):
        return [_spec_of(v) for v in value]
    return None if value is None else value.spec


def user_frame() -> FrameType | None:
    """The innermost frame outside the engine's own files: the user's line."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith((_ENGINE_FOLDER, "<apply ")):
        frame = frame.f_back
    return frame


def located(error: EngineError, frame: FrameType | None) -> EngineError:
    """``error`` with the user's file and line in front, once."""
    if frame is None or getattr(error, "_located", False):
        return error
    made = type(error)(f"{frame.f_code.co_filename}:{frame.f_lineno}: {error}")
    made._located = True  # type: ignore[attr-defined]
    return made


@contextmanager
def building(program: Program, grad: bool = True) -> Iterator[Builder]:
    """Within the block operators are appended to ``program``."""
    builder = Builder(program, grad)
    with modes.use(builder):
        yield builder


def current_builder() -> Builder | None:
    mode = modes.current()
    return mode if isinstance(mode, Builder) else None


def variable(program: Program, name: str, spec: Spec, stop_gradient: bool = True) -> Variable:
    """A Variable that is fed when the Program runs."""
    return program.global_block().create_var(name, spec, stop_gradient=stop_gradient, is_data=True)
