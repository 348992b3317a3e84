"""Tables of embeddings as integers: rows are looked up first and turned into values then."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.core.values.spec import Spec
from engine.ops.arrays import embedding, shape
from engine.ops.quantization import tables
from engine.program.graph.program import Block, Program, reads, writes
from engine.program.graph.variable import Variable
from engine.program.passes.quantization.insert import rename
from engine.program.passes.rewriter import Rewriter

Array = np.ndarray[Any, Any]
LOOKUP = embedding.lookup.opdef.name
_SQUEEZE = shape.squeeze.opdef.name
_INTERVAL = 0.125
"""The step between magnitudes of ``log``, as a power of 2."""


@dataclass(frozen=True)
class IntegerTable:
    """The integers of a table, and the parameters that turn a row of them into values.

    ``scale`` is the threshold [1] of ``levels`` levels, or the magnitudes [128] of
    ``dequantize_log``.
    """

    integers: Array
    scale: Array
    levels: int | None


def by_maximum(table: Array, bits: int, dtype: str, threshold: float | None = None) -> IntegerTable:
    """The nearest of 2 ** bits - 1 even steps between plus and minus the largest absolute value.

    Values are first limited to ``threshold``; without one to the 99.99th percentile, where the largest is
    above 1, as in PaddleSlim.
    """
    if threshold is None and table.size and np.abs(table).max() >= 1.0:
        threshold = float(np.percentile(np.abs(table), 99.99))
    limited = table if threshold is None else np.clip(table, -threshold, threshold)
    levels = 2 ** (bits - 1) - 1
    scale = np.abs(limited).max(initial=0).astype(table.dtype)
    steps = limited / scale * levels if scale > 0 else np.zeros_like(limited)
    return IntegerTable(np.round(steps).astype(dtype), scale.reshape(1), levels)


def by_magnitude(table: Array) -> IntegerTable:
    """The nearest of the 128 largest magnitudes 2 ** (n / 8) that the table has, and the sign: int8."""
    with np.errstate(divide="ignore"):
        powers = np.round(np.log2(np.abs(table)) / _INTERVAL) * _INTERVAL
    known = np.unique(powers)[-tables.LEVELS :]
    after = np.clip(np.searchsorted(known, powers), 1, max(len(known) - 1, 1))
    low, high = known[after - 1], known[np.minimum(after, len(known) - 1)]
    with np.errstate(invalid="ignore"):  # zeros are minus infinity
        nearer = np.where(np.abs(low - powers) < np.abs(high - powers), after - 1, after)
    place = np.where(powers <= known[0], 0, np.minimum(nearer, len(known) - 1))
    signed = np.where(table < 0, place - tables.LEVELS, place).astype(np.int8)
    magnitudes = np.full(tables.LEVELS, np.power(2.0, known[-1]), table.dtype)
    magnitudes[: len(known)] = np.power(2.0, known)
    return IntegerTable(signed, magnitudes, None)


def quantize_tables(
    program: Program,
    quantized: Callable[[set[str], Variable], IntegerTable | None],
    store: Callable[[str, Array], None],
) -> int:
    """Let lookups read tables of integers; returns how many tables there are.

    ``quantized`` gives the integers of a table, by Paddle's types of the operators that read it, or None for
    one that stays; ``store`` receives the values of the new persistable Variables::

                                               i = lookup_table_v2(ids, w.int)
        e = lookup_table_v2(ids, w)      ->    e = dequantize_abs_max(i, w.scale)
    """
    block, rewriter = program.global_block(), Rewriter(program)
    made: dict[str, tuple[Variable, Variable, IntegerTable] | None] = {}
    kinds = _kinds(block)

    def new_weight(name: str, array: Array) -> Variable:
        store(name, array)
        return block.create_var(name, Spec.of(array), persistable=True, stop_gradient=True)

    for operator in list(block.ops):
        if operator.opdef.name != LOOKUP or not operator.inputs[1].persistable:
            continue
        ids, table = operator.inputs
        if table.name not in made:
            found = quantized(kinds[table.name], table)
            if found is not None:
                suffix = "dict" if found.levels is None else "scale"
                scale = new_weight(f"{table.name}.{suffix}", found.scale)
                made[table.name] = new_weight(f"{table.name}.int", found.integers), scale, found
            else:
                made[table.name] = None
        entry = made[table.name]
        if entry is None:
            continue
        integers, scale, found = entry
        old = operator.outputs[0]
        with rewriter.before(operator, block):
            rows = embedding.lookup(ids, integers, **operator.attrs)
            if found.levels is None:
                values = tables.dequantize_log(rows, scale)
            else:
                values = tables.dequantize_abs_max(rows, scale, max_range=float(found.levels))
        held = old.name
        rewriter.replace(old, values)
        rewriter.erase([operator])
        if values.name != held:
            rename(values, held)
        rename(rows, f"{held}.int")
    still = {v.name for o in block.ops for v in reads(o)}
    for name, entry in made.items():
        if entry is not None and name not in still:
            block.vars.pop(name, None)
    program.changed()
    return sum(entry is not None for entry in made.values())


def _kinds(block: Block) -> dict[str, set[str]]:
    """Paddle's types of the operators that read each table: ``lookup_table`` takes ids [..., 1], which are
    squeezed first here, ``lookup_table_v2`` ids of any shape."""
    squeezed = {id(v) for o in block.ops if o.opdef.name == _SQUEEZE for v in writes(o)}
    found: dict[str, set[str]] = {}
    for operator in block.ops:
        if operator.opdef.name == LOOKUP:
            ids, table = operator.inputs
            found.setdefault(table.name, set()).add("lookup_table" if id(ids) in squeezed else LOOKUP)
    return found
