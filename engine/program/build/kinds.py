"""Results of branches whose sides differ in rank or dtype."""

from __future__ import annotations

from engine.core.values.spec import Spec
from engine.ops.control import flow as ops
from engine.program.build.builder import Builder
from engine.program.graph.program import Variable


def kinds_of(one: Variable, other: Variable) -> tuple[Spec, Spec] | None:
    """The specs of two sides of a branch whose ranks or dtypes differ."""
    if one.kinds is not None or other.kinds is not None:
        return one.kinds or other.kinds
    same = one.spec.ndim == other.spec.ndim and one.dtype is other.dtype
    return None if same else (one.spec, other.spec)


def declared(builder: Builder, one: Variable, other: Variable) -> Spec:
    """The Spec of a branch's result; in converted functions, the dtype is that of a side with a gradient."""
    differ = builder.startup is None and one.dtype is not other.dtype
    if differ and _has_gradient(other) and not _has_gradient(one):
        one, other = other, one
    return ops.of_either(one.spec, other.spec)


def _has_gradient(value: Variable) -> bool:
    return value.dtype.is_inexact and not value.stop_gradient
