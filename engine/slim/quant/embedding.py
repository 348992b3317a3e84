"""``quant_embedding``: the tables of embeddings as integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, DTypeError
from engine.program.graph.liveness import Liveness
from engine.program.graph.program import Program
from engine.program.graph.variable import Variable
from engine.program.passes.clone import clone
from engine.program.passes.quantization.tables import (
    LOOKUP,
    IntegerTable,
    by_magnitude,
    by_maximum,
    quantize_tables,
)
from engine.program.run.scope import Scope, global_scope, value_of
from engine.static.compiled import CompiledProgram, program_of

__all__ = ["quant_embedding"]

_WHERE = "quant_embedding"
_OPERATORS = ("lookup_table", "lookup_table_v2", "fused_embedding_seq_pool", "pyramid_hash")
_DEFAULT = {"quantize_type": "abs_max", "quantize_bits": 8, "dtype": "int8"}
_CHOICES = {"quantize_type": ("abs_max", "log"), "quantize_bits": (8, 16), "dtype": ("int8", "int16")}


def quant_embedding(
    program: Program | CompiledProgram,
    place: object,
    config: dict[str, Any] | None = None,
    scope: Scope | None = None,
) -> Program:
    """A copy of a Program that predicts whose embeddings look up rows of integers.

    The tables have their values in ``scope`` (the global one by default), which is given the integers as
    ``NAME.int`` and the threshold as ``NAME.scale``. ``config`` has ``quantize_op_types``, a list of types of
    operators (lookup_table: of ids [..., 1], as fluid's; lookup_table_v2: of ids of any shape), and for each
    type of these a dict with

    - ``quantize_type``: abs_max (even steps) or log (128 magnitudes 2 ** (n / 8) and a sign);
    - ``quantize_bits`` 8 with ``dtype`` int8, or 16 with int16; log has 8;
    - ``threshold``: values are limited to it first.

    Raises DTypeError and ArgumentError for a config that is not right, ArgumentError for a Program without
    embeddings or that trains them, ProgramError for a table without values.

    Differs from Paddle: the given Program and its table stay as they are.
    """
    given = program_of(_WHERE, program)
    settings = _settings(config)
    held = global_scope() if scope is None else scope
    unstable = Liveness.of(given).unstable
    trained = [
        v.name for o in given.global_block().ops if o.opdef.name == LOOKUP for v in o.inputs if v in unstable
    ]
    if trained:
        raise ArgumentError(
            f"{_WHERE}: the Program trains {trained[0]!r}; pass one that predicts: clone(for_test=True)"
        )

    def quantized(kinds: set[str], table: Variable) -> IntegerTable | None:
        chosen = next((settings[kind] for kind in sorted(kinds) if kind in settings), None)
        if chosen is None:
            return None
        array: np.ndarray[Any, Any] = value_of(table, held).numpy()
        if chosen["quantize_type"] == "log":
            return by_magnitude(array)
        return by_maximum(array, chosen["quantize_bits"], chosen["dtype"], chosen.get("threshold"))

    made = clone(given)
    if not quantize_tables(made, quantized, lambda name, array: held.var(name).store(array)):
        raise ArgumentError(
            f"{_WHERE}: the Program has no embeddings of the types {', '.join(settings)}; nothing to quantize"
        )
    return made


def _settings(config: Any) -> dict[str, dict[str, Any]]:
    """The choices for each type of operator."""
    if config is not None and not isinstance(config, dict):
        raise DTypeError(f"{_WHERE}: config must be a dict: got {type(config).__name__}")
    given = config or {}
    wanted = given.get("quantize_op_types", _OPERATORS)
    wanted = [wanted] if isinstance(wanted, str) else wanted
    for name in [*wanted, *(key for key in given if key != "quantize_op_types")]:
        if name not in _OPERATORS:
            raise ArgumentError(f"{_WHERE}: config has {name!r}: its types are {', '.join(_OPERATORS)}")
    return {name: _one(name, given.get(name, {})) for name in wanted}


def _one(name: str, given: Any) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise DTypeError(f"{_WHERE}: config[{name!r}] must be a dict: got {type(given).__name__}")
    found = {**_DEFAULT, **given}
    for key, value in found.items():
        if key == "threshold":
            if isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
                raise ArgumentError(f"{_WHERE}: threshold must be a number above 0: got {value!r}")
        elif key not in _CHOICES or value not in _CHOICES[key]:
            shown = ", ".join(map(str, _CHOICES.get(key, (*_CHOICES, "threshold"))))
            raise ArgumentError(f"{_WHERE}: config[{name!r}] has {key} {value!r}: choose from {shown}")
    bits, dtype = found["quantize_bits"], found["dtype"]
    if dtype != f"int{bits}" or (found["quantize_type"] == "log" and bits != 8):
        raise ArgumentError(
            f"{_WHERE}: config[{name!r}]: {found['quantize_type']} of {bits} bits in {dtype} is not "
            "possible; use 8 bits in int8, or abs_max of 16 bits in int16"
        )
    return found
