"""Printing a value, and its gradient, when a Program runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.operators import traits
from engine.core.operators.bounds import Number
from engine.core.operators.infer import same_as_x
from engine.core.operators.opdef import op


@traits.passes_on
@traits.gradient_effect
@op(
    "print_tensor",
    infer=same_as_x,
    effect=True,
    slots={"x": "In"},
)
def print_tensor(
    xp,
    x,
    *,
    names=("", ""),
    first_n: Number = -1,
    message="",
    summarize: Number = 20,
    print_tensor_name=True,
    print_tensor_type=True,
    print_tensor_shape=True,
    print_tensor_layout=True,
    print_tensor_lod=True,
    print_phase="BOTH",
    is_forward=True,
    seen=None,
):
    """Print x as Paddle does, the first ``first_n`` times (-1: always); returns x.

    ``names`` are those of the value and of its gradient, ``seen`` counts the runs.
    """
    if seen is not None:
        seen[0] += 1
    wanted = print_phase != "BACKWARD" or not is_forward
    if wanted and (first_n < 0 or seen is None or seen[0] <= first_n):
        lines = [f"Variable: {names[0]}"] if print_tensor_name else []
        if message:
            lines.append(f"  - message: {message}")
        if print_tensor_lod:
            lines.append("  - lod: {}")
        lines.append(f"  - place: Place({'cpu' if isinstance(x, (np.ndarray, np.generic)) else 'gpu:0'})")
        if print_tensor_shape:
            lines.append(f"  - shape: [{', '.join(map(str, x.shape))}]")
        if print_tensor_layout:
            lines.append("  - layout: NCHW")
        if print_tensor_type:
            lines.append(f"  - dtype: {x.dtype}")
        flat = x.reshape(-1)[: None if summarize < 0 else summarize]
        lines.append(f"  - data: [{' '.join(map(_element, flat.tolist()))}]")
        print("\n".join(lines))
    return x.copy()


def _element(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(int(value))


def _gradient(g: Any, names: Any, print_phase: str, is_forward: bool, seen: Any, **attrs: Any) -> Any:
    if print_phase == "FORWARD" or not is_forward:
        return g
    return print_tensor(
        g,
        names=names[::-1],
        print_phase=print_phase,
        is_forward=False,
        seen=None if seen is None else [0],
        **attrs,
    )


print_tensor.grad(x=_gradient)
