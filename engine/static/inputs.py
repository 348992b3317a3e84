"""``static.data``: the Variables that an Executor feeds."""

from __future__ import annotations

from collections.abc import Sequence

from engine.core.errors import DTypeError, ModeError
from engine.core.values.dtype import default_dtype
from engine.jit.input_spec import InputSpec
from engine.program.build.builder import current_builder
from engine.program.build.builder import variable as data_variable
from engine.program.graph.program import Variable
from engine.tensor.tensor_like import DTypeLike


def data(
    name: str, shape: Sequence[int | None], dtype: DTypeLike | None = None, lod_level: int = 0
) -> Variable:
    """Make a Variable of the current Program that is fed under ``name`` when it runs.

    With ``lod_level`` its rows are sequences, whose lengths a ``LoDTensor`` has. The same name, shape and
    dtype again give the same Variable. Raises ModeError in eager mode, DTypeError
    for a shape that is not a list, ProgramError for a name that is taken otherwise.
    """
    builder = current_builder()
    if builder is None:
        raise ModeError("static.data: no Program is being built; call enable_static() first")
    if not isinstance(shape, (list, tuple)):
        raise DTypeError(
            f"static.data: shape must be a list of sizes: got {type(shape).__name__}; None is any size"
        )
    if not isinstance(name, str):
        raise DTypeError(f"static.data: name must be a string: got {type(name).__name__}")
    spec = InputSpec(list(shape), dtype or default_dtype(), name).to_spec()
    found = builder.program.global_block().vars.get(name)
    if found is not None and found.is_data and found.spec == spec:
        return found
    made = data_variable(builder.program, name, spec)
    made.lod_level = int(lod_level)
    return made
