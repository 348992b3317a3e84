"""Gradients clipped in place, once, by hand."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from engine.core import mode as modes
from engine.core.errors import ArgumentError, GradientError, ModeError
from engine.eager.grad_mode import no_grad
from engine.eager.tensor import Tensor
from engine.tensor import creation, manipulation

_NORMS = (float("inf"), 0, 1, 2)


def _with_gradients(where: str, parameters: Iterable[Tensor] | Tensor) -> list[Tensor]:
    if modes.is_static():
        raise ModeError(f"{where}: works on the gradients of eager tensors; give the optimizer a grad_clip")
    listed = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    return [p for p in listed if p.grad is not None]


def _norm(x: Any, order: float) -> Any:
    """The norm of all elements, 0-d."""
    if order == float("inf"):
        return x.abs().max()
    if order == 0:
        return (x != 0).astype(x.dtype).sum()
    return x.abs().sum() if order == 1 else (x * x).sum().sqrt()


@no_grad()
def clip_grad_norm_(
    parameters: Iterable[Tensor] | Tensor,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
) -> Tensor:
    """Scale all gradients by one factor so that their common norm is at most ``max_norm``; returns the norm.

    ``norm_type`` is 0, 1, 2 or inf. Raises GradientError for a norm that is not finite, where asked to.
    """
    if norm_type not in _NORMS:
        raise ArgumentError(f"clip_grad_norm_: norm_type is one of {list(_NORMS)}: got {norm_type!r}")
    found = _with_gradients("clip_grad_norm_", parameters)
    if not found:
        nothing: Tensor = creation.to_tensor(0.0)
        return nothing
    norms = [_norm(p.grad, norm_type) for p in found]
    total = norms[0] if len(norms) == 1 else _norm(manipulation.stack(norms), norm_type)
    if error_if_nonfinite and not math.isfinite(float(total)):
        raise GradientError(
            f"clip_grad_norm_: the norm of the gradients is {float(total)}; omit error_if_nonfinite to "
            "scale them all the same"
        )
    factor = (float(max_norm) / (total + 1e-6)).clip(max=1.0)
    for p in found:
        gradient = p.grad
        assert gradient is not None  # _with_gradients
        p.grad = gradient * factor.astype(gradient.dtype)
    norm: Tensor = total.detach()
    return norm


@no_grad()
def clip_grad_value_(parameters: Iterable[Tensor] | Tensor, clip_value: float) -> None:
    """Limit every element of the gradients to [-clip_value, clip_value]."""
    limit = float(clip_value)
    if not limit >= 0:
        raise ArgumentError(f"clip_grad_value_: clip_value must be 0 or more: got {clip_value}").set_kind(
            "InvalidArgument"
        )
    for p in _with_gradients("clip_grad_value_", parameters):
        gradient = p.grad
        assert gradient is not None  # _with_gradients
        p.grad = gradient.clip(min=-limit, max=limit)
