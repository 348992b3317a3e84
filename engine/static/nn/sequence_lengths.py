"""The lengths of sequences while a Program is built: Variables with the number of rows of each sequence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.core.errors import ArgumentError
from engine.core.operators.operator import Operator
from engine.core.values.dtype import int64
from engine.core.values.spec import Spec
from engine.ops.arrays import creation, repeat
from engine.ops.elementwise import arithmetic
from engine.ops.reductions import cumulative
from engine.ops.sequences import uneven
from engine.program.build.builder import variable as data_variable
from engine.program.graph import lengths as graph
from engine.program.graph.variable import Variable
from engine.static.nn.helper import require_variable
from engine.tensor.tensor_like import AnyTensor


def find_levels(x: object) -> list[Any]:
    """The lengths of the sequences of ``x``, int64 [sequences] for each level; empty where it has none."""
    found = graph.source(x) if isinstance(x, Variable) else None
    if isinstance(found, Operator):
        return graph.lengths_of(found)
    return [] if found is None else [_fed(found, level) for level in range(found.lod_level)]


def _fed(x: Variable, level: int) -> Variable:
    program, name = x.block.program, graph.level_name(x.name, level)
    known = program.global_block().vars.get(name)
    return data_variable(program, name, Spec((-1,), int64)) if known is None else known


def levels_of(where: str, name: str, x: object, most: int = 0) -> list[Any]:
    """``find_levels`` of an argument that must have sequences, with at most ``most`` levels where given.

    Raises ModeError outside of static mode, ArgumentError for one without lengths or with more levels.
    """
    require_variable(where, name, x)
    found = find_levels(x)
    assert isinstance(x, Variable)
    if not found:
        maker = x.op
        reason = (
            "" if maker is None else f": {maker.opdef.name!r}, which computes it, does not pass lengths on"
        )
        raise ArgumentError(
            f"{where}: (InvalidArgument) {name} {x.name!r} {x.spec} has no lengths of sequences{reason}; "
            "declare the data with lod_level=1 and feed a LoDTensor, or use layers.lod_reset"
        )
    if most and len(found) > most:
        raise ArgumentError(
            f"{where}: (InvalidArgument) {name} {x.name!r} has {len(found)} levels of lengths; "
            f"it takes {most}: pool the inner one first"
        )
    return found


def with_levels(x: AnyTensor, levels: Sequence[AnyTensor]) -> Any:
    """``x``, whose rows are sequences of these lengths."""
    if not levels:
        return x
    made = uneven.with_lengths(x, list(levels))
    made.lod_level = len(levels)
    return made


def padded(x: object) -> tuple[Any, Any] | None:
    """The sequences of ``x`` as a batch [sequences, steps, ...], 0 behind their ends, and their lengths.

    None where it has no lengths, or is not a Variable.
    """
    levels = find_levels(x)
    return (uneven.pad_sequences(x, levels[-1]), levels[-1]) if levels else None


def unpadded(x: AnyTensor, lengths: AnyTensor) -> Any:
    """The rows of a batch [sequences, steps, ...] up to the end of each sequence."""
    return with_levels(uneven.unpad_sequences(x, lengths), [lengths])


def spread(x: AnyTensor, lengths: AnyTensor) -> Any:
    """Each row of ``x`` as often as its number in ``lengths``."""
    return repeat.repeat_each(x, lengths)


def counted(like: AnyTensor) -> Any:
    """0, 1, 2, ... int64, as many as ``like`` [n] has elements."""
    ones = creation.fill_like(like, value=1, dtype="int64")
    return arithmetic.subtract(cumulative.cumsum(ones, axis=0), ones)


def sequence_numbers(lengths: AnyTensor) -> Any:
    """The number of its sequence for each row."""
    return spread(counted(lengths), lengths)


def starts(lengths: AnyTensor) -> Any:
    """The number of the first row of each sequence."""
    return arithmetic.subtract(cumulative.cumsum(lengths, axis=0), lengths)
