"""The table of rows: what each operator of ONNX computes, in functions of ``engine.tensor``.

::

    @reads("Gemm")
    def _(a, b, c=None, *, alpha=1.0, beta=1.0, transA=0, transB=0):
        ...

A row takes the node's inputs in ONNX's order, and its attributes by ONNX's names after ``*``. An input that
older opsets have as an attribute takes that too. Inputs are Tensors or Variables; an annotation asks for
something else: ``Known`` is an array that must be known when the model is read, ``Sizes`` a list of
integers, Variables where only the running model knows them, ``Raw`` the value as the reader holds it. A row
with a first parameter ``g`` gets the Reader. It returns the result, or a tuple of results.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

Known: TypeAlias = Any
Sizes: TypeAlias = Any
Raw: TypeAlias = Any
PLAIN = "Any"


class Row(NamedTuple):
    """A row and its signature: inputs with their kinds, whether the last one takes all others, attributes.

    ``pure`` rows compute the same from the same inputs, so that known inputs give known results.
    """

    function: Callable[..., Any]
    inputs: dict[str, str]
    variadic: bool
    attributes: dict[str, Any]
    required: frozenset[str]
    takes_reader: bool
    pure: bool


ROWS: dict[str, Row] = {}


def reads(*kinds: str, pure: bool = True) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator of the row of these operators. Raises TypeError where one has a row already."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        parameters = list(inspect.signature(function).parameters.values())
        takes_reader = bool(parameters) and parameters[0].name == "g"
        parameters = parameters[takes_reader:]
        inputs = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.VAR_POSITIONAL)]
        attributes = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}
        row = Row(
            function,
            {p.name: p.annotation if isinstance(p.annotation, str) else PLAIN for p in inputs},
            any(p.kind is p.VAR_POSITIONAL for p in inputs),
            {
                name: None if default is inspect.Parameter.empty else default
                for name, default in attributes.items()
            },
            frozenset(name for name, default in attributes.items() if default is inspect.Parameter.empty),
            takes_reader,
            pure and not takes_reader,
        )
        for kind in kinds:
            if kind in ROWS:
                raise TypeError(f"row of {kind}: there are two")
            ROWS[kind] = row
        return function

    return decorate
