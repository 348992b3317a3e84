"""Operators that a plan computes once, when it is created: small constants that nothing can write into."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.operators import traits
from engine.core.operators.operator import Operator
from engine.program.graph.liveness import Liveness
from engine.program.graph.program import reads, writes
from engine.program.passes.fold_constants import LARGEST
from engine.program.passes.known_values import Known, computed


def constants(live: Liveness) -> dict[int, Any]:
    """The arrays, which refuse to be written, of operators without inputs, by id of the Variable.

    One that reads no more than the shape of its input counts as one without, where the shape is known.

    Values that may share another array's memory or change later are excluded: those written in place or more
    than once, those that enter or leave branches and loops, and arguments of a user's function.
    """
    everything = live.everything
    makers = [o for o in everything if o.outputs and (_is_filled(o) or next(reads(o), None) is None)]
    if not makers:
        return {}
    changing = live.owners(live.written) | live.handed_on
    for operator in everything:
        if operator.opdef in traits.opaque:
            changing |= live.owners(reads(operator))
        for region in operator.regions:
            changing |= live.owners(region.results)
    found: dict[int, Any] = {}
    for operator in makers:
        if all(id(v) in live.once and id(v) not in changing and not v.is_data for v in writes(operator)):
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
