"""The first stage of a plan: the operators that it runs, the values that are known, and shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from engine.core.errors import EngineError, ProgramError
from engine.core.operators.operator import Operator
from engine.core.place import array_module, backend, current_place
from engine.core.values.spec import Spec
from engine.program.backward.gradient_operator import lowered
from engine.program.graph.liveness import Liveness, needed
from engine.program.graph.program import Program, Variable
from engine.program.run.concrete import concrete_specs
from engine.program.run.constants import constants
from engine.program.run.stages.draft import Draft


def choose(
    program: Program,
    ops: Sequence[Operator],
    inputs: Sequence[Variable],
    outputs: Sequence[Variable],
    feeds: Mapping[str, Spec],
    xp: ModuleType = np,
    consumes: bool = False,
) -> Draft:
    """The operators that ``outputs`` and effects need, those of rules in place of gradient operators.

    ::

        a = relu(x)                            a = relu(x)
        b = exp(x)                       ->    g = relu_grad(a, ga)
        g = gradient(x, a, ga, of=relu)        return g
        return g

    Raises the error of an operator that the shapes fed do not fit.
    """
    live = Liveness(needed(lowered(program, needed(ops, outputs)), outputs))
    return drafted(program, live, inputs, outputs, feeds, xp, consumes)


def drafted(
    program: Program,
    live: Liveness,
    inputs: Sequence[Variable],
    outputs: Sequence[Variable],
    feeds: Mapping[str, Spec],
    xp: ModuleType,
    consumes: bool = False,
    folds: bool = True,
    refused: dict[int, EngineError] | None = None,
) -> Draft:
    """The draft of these operators; ``folds``: constants are computed once, with the plan.

    ``refused`` collects the errors of operators that the shapes fed do not fit, which are raised otherwise.
    """
    # The meter of an untrusted Program knows what NumPy's kernels need, one by one.
    known = constants(live) if folds and not program.foreign else {}
    if xp is not np:
        known = {key: xp.asarray(value) for key, value in known.items()}
    specs = concrete_specs(program, live.ops, feeds, refused)
    return Draft(program, tuple(inputs), tuple(outputs), xp, consumes, live, known, specs)


def module_for(values: Sequence[Any]) -> ModuleType:
    """The array module of a plan for these inputs, without any that of the place of new tensors.

    Raises ProgramError where they are on different devices.
    """
    modules = {array_module(v).__name__: array_module(v) for v in values}
    if len(modules) > 1:
        raise ProgramError(f"plan: inputs live on different devices: {sorted(modules)}; move them to one")
    found: ModuleType = next(iter(modules.values())) if modules else backend(current_place()).xp
    return found
