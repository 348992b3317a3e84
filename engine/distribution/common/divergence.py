"""The formulas of the Kullback-Leibler divergence by pairs of classes, and the one that fits best."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from engine.core.errors import UnsupportedError

FORMULAS: dict[tuple[type, type], Callable[..., Any]] = {}
"""What ``register_kl`` registers."""


def divergence(p: object, q: object) -> Any:
    """KL(p || q) by the formula that is registered for the nearest bases."""
    return _formula(type(p), type(q))(p, q)


def _formula(cls_p: type, cls_q: type) -> Callable[..., Any]:
    fitting = [pair for pair in FORMULAS if issubclass(cls_p, pair[0]) and issubclass(cls_q, pair[1])]
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
    return FORMULAS[by_p]
