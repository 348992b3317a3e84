"""The default kernels of operators, for arrays that the engine's own kernels for GPUs do not serve."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.core.operators.opdef import OPS
from engine.core.values import bfloat


def default(name: str) -> Callable[..., Any]:
    """The operator's default kernel, which CuPy's own functions compute."""
    return OPS[name].kernel


def handed_over(name: str, xp: Any, *arrays: Any, out: Any = None, **attrs: Any) -> Any:
    """The result of the operator's default kernel; bfloat16 is computed in float32 and returned as bits."""
    if not any(each is not None and bfloat.is_bfloat16(each) for each in arrays):
        return default(name)(xp, *arrays, **attrs, **({} if out is None else {"out": out}))
    made = bfloat.by_default(OPS[name], xp, arrays, attrs)
    if out is None:
        return tuple(made) if isinstance(made, list) else made
    out[...] = made
    return out
