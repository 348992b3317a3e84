"""Operations on the bits of integers (logic for bool), and on their divisors; without gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.core.errors import DTypeError
from engine.core.operators.infer import broadcast
from engine.core.operators.opdef import op
from engine.core.values.spec import Spec


def _require_integers(where: str, bool_too: bool, **specs: Spec) -> None:
    for name, spec in specs.items():
        if not spec.dtype.is_integer and not (bool_too and spec.dtype.name == "bool"):
            kinds = "integers or bool" if bool_too else "integers"
            raise DTypeError(f"{where}: {name} must hold {kinds}: got {spec}; cast it to int64 first")


def _infer(where: str, bool_too: bool = True) -> Callable[..., Spec]:
    same = broadcast(where)

    def infer(x: Spec, y: Spec, **_: Any) -> Spec:
        _require_integers(where, bool_too, x=x, y=y)
        return same(x, y)

    return infer


@op("bitwise_and", infer=_infer("bitwise_and"))
def bitwise_and(xp, x, y, *, out=None):
    """The bits set in both."""
    return xp.bitwise_and(x, y, out=out)


@op("bitwise_or", infer=_infer("bitwise_or"))
def bitwise_or(xp, x, y, *, out=None):
    """The bits set in either."""
    return xp.bitwise_or(x, y, out=out)


@op("bitwise_xor", infer=_infer("bitwise_xor"))
def bitwise_xor(xp, x, y, *, out=None):
    """The bits set in exactly one."""
    return xp.bitwise_xor(x, y, out=out)


def _infer_not(x: Spec, **_: Any) -> Spec:
    _require_integers("bitwise_not", True, x=x)
    return x


@op("bitwise_not", infer=_infer_not)
def bitwise_not(xp, x, *, out=None):
    """All bits inverted."""
    return xp.invert(x, out=out)


@op("gcd", infer=_infer("gcd", bool_too=False))
def gcd(xp, x, y, *, out=None):
    """The greatest common divisor, never negative."""
    return xp.gcd(x, y, out=out)


@op("lcm", infer=_infer("lcm", bool_too=False))
def lcm(xp, x, y, *, out=None):
    """The least common multiple, never negative; 0 where either is."""
    return xp.lcm(x, y, out=out)
