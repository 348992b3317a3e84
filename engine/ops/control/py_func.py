"""Python functions as operators of a Program."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from engine.core.errors import ProgramError
from engine.core.operators import traits
from engine.core.operators.opdef import op
from engine.core.strictness import tolerate
from engine.core.values.spec import Spec

# The functions by number, stored until the process ends: an operator's attributes are plain values.
CALLABLES: list[Callable[..., Any]] = []
_registering = threading.Lock()


def register(function: Callable[..., Any]) -> int:
    """Register ``function``; returns its number."""
    with _registering:
        if function not in CALLABLES:
            CALLABLES.append(function)
        return CALLABLES.index(function)


def _infer(xs: list[Spec], *, specs: Any, **_: Any) -> tuple[Spec, ...]:
    return tuple(specs)


@traits.opaque
@op(
    "py_func",
    infer=_infer,
    outputs=("outs",),
    output_list="outs",
    effect=True,
    slots={"xs": "X", "outs": "Out"},
)
def py_func(
    xp,
    xs: list,
    *,
    forward_callable_id,
    backward_callable_id=-1,
    backward_skip_vars=(),
    specs=(),
    chosen=None,
):
    """The results of Python function number ``forward_callable_id`` for the arrays ``xs``.

    Function ``backward_callable_id`` (-1: none) gives the gradients of xs from xs, outs and the gradients of
    outs, without those numbered in ``backward_skip_vars``. If only some results are used, ``chosen`` marks
    them. Results are copied: arrays that the function still holds are not written to.
    """
    if not 0 <= forward_callable_id < len(CALLABLES):
        raise ProgramError(
            f"py_func: this process has no function number {forward_callable_id}; functions are not saved "
            "with a Program: build it again"
        )
    found = CALLABLES[forward_callable_id](*xs)
    results = list(found) if isinstance(found, (list, tuple)) else [] if found is None else [found]
    expected = [True] * len(specs) if chosen is None else chosen
    if len(results) != len(expected):
        kind = "out variables" if chosen is None else "x; give None for one without gradient"
        raise ProgramError(f"py_func: the function gave {len(results)} results for {len(expected)} {kind}")
    made = []
    wanted = [(n, result) for n, (result, use) in enumerate(zip(results, expected, strict=True)) if use]
    for (n, result), spec in zip(wanted, specs, strict=True):
        array = xp.array(result)
        fits = array.ndim == spec.ndim and all(
            e in (-1, d) for d, e in zip(array.shape, spec.shape, strict=True)
        )
        if not fits or array.dtype != spec.dtype.np:
            # Paddle accepts any result: its readers see another shape than was declared.
            tolerate(
                ProgramError(
                    f"py_func: result {n} of the function is {array.dtype}{list(array.shape)}: its out "
                    f"variable is {spec}; create it with the shape and dtype of the result"
                )
            )
        made.append(array)
    return made


@py_func.grad_all("xs")
def _gradient(g_outs: Any, xs: Any, outs: Any, backward_callable_id: int, backward_skip_vars: Any) -> Any:
    from engine.ops.arrays import creation

    if backward_callable_id < 0:
        return [None for _ in xs]
    given = [
        g if g is not None else creation.fill_like(o, value=0.0) for g, o in zip(g_outs, outs, strict=True)
    ]
    arguments = [v for n, v in enumerate((*xs, *outs)) if n not in backward_skip_vars]
    chosen = [x.dtype.is_floating_point or x.dtype.is_complex for x in xs]
    specs = [Spec(x.shape, x.dtype) for x, use in zip(xs, chosen, strict=True) if use]
    found = py_func(
        [*arguments, *given], forward_callable_id=backward_callable_id, specs=specs, chosen=chosen
    )
    gradients = iter(found)
    return [next(gradients) if use else None for use in chosen]
