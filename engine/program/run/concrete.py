"""Shapes of a run: inference repeated with the shapes that are actually fed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from engine.core.errors import ArgumentError, EngineError
from engine.core.operators.operator import Operator, at_line
from engine.core.values.spec import Spec
from engine.ops.control import flow
from engine.program.graph.program import Program, Variable


def concrete_specs(program: Program, ops: Sequence[Operator], feeds: Mapping[str, Spec]) -> dict[int, Spec]:
    """Specs by id of Variable, given those of the Variables that are fed (by name).

    Raises the operator's own error where the shapes fed do not fit. A dimension that depends on
    data stays -1.
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
            specs = operator.opdef.infer_specs([spec_of(v) for v in operator.inputs], operator.attrs)
        except EngineError as error:
            raise at_line(error, operator) from error.__cause__
        except Exception as error:  # attributes from a file may be of any kind
            made = ArgumentError(f"{operator.type}: its attributes can't be used: {error}: {operator.attrs}")
            raise at_line(made, operator) from error
        known.update({id(v): s for v, s in zip(outputs, specs, strict=True) if v is not None})
    return known


def _undecided(operator: Operator) -> Iterator[tuple[int, Spec]]:
    """Results whose rank or dtype is that of the region that runs: they need no specialization."""
    for output, *results in zip(operator.outputs, *(r.results for r in operator.regions), strict=True):
        if not all(v.spec.agrees(output.spec) for v in results):
            yield id(output), output.spec.with_shape([-1] * output.spec.ndim)
