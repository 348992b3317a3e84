"""Shapes of a run: inference repeated with the shapes that are actually fed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from engine.core.errors import ArgumentError, EngineError
from engine.core.operators.operator import Operator, at_line
from engine.core.values.spec import Spec
from engine.ops.control import flow
from engine.program.graph.program import Program, Variable


def concrete_specs(
    program: Program,
    ops: Sequence[Operator],
    feeds: Mapping[str, Spec],
    refused: dict[int, EngineError] | None = None,
) -> dict[int, Spec]:
    """Specs by id of Variable, given those of the Variables that are fed (by name).

    Raises the operator's own error where the shapes fed do not fit; with ``refused`` it is left there, by id
    of the operator. A dimension that depends on data stays -1.
    """
    known: dict[int, Spec] = {}
    for block in program.blocks:
        for variable in block.vars.values():
            if variable.name in feeds:
                known[id(variable)] = feeds[variable.name]
            elif variable.tensor is not None:
                known[id(variable)] = Spec(variable.tensor.shape, variable.tensor.dtype)

    def spec_of(value: Any) -> Any:
        if isinstance(value, list):
            return [spec_of(v) for v in value]
        return None if value is None else known.get(id(value), value.spec)

    for operator in ops:
        outputs: list[Variable | None] = list(operator.outputs)
        if operator.regions:  # its results may differ from run to run
            if operator.opdef is flow.cond.opdef:
                known.update(_undecided(operator))
            continue
        try:
            specs = _inferred(operator, [spec_of(v) for v in operator.inputs])
        except EngineError as error:
            if refused is None:
                raise at_line(error, operator) from error.__cause__
            refused[id(operator)] = error
            continue
        known.update({id(v): s for v, s in zip(outputs, specs, strict=True) if v is not None})
    return known


def _inferred(operator: Operator, specs: Sequence[Any]) -> Sequence[Any]:
    try:
        return operator.opdef.infer_specs(specs, operator.attrs)
    except EngineError:
        raise
    except Exception as error:  # attributes from a file may be of any kind
        raise ArgumentError(
            f"{operator.type}: its attributes can't be used: {error}: {operator.attrs}"
        ) from error


def _undecided(operator: Operator) -> Iterator[tuple[int, Spec]]:
    """Results whose rank or dtype is that of the region that runs: they need no specialization."""
    for output, *results in zip(operator.outputs, *(r.results for r in operator.regions), strict=True):
        if not all(v.spec.agrees(output.spec) for v in results):
            yield id(output), output.spec.with_shape([-1] * output.spec.ndim)
