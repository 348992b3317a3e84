"""The values of operators whose inputs are known before a Program runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.core.containers.identity import IdentityMap
from engine.core.operators.operator import Operator
from engine.core.values import bfloat
from engine.core.values.dtype import bfloat16
from engine.program.graph.program import reads, variables_of
from engine.program.graph.variable import Variable
from engine.program.passes.rewriter import is_pure

Known = IdentityMap[Variable, "np.ndarray[Any, Any]"]


def computed(operator: Operator, known: Known, largest: int = 1 << 62) -> list[tuple[Variable, Any]]:
    """The operator's results with their values, computed from ``known`` inputs; empty where it must run.

    None of the results has more than ``largest`` elements.
    """
    outputs = list(variables_of(operator.outputs))
    if (
        any(v.block.program.foreign for v in outputs)  # its use of memory and time is metered when it runs
        or not is_pure(operator)
        or any(v.persistable or not 0 <= v.spec.size <= largest for v in outputs)
        or any(v not in known for v in reads(operator))
    ):
        return []
    inputs = [
        [known[v] for v in value] if isinstance(value, list) else None if value is None else known[value]
        for value in operator.inputs
    ]
    try:
        results = _run(operator, inputs)
    except Exception:  # the same happens when the Program runs, and is explained there
        return []
    taken = [each for value in inputs for each in (value if isinstance(value, list) else [value])]
    arrays = [bfloat.adopt(r if _is_new(r, taken) else np.array(r)) for r in results if r is not None]
    fits = len(arrays) == len(outputs) and all(
        a.shape == v.spec.shape and a.dtype == v.dtype.np and a.dtype.kind in "biuf"
        for a, v in zip(arrays, outputs, strict=True)
    )
    return list(zip(outputs, arrays, strict=True)) if fits else []


def _run(operator: Operator, inputs: list[Any]) -> Sequence[Any]:
    """The results of an operator's kernel for these arrays."""
    kernel, direct = operator.opdef.kernel_for("cpu")
    low = [v is not None and v.dtype is bfloat16 for v in operator.outputs]
    if any(low) or any(v.dtype is bfloat16 for v in reads(operator)):
        kernel, direct = bfloat.wrapped(operator.opdef, np, low, operator.attrs), False
    results = kernel(*inputs) if direct else kernel(np, *inputs, **operator.attrs)
    return [results] if operator.opdef.single else results


def _is_new(result: Any, inputs: list[Any]) -> bool:
    """Whether a kernel allocated the array: it is neither an input nor a view."""
    return isinstance(result, np.ndarray) and result.base is None and not any(result is i for i in inputs)
