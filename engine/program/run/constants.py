"""Operators that a plan computes once, when it is created: small constants that nothing can write into."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.core import traits
from engine.core.operator import Operator
from engine.program.graph.liveness import with_sub_blocks, written
from engine.program.graph.program import reads, writes
from engine.program.passes.fold_constants import LARGEST
from engine.program.passes.known_values import Known, computed
from engine.program.run.reuse import bases_of, handed_on


def constants(ops: Sequence[Operator]) -> dict[int, Any]:
    """The arrays, which refuse to be written, of operators without inputs, by id of the Variable.

    One that reads no more than the shape of its input counts as one without, where the shape is known.

    Values that may share another array's memory or change later are excluded: those written in place or more
    than once, those that enter or leave branches and loops, and arguments of a user's function.
    """
    everything = list(with_sub_blocks(ops))
    makers = [o for o in everything if o.outputs and (_is_filled(o) or next(reads(o), None) is None)]
    if not makers:
        return {}
    base = bases_of(everything)
    changing = {base.get(id(v), id(v)) for v in written(ops)} | handed_on(everything)
    for operator in everything:
        if operator.opdef in traits.opaque:
            changing |= {base.get(id(v), id(v)) for v in reads(operator)}
        for region in operator.regions:
            changing |= {base.get(id(v), id(v)) for v in region.results}
    times: dict[int, int] = {}
    for operator in everything:
        for variable in writes(operator):
            times[id(variable)] = times.get(id(variable), 0) + 1
    found: dict[int, Any] = {}
    for operator in makers:
        if all(times[id(v)] == 1 and id(v) not in changing and not v.is_data for v in writes(operator)):
            given = Known()
            for variable in reads(operator):
                spec = variable.spec
                given[variable] = np.broadcast_to(np.zeros((), spec.dtype.np), spec.shape)
            for variable, array in computed(operator, given, LARGEST):
                array.flags.writeable = False
                found[id(variable)] = array
    return found


def _is_filled(operator: Operator) -> bool:
    """Whether it is one value in the known shape of another array."""
    return operator.opdef.name == "fill_any_like" and all(v.spec.known for v in reads(operator))
