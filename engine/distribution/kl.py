"""The Kullback-Leibler divergence: formulas registered for pairs of classes, found by their bases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from engine.core.errors import DTypeError
from engine.distribution.common.divergence import FORMULAS, divergence
from engine.distribution.distribution import Distribution

Formula = TypeVar("Formula", bound=Callable[..., Any])

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
        FORMULAS[cls_p, cls_q] = formula
        return formula

    return register
