"""Stepping plans as the points of a subject."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from engine.debugger.points import Failure, Part, Place, Point, Site
from engine.program.saved.serialize import to_plain
from resources.operator_keys import LOSS

if TYPE_CHECKING:
    from engine.program.graph.program import Program
    from engine.program.run.stepping.plan import SteppingPlan
    from engine.program.run.stepping.stepping import Moment, Stepping
    from engine.program.run.stepping.write_steps import Step

Sites = Mapping[int, Site]
"""The sites of a plan's steps, by their ids."""


def sites_of(
    part: str, plan: SteppingPlan, first: int = 0, layer_of: Callable[[str], str] = str
) -> dict[int, Site]:
    """The sites of a plan, whose operators of the outermost Block begin with number ``first``."""
    found = {}
    for step in plan.steps:
        (block, op), *inner = step.where
        where: Place = ((block, op - first), *inner)
        layer = layer_of(step.operator.layer)
        # What computes the loss of a training has the line of the program that began it, not one of a model.
        file, line = ("", 0) if layer == LOSS else step.operator.position or ("", 0)
        found[id(step)] = Site(
            part,
            where,
            step.operator.opdef.name,
            layer,
            file,
            line,
            _fills(step.operator.attrs),
        )
    return found


def _fills(attrs: Mapping[str, Any]) -> bool:
    """Whether an attribute is infinity as a value to fill with."""
    return any("value" in name and isinstance(v, float) and math.isinf(v) for name, v in attrs.items())


def part_of(
    name: str, program: Program, sites: Sites, first: int = 0, count: int | None = None,
    change: Callable[[Any], Any] = lambda plain: plain,
) -> Part:  # fmt: skip
    """The part that runs ``count`` operators of a Program from number ``first`` on."""
    plain: Any = change(to_plain(program))
    begin, *others = plain["blocks"]
    end = None if count is None else first + count
    plain = {**plain, "blocks": [{**begin, "ops": begin["ops"][first:end]}, *others]}
    return Part(name, plain, sites=tuple(sites.values()))


def points_of(stepping: Stepping, sites: Sites) -> Iterator[Point]:
    """The points of a run. Raises Failure for an operator that raises an error."""
    try:
        while True:
            try:
                moment = next(stepping)
            except StopIteration:
                return
            except Exception as error:
                failed = stepping.failed
                if failed is None:
                    raise
                raise Failure(sites[id(failed.step)], failed.iterations, _given(failed), error) from error
            yield _point(moment, sites[id(moment.step)])
    finally:
        stepping.close()


def _point(moment: Moment, site: Site) -> Point:
    step: Step = moment.step
    return Point(site, moment.iterations, moment.inputs, moment.outputs, moment.replace, step.changing)


def _given(moment: Moment) -> Sequence[tuple[str, Any]]:
    return moment.inputs
