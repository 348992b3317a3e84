"""Parameters of static graphs: a Parameter in the main Program, and the startup Program's operator that gives
it its first values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from engine.core import mode as modes
from engine.core.errors import ArgumentError
from engine.core.operators.opdef import OPS
from engine.core.values.dtype import DType, bfloat16
from engine.nn.initializer.base import Initializer
from engine.nn.initializer.drawn import Drawn
from engine.nn.initializer.fixed import Constant
from engine.nn.initializer.structured import Orthogonal
from engine.program.build.annotate import marks
from engine.program.build.builder import Builder
from engine.program.build.by_slot import append_into
from engine.program.graph.program import Program
from engine.program.graph.variable import Parameter, Variable

_BARE = {"bare": True}


def static_parameter(
    builder: Builder, name: str, shape: Sequence[int], dtype: DType, initializer: Initializer, trainable: bool
) -> Parameter:
    """The Parameter called ``name`` of the Program that is being built; made with its first values if new.

    Raises ArgumentError where the name belongs to something else.
    """
    assert builder.startup is not None, "parameters of traced functions are eager"
    block = builder.program.global_block()
    found = block.vars.get(name)
    if found is not None:
        if isinstance(found, Parameter) and found.spec.shape == tuple(shape) and found.dtype is dtype:
            return found
        raise ArgumentError(
            f"create_parameter: {name!r} exists already as {found.spec}: got shape {list(shape)} and "
            f"{dtype.name}; share it with the same shape, or choose another name"
        )
    made = block.create_parameter(shape, dtype, name, trainable)
    initialize(made, initializer, builder.startup)
    return made


def begin_as(startup: Program, parameter: Variable, value: Callable[[], Any]) -> None:
    """Let ``startup`` give a parameter the value that ``value`` computes of the present one, not its own."""
    block = startup.global_block()
    with modes.use(Builder(startup, startup=startup)):
        first = value()
    twin = block.var(parameter.name)
    block.ops[:] = [o for o in block.ops if all(out is not twin for out in o.outputs)]
    append_into(block, OPS["assign"], (first,), {}, (twin,))


def initialize(variable: Variable, initializer: Initializer, startup: Program) -> None:
    """Let ``startup`` give a persistable Variable its first values, once."""
    block = startup.global_block()
    if variable.name in block.vars:
        return
    attrs: dict[str, Any]
    if isinstance(initializer, Orthogonal):
        with modes.use(Builder(startup)):
            inputs: tuple[Any, ...] = (initializer.orthonormal(variable, startup.random_seed),)
        type_name, attrs, notes = "scale", {"scale": initializer.gain}, None
    else:
        type_name, attrs, notes = _operator(initializer, variable, startup)
        variable.spec = variable.spec.with_shape(attrs["shape"])  # Assign may give it another one
        inputs = (None,) * len(OPS[type_name].inputs)
    if variable.is_parameter:
        twin: Any = block.create_parameter(
            variable.spec.shape, variable.dtype, variable.name, variable.trainable
        )
    else:
        twin = block.create_var(
            variable.name, variable.spec, persistable=True, stop_gradient=variable.stop_gradient
        )
    made = append_into(block, OPS[type_name], inputs, attrs, (twin,), notes)
    if "op_namescope" in marks():
        known = (made.notes or {}).get("attrs", {})
        made.note("attrs", {**known, "op_namescope": marks()["op_namescope"]})


def _operator(initializer: Any, variable: Any, startup: Program) -> tuple[str, dict[str, Any], Any]:
    """The operator that makes the values: drawn when the startup Program runs, where it has one for that."""
    shape = list(variable.spec.shape)
    common: dict[str, Any] = {"shape": shape, "dtype": variable.dtype.name}
    if type(initializer) is Constant:
        return "fill_constant", {**common, "value": initializer._value}, _BARE
    if isinstance(initializer, Drawn):
        type_name, attrs = initializer.operator(tuple(shape))
        notes = None if type_name == "uniform_random" else _BARE
        return type_name, {**common, "seed": startup.random_seed, **attrs}, notes
    kind = np.float32 if variable.dtype is bfloat16 else variable.dtype.np  # the operator rounds to bfloat16
    values = np.asarray(initializer.sample(tuple(shape))).astype(kind)
    found = {"shape": list(values.shape), "dtype": variable.dtype.name, "values": values.reshape(-1).tolist()}
    return "assign_value", found, None
