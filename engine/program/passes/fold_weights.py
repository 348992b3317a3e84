"""Folding of weights: values that depend on weights alone are computed once."""

from __future__ import annotations

import numpy as np

from engine.core.operators.operator import Operator
from engine.eager.tensor import wrap
from engine.program.graph.liveness import Liveness
from engine.program.graph.program import Program, reads
from engine.program.passes.known_values import Known, computed
from engine.program.passes.rewriter import Rewriter


def fold_weights(program: Program) -> None:
    """Replace values that depend on weights alone by weights. Later changes of the weights have no effect.

    ::

        a = scale(w, scale=2.0)
        b = matmul_v2(x, a)          ->    b = matmul_v2(x, a), where a keeps its value
        return b                           return b

    Stored integers are not folded: as floating weights their file would be four times as large.
    """
    _fold(program, frozenset(("dequantize_linear",)))


def fold_integer_weights(program: Program) -> None:
    """The same for the values of stored integers, for a Program that runs here and is not saved.

    ::

        a = dequantize_linear(w, scale)
        b = matmul_v2(x, a)                ->    b = matmul_v2(x, a), where a keeps its value
        return b                                 return b
    """
    _fold(program, frozenset())


def _fold(program: Program, left: frozenset[str]) -> None:
    block = program.global_block()
    changed = Liveness.of(program).unstable
    tensors = [(v, v.tensor._array) for v in program.bound() if v not in changed]
    known = Known((v, a) for v, a in tensors if isinstance(a, np.ndarray))
    folded: list[Operator] = []
    for operator in block.ops:
        found = [] if operator.opdef.name in left else computed(operator, known)
        known.update(found)
        if found and any(v.persistable for v in reads(operator)):
            folded.append(operator)
            for variable, array in found:
                tensor = wrap(array)
                tensor.name, tensor.persistable = variable.name, True
                variable.persistable = True
                program.bind(variable, tensor)
    Rewriter(program).erase(folded)
