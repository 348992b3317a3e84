"""The gradient of one operator of a Program as one operator, which Paddle writes as ``relu_grad``.

It is never run as a kernel: a plan writes out the operators that the rules of the operator ask for.
"""

from __future__ import annotations

from typing import Any

from engine.core.errors import ModeError
from engine.core.operators.opdef import op
from engine.core.values.spec import Spec


def _infer(xs: list[Spec], outs: list[Spec], gs: list[Spec], *, targets: Any, **_: Any) -> tuple[Spec, ...]:
    return tuple(xs[n] for n in targets)


@op(
    "gradient",
    infer=_infer,
    outputs=("grads",),
    output_list="grads",
    slots={"xs": "X", "outs": "Out", "gs": "Out@GRAD", "grads": "X@GRAD"},
)
def gradient(xp, xs: list, outs: list, gs: list, *, of, attrs, inputs, outputs, given, targets):
    """The gradients of some inputs of operator ``of``, from those of its outputs.

    ``xs`` and ``outs`` are its inputs and outputs as flat lists; ``inputs`` has for each declared input how
    many of ``xs`` belong to it (-1 for one that is not a list, None for an absent one), ``outputs`` whether
    each output exists, ``given`` whether its gradient does. ``targets`` are positions among ``xs``.
    """
    raise ModeError("gradient: runs inside a Program only; in eager mode call backward()")
