"""The Kullback-Leibler divergence: formulas registered for pairs of classes, found by their bases."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from engine.core.errors import DTypeError, UnsupportedError
from engine.distribution.distribution import Distribution

Formula = TypeVar("Formula", bound=Callable[..., Any])
_FORMULAS: dict[tuple[type, type], Callable[..., Any]] = {}

__all__ = ["kl_divergence", "register_kl"]


def kl_divergence(p: Distribution, q: Distribution) -> Any:
    """KL(p || q), one for each distribution of the batch.

    Raises UnsupportedError where no formula is registered for the classes of p and q or their bases.
    """
    return divergence(p, q)


def register_kl(cls_p: type, cls_q: type) -> Callable[[Formula], Formula]:
    """A decorator: the function of p and q is the formula for these classes and those derived from them."""
    for each in (cls_p, cls_q):
        if not (isinstance(each, type) and issubclass(each, Distribution)):
            raise DTypeError(f"register_kl: takes classes derived from Distribution: got {each!r}")

    def register(formula: Formula) -> Formula:
        _FORMULAS[cls_p, cls_q] = formula
        return formula

    return register


def divergence(p: Any, q: Any) -> Any:
    """KL(p || q) by the formula that is registered for the nearest bases."""
    return _formula(type(p), type(q))(p, q)


def _formula(cls_p: type, cls_q: type) -> Callable[..., Any]:
    fitting = [pair for pair in _FORMULAS if issubclass(cls_p, pair[0]) and issubclass(cls_q, pair[1])]
    if not fitting:
        raise UnsupportedError(
            f"kl_divergence: no formula for {cls_p.__name__} and {cls_q.__name__}; register one with "
            "register_kl"
        )

    def distance(pair: tuple[type, type]) -> tuple[int, int]:
        return cls_p.mro().index(pair[0]), cls_q.mro().index(pair[1])

    by_p = min(fitting, key=distance)
    by_q = min(fitting, key=lambda pair: distance(pair)[::-1])
    if by_p != by_q:
        said = " and ".join(f"({a.__name__}, {b.__name__})" for a, b in (by_p, by_q))
        warnings.warn(f"kl_divergence: {said} fit equally well; the first is taken", stacklevel=4)
    return _FORMULAS[by_p]
