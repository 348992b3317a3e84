"""Mixed precision applied: the casts that go before an operator, eagerly and while a Program is built."""

from __future__ import annotations

from typing import Any

from engine.core import mode as modes
from engine.core.operators.opdef import OPS, OpDef
from engine.core.precision import CASTABLE, Precision


def cast_inputs(precision: Precision, opdef: OpDef, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """``inputs`` in the dtypes that ``opdef`` computes in.

    Casts themselves, and operators with effects (updates of parameters, assignments), take their arguments as
    they are given.
    """
    if opdef.name == "cast" or opdef.effect or opdef.regions:
        return inputs
    dtypes = [[v.dtype.name for v in _flat(value)] for value in inputs]
    found = {name for each in dtypes for name in each} & CASTABLE
    if not found:
        return inputs
    target = precision.target(opdef.name, dtypes)
    if found == {target}:
        return inputs
    with modes.use(modes.current().with_precision(None)):
        return tuple(
            _cast(value, target) if precision.casts(opdef.name, n) else value
            for n, value in enumerate(inputs)
        )


def _flat(value: Any) -> list[Any]:
    values = value if isinstance(value, (list, tuple)) else [value]
    return [v for v in values if hasattr(v, "dtype")]


def _cast(value: Any, target: str) -> Any:
    if isinstance(value, (list, tuple)):
        return [_cast(v, target) for v in value]
    if not hasattr(value, "dtype") or value.dtype.name not in CASTABLE or value.dtype.name == target:
        return value
    return OPS["cast"].namespace["__apply__"](value, out_dtype=target)
