"""Bounds of the integers among an operator's attributes, for Programs that this installation did not write.

A kernel declares the kind of an attribute as its annotation: ``def tile(xp, x, *, repeat_times: Size)``. An
attribute without one is a ``Count`` where its default is an integer, a flag where it is a bool; the integers
in any other attribute are bounded as those of a ``Count``. Floating-point attributes have no bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from engine.core.errors import ArgumentError
from engine.core.operators.opdef import OpDef, parameters_of

Count: TypeAlias = Any
"""An axis, a stride, a side of a window, a number of groups."""
Size: TypeAlias = Any
"""A length or an offset: inference gives the shapes that follow from it."""
Reserved: TypeAlias = Any
"""A number of elements that the kernel allocates for itself."""
Turns: TypeAlias = Any
"""How often a loop of the kernel runs."""
Parts: TypeAlias = Any
"""The number of results, or their lengths."""
Bits: TypeAlias = Any
"""A number of bits, or a level: an exponent of 2."""
Number: TypeAlias = Any
"""A value that no size follows from, such as a seed, a limit of values or an index."""

LARGEST = 4 << 30
"""The most bytes of one value of an untrusted Program, and so the most elements of a dimension."""

MOST = 1 << 16
"""The largest axis, stride, window or number of turns."""


class Bound(NamedTuple):
    """What an attribute may be: ``most`` is the largest absolute value; ``integers`` means nothing else."""

    kind: str
    most: int | None
    integers: bool = True


BOUNDS = {
    bound.kind: bound
    for bound in (
        Bound("Count", MOST),
        Bound("Size", LARGEST),
        Bound("Reserved", LARGEST),
        Bound("Turns", MOST),
        Bound("Parts", LARGEST),
        Bound("Bits", 1 << 10),
        Bound("Number", None, integers=False),
    )
}
_FLAG = Bound("flag", 1)
_OTHER = Bound("other", MOST, integers=False)


@cache
def bounds_of(opdef: OpDef) -> dict[str, Bound]:
    """The bounds of an operator's attributes by name; those without one are missing."""
    found = {
        p.name: _bound_of(p.annotation, p.default)
        for p in parameters_of(opdef.kernel)
        if p.name in opdef.attributes
    }
    return {name: bound for name, bound in found.items() if bound is not None}


def _bound_of(annotation: Any, default: Any) -> Bound | None:
    """The bound of an attribute, from its annotation or else from its default."""
    if isinstance(annotation, str) and annotation in BOUNDS:
        return BOUNDS[annotation]
    if isinstance(default, bool):
        return _FLAG
    if isinstance(default, (float, str)):
        return None
    if isinstance(default, tuple) and default:
        return _bound_of(annotation, default[0])
    return BOUNDS["Count"] if isinstance(default, int) else _OTHER


def bound_faults(opdef: OpDef, attrs: Mapping[str, Any], results: int) -> Iterator[str]:
    """One sentence for each attribute over its bound, in an application with that many ``results``."""
    for name, bound in bounds_of(opdef).items():
        value = attrs.get(name)
        if bound.most is None or value is None:
            continue
        most = results if bound.kind == "Parts" and isinstance(value, int) else bound.most
        if not all(_fits(v, most, bound.integers) for v in _flat(value)):
            kind = "integers of " if isinstance(value, (list, tuple)) else "an integer of "
            limit = "0 or 1" if bound is _FLAG else f"{kind if bound.integers else ''}at most {most}"
            yield f"{name} is {repr(value)[:200]}; it should be {limit}"


def require_int64(opdef: OpDef, attrs: Mapping[str, Any]) -> None:
    """Raise ArgumentError for an integer among ``attrs`` that 64 bits do not hold, where it has a bound."""
    for name, value in attrs.items():
        if not is_int64(value) and getattr(bounds_of(opdef).get(name), "most", None) is not None:
            raise ArgumentError(
                f"{opdef.name}: {name} is {repr(value)[:200]}, which 64 bits do not hold; "
                f"give integers below 2**63"
            )


def is_int64(value: Any) -> bool:
    """Whether 64 bits hold the integers in ``value``, which may be a list; true of anything else."""
    if value.__class__ is int:
        return -(1 << 63) <= value < 1 << 63
    return value.__class__ not in (list, tuple) or all(map(is_int64, value))


def _fits(value: Any, most: int, integers: bool) -> bool:
    if isinstance(value, bool):
        return True
    return -most <= value <= most if type(value) is int else not integers


def _flat(value: Any) -> Sequence[Any]:
    if not isinstance(value, (list, tuple)):
        return (value,)
    return [each for v in value for each in _flat(v)]
