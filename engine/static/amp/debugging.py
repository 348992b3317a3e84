"""Counts of a static Program's operators by the dtype that they compute in."""

from __future__ import annotations

from engine.amp.debugging import print_operator_stats
from engine.core.operators.operator import Operator
from engine.program.graph.program import Program, reads, variables_of
from engine.program.run.executor import default_main_program
from engine.program.text.describe import type_of

_COLUMNS = ("float16", "bfloat16", "float32")
# The first input says what they compute in.
_BY_FIRST = {"cast", "batch_norm", "instance_norm", "layer_norm"}

Counts = dict[str, list[int]]


def collect_operator_stats(program: Program | None = None, print_subblocks: bool = False) -> None:
    """Print how often each operator stands in ``program`` (the main Program by default), by dtype.

    ``print_subblocks`` prints a table for each block too.
    """
    program = default_main_program() if program is None else program
    tables = [_counts(block.ops) for block in program.blocks]
    if print_subblocks and len(tables) > 1:
        for n, table in enumerate(tables):
            print(f"<{f' op list of block {n} ':-^120}>")
            print_operator_stats(table)
    merged: Counts = {}
    for table in tables:
        for name, found in table.items():
            merged[name] = [a + b for a, b in zip(merged.get(name, [0] * 4), found, strict=True)]
    print(f"<{' op list of all blocks ':-^120}>")
    print_operator_stats(merged)


def _counts(operators: list[Operator]) -> Counts:
    table: Counts = {}
    for operator in operators:
        name = type_of(operator)
        dtype = _dtype(operator, name)
        column = _COLUMNS.index(dtype) if dtype in _COLUMNS else len(_COLUMNS)
        table.setdefault(name, [0] * 4)[column] += 1
    return table


def _dtype(operator: Operator, name: str) -> str:
    dtypes = [v.dtype for v in (*reads(operator), *variables_of(operator.outputs))]
    if not dtypes:
        return ""
    if name.removesuffix("_grad") in _BY_FIRST:
        return dtypes[0].name
    return next((d for d in dtypes if d.is_floating_point), dtypes[0]).name
