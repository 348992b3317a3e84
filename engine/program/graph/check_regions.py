"""Rules of operators of control flow: how their regions fit their inputs and outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from engine.core.operators.opdef import Applier, OpDef
from engine.core.operators.operator import Operator
from engine.core.values.dtype import bool_
from engine.ops.control import flow
from engine.program.graph.replay_state import ITERATIONS, KEY

Check = Callable[[Operator], Iterator[str]]

REGION_CHECKS: dict[OpDef, Check] = {}
"""By definition, the function that gives one sentence for each fault of an operator."""


def checks(applier: Applier[..., Any]) -> Callable[[Check], Check]:
    """Decorator of the check of the operator that ``applier`` applies."""

    def decorate(function: Check) -> Check:
        REGION_CHECKS[applier.opdef] = function
        return function

    return decorate


def _fit(what: str, have: Sequence[Any], want: Sequence[Any]) -> Iterator[str]:
    """Faults of Variables that can't replace others, one by one."""
    if len(have) != len(want):
        yield f"{what}: {len(have)} for {len(want)}"
        return
    for one, other in zip(have, want, strict=True):
        if not one.spec.agrees(other.spec):
            yield f"{what}: {one.name!r} {one.spec} can't stand for {other.name!r} {other.spec}"


@checks(flow.cond)
def _cond_problems(operator: Operator) -> Iterator[str]:
    for name, region in zip(("true", "false"), operator.regions, strict=True):
        if region.arguments:
            yield f"its {name} branch takes arguments"
        if len(region.results) != len(operator.outputs):
            yield f"results of its {name} branch: {len(region.results)} for {len(operator.outputs)}"
    # The false side may give another rank or dtype, as in Paddle: the run decides.
    yield from _fit("results of its true branch", operator.regions[0].results, operator.outputs)


@checks(flow.while_loop)
def _while_problems(operator: Operator) -> Iterator[str]:
    condition, body = operator.regions
    if len(condition.results) != 1 or condition.results[0].dtype is not bool_:
        yield f"its condition gives {list(condition.results)}, which is not one bool"
    if not body.arguments or len(set(map(id, body.arguments))) != len(body.arguments):
        yield "it has no values, or one of them appears twice"
    if [id(v) for v in condition.arguments] != [id(v) for v in body.arguments]:
        yield "its condition and body take different values"
    yield from _fit("values of the loop", body.arguments, operator.inputs[0])
    yield from _fit("results of the loop", body.arguments, operator.outputs)
    yield from _fit("results of its body", body.results, body.arguments)


@checks(flow.while_again)
def _while_again_problems(operator: Operator) -> Iterator[str]:
    (body,) = operator.regions
    values = body.arguments[: len(operator.inputs[0])]
    if operator.replayed_state is None:
        yield "it takes no iterations of a first run"
    if any(key.spec not in (KEY, ITERATIONS) for key in body.arguments[len(values) :]):
        yield "some of the random keys that it takes are not keys"
    yield from _fit("values of the loop", values, operator.inputs[0])
    yield from _fit("results of the loop", values, operator.outputs)
    yield from _fit("results of its body", body.results, values)


@checks(flow.while_grad)
def _while_grad_problems(operator: Operator) -> Iterator[str]:
    starts, sources, _, _ = operator.inputs
    (body,) = operator.regions
    values, rest = operator.attrs["values"], len(body.arguments) - len(starts)
    if type(values) is not int or not 0 <= values <= rest:
        yield f"values is {values!r}: its region takes {len(body.arguments)} and {len(starts)} gradients"
        return
    if any(key.spec not in (KEY, ITERATIONS) for key in body.arguments[values:rest]):
        yield "some of the random keys that it takes are not keys"
    yield from _fit("gradients after the last iteration", body.arguments[rest:], starts)
    yield from _fit("gradients that an iteration gives", body.results, operator.outputs)
    yield from _fit("gradients of sources", operator.outputs[len(starts) :], sources)
