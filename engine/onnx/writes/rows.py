"""The table of rows: how each operator of a saved Program is written in ONNX.

::

    same("relu", "Relu")

    @writes("hard_sigmoid")
    def _(g, x, *, slope, offset):
        return g.HardSigmoid(x, alpha=slope, beta=offset)

A row takes the graph, then the operator's inputs by its names, and its attributes after ``*``: all of them,
so that none is forgotten; those that make no difference stand in ``ignoring``. It returns the Value of the
result, or a tuple in the order of the results, None for one that it does not compute. ``g.operator`` is the
operator itself, and ``g.result()`` the Spec of its result.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import engine.ops  # noqa: F401  # fills OPS
from engine.core.operators.opdef import OPS

Row = Callable[..., Any]

ROWS: dict[str, tuple[Row, tuple[str, ...]]] = {}  # with the names of the attributes that it takes


def writes(*names: str, ignoring: str = "") -> Callable[[Row], Row]:
    """Decorator of the row of these operators. Raises TypeError if it does not fit their definition."""

    def decorate(row: Row) -> Row:
        parameters = list(inspect.signature(row).parameters.values())[1:]
        inputs = tuple(p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD)
        attributes = tuple(p.name for p in parameters if p.kind is p.KEYWORD_ONLY)
        for name in names:
            opdef = OPS[name]
            if inputs != opdef.input_names:
                raise TypeError(
                    f"row of {name}: takes {inputs}; the operator's inputs are {opdef.input_names}"
                )
            known = {*attributes, *ignoring.split()}
            if known != opdef.attributes.keys():
                different = sorted(known ^ opdef.attributes.keys())
                raise TypeError(
                    f"row of {name}: attributes that it or the operator does not name: {different}"
                )
            if name in ROWS:
                raise TypeError(f"row of {name}: there are two")
            ROWS[name] = row, attributes
        return row

    return decorate


def same(name: str, kind: str, ignoring: str = "") -> None:
    """An operator that ONNX has, with the same inputs in the same order and no attributes."""
    opdef = OPS[name]
    if opdef.attributes.keys() != set(ignoring.split()):
        raise TypeError(f"row of {name}: it has attributes: {sorted(opdef.attributes)}")
    if name in ROWS:
        raise TypeError(f"row of {name}: there are two")
    ROWS[name] = (lambda g, *inputs: getattr(g, kind)(*inputs)), ()
