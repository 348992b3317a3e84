"""The operator that PyLayer records: its gradient is a Python function."""

from __future__ import annotations

from typing import Any

from engine.core.errors import GradientError
from engine.core.operators import traits
from engine.core.operators.opdef import op


def _infer(ys: list[Any], xs: list[Any], saved: list[Any], **_: Any) -> tuple[Any, ...]:
    return tuple(ys)


# The bare ``list`` marks the inputs that are lists for OpDef.
@traits.complex_gradient
@op("py_layer", infer=_infer, outputs=("outs",), output_list="outs")
def py_layer(xp, ys: list, xs: list, saved: list, *, rule=None):
    """The results ``ys`` of a forward that has run; gradients flow to ``xs`` through ``rule``."""
    return [y.copy() for y in ys]


def _xs_gradient(g_outs: Any, outs: Any, xs_spec: Any, saved: Any, rule: Any) -> Any:
    if rule is None:
        raise GradientError(
            "py_layer: its gradient is a Python function, which files do not hold: this Program was loaded; "
            "train it where the PyLayer is defined"
        )
    return rule(g_outs, outs, xs_spec, saved)


py_layer.grad(xs=_xs_gradient)
