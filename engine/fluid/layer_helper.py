"""``LayerHelper``: what a script's own layer asks of fluid."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from engine.core import mode as modes
from engine.core import names
from engine.core.errors import ProgramError
from engine.core.operators.opdef import OPS
from engine.eager.tensor import Tensor
from engine.fluid.layers.adapting import activated, layer_function, listed
from engine.fluid.values.variable import as_variable
from engine.program.build.builder import current_builder
from engine.program.build.by_slot import attributes_by_name
from engine.program.graph.program import Program
from engine.program.run.executor import default_main_program, default_startup_program
from engine.tensor.members.inplace import replace

__all__ = ["LayerHelper", "LayerHelperBase", "LayerObjectHelper"]


class LayerHelper:
    """Keeps a layer's arguments; ``act`` is the name of its activation, ``name`` that of the layer."""

    def __init__(self, layer_type: str, **kwargs: Any) -> None:
        self.layer_type = layer_type
        self._owner = kwargs.pop("owner", None)
        self.kwargs = kwargs

    @functools.cached_property
    def name(self) -> str:
        """The name of the layer: that of the arguments, or one of its type."""
        return self.kwargs.get("name") or names.generate(self.layer_type)

    @property
    def main_program(self) -> Program:
        """The Program that is being built."""
        return default_main_program()

    @property
    def startup_program(self) -> Program:
        """The Program that gives parameters their first values."""
        return default_startup_program()

    def input(self, input_param_name: str = "input") -> Any:
        """The layer's input."""
        return self.kwargs[input_param_name]

    def input_dtype(self, input_param_name: str = "input") -> Any:
        """The dtype of the layer's input, or of the first one of a list."""
        return listed(self.kwargs[input_param_name])[0].dtype

    def append_activation(self, input_var: Any, act: Any = None, use_cudnn: Any = None) -> Any:
        """``act``, by default that of the arguments, of ``input_var``; itself without one."""
        chosen = self.kwargs.get("act") if act is None else act
        if isinstance(chosen, dict):
            chosen = chosen.get("type")
        return activated(input_var, chosen)

    def create_parameter(
        self, attr: Any, shape: Any, dtype: Any = "float32", is_bias: bool = False,
        default_initializer: Any = None,
    ) -> Any:  # fmt: skip
        """A parameter of the Program, or in a guard an eager one: of the Layer whose helper this is."""
        if self._owner is not None:
            return self._owner.create_parameter(
                shape=shape, attr=attr, dtype=dtype, is_bias=is_bias, default_initializer=default_initializer
            )
        make = layer_function("create_parameter")
        return make(shape, dtype, None, attr, is_bias, default_initializer)

    def create_variable_for_type_inference(self, dtype: Any = "float32", stop_gradient: bool = False) -> Any:
        """A Variable for a result of ``append_op``."""
        builder = current_builder()
        if builder is None:
            return as_variable(Tensor())
        name = builder.program.unique_name(f"{self.name}.tmp")
        return builder.block.create_var(name, dtype=dtype, stop_gradient=stop_gradient)

    def append_op(
        self,
        type: str,
        inputs: Mapping[str, Any] | None = None,
        outputs: Mapping[str, Any] | None = None,
        attrs: Mapping[str, Any] | None = None,
        stop_gradient: bool = False,
    ) -> None:
        """The operator of Paddle's name ``type``: appended to the Program, or computed into ``outputs``.

        Raises ProgramError for an unknown operator, and its own errors.
        """
        builder = current_builder()
        if builder is not None:
            builder.block.append_op(type, inputs, outputs, attrs)
            return
        opdef = OPS.get(type)
        if opdef is None:
            raise ProgramError(f"append_op: operator {type!r} is not known here; use public functions")
        given = {slot: listed(value) for slot, value in (inputs or {}).items()}
        values = tuple(
            given.get(i.slot, []) if i.is_list else next(iter(given.get(i.slot, ())), None)
            for i in opdef.inputs
        )
        known = opdef.with_defaults(attributes_by_name(opdef, attrs or {}))
        found = modes.current().apply(opdef, values, known)
        made = [found] if opdef.single else list(found)
        slots = opdef.outputs if not opdef.listed else opdef.outputs * len(made)
        wanted = {slot: listed(value) for slot, value in (outputs or {}).items()}
        for out, value in zip(slots, made, strict=True):
            if wanted.get(out.slot):
                replace("append_op", wanted[out.slot].pop(0), value, becomes="shape and dtype")


LayerHelperBase = LayerObjectHelper = LayerHelper
