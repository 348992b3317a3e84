"""The public functions on tensors, with Paddle's signatures, and the methods of Tensor and Variable.

All of them are names of this package too, as in ``paddle.tensor``.
"""

from __future__ import annotations

from types import FunctionType, ModuleType
from typing import Any

from engine.tensor import (
    array,
    contraction,
    creation,
    decompositions,
    linalg,
    logic,
    manipulation,
    math,
    random,
    search,
)
from engine.tensor.arguments import factories
from engine.tensor.elements import arranging, diagonals, scattering
from engine.tensor.elementwise import bitwise, complex_parts, exponential, special, trigonometry
from engine.tensor.members import methods, printing  # methods attaches them
from engine.tensor.reductions import cumulative, reduction, statistics

_MODULES = (
    arranging,
    array,
    bitwise,
    complex_parts,
    contraction,
    creation,
    cumulative,
    decompositions,
    diagonals,
    exponential,
    linalg,
    logic,
    manipulation,
    math,
    random,
    reduction,
    scattering,
    search,
    special,
    statistics,
    trigonometry,
)


def _functions(module: ModuleType) -> dict[str, Any]:
    """The public functions that are defined in a module, or made there by the factories."""
    made_by = (module.__name__, factories.__name__)
    return {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, FunctionType)
        and not name.startswith("_")
        and value.__module__ in made_by
        and name not in vars(factories)
    }


for _module in _MODULES:
    globals().update(_functions(_module))
globals().update(methods.INPLACE)
is_tensor = logic.is_tensor_value
set_printoptions = printing.set_printoptions
slice = arranging.slice_
del _module
