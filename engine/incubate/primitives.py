"""Derivatives of parts of a Program: forward and backward.

Paddle rewrites operators as primitive ones for these. Here every operator is differentiated by its own rules
to any order, so the switch changes nothing but what ``forward_grad`` asks of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from engine.core import mode as modes
from engine.core.errors import DTypeError, ModeError, ShapeError
from engine.program.backward.gradients import gradients
from engine.program.graph.program import Block
from engine.program.graph.variable import Variable
from engine.tensor import creation

_enabled = False


def enable_prim() -> None:
    """Allow ``forward_grad``, as a Paddle script does before it."""
    global _enabled
    _enabled = True


def disable_prim() -> None:
    """End what ``enable_prim`` began."""
    global _enabled
    _enabled = False


def prim_enabled() -> bool:
    """Whether ``enable_prim`` was called last."""
    return _enabled


def prim2orig(block: Block | None = None, blacklist: Iterable[str] | None = None) -> None:
    """Nothing is to be done: no operator was rewritten. Raises ModeError outside of static mode."""
    _require_static("prim2orig")


def forward_grad(
    outputs: Variable | Sequence[Variable],
    inputs: Variable | Sequence[Variable],
    grad_inputs: Variable | Sequence[Variable] | None = None,
) -> Any:
    """Append operators that compute the change of ``outputs`` for a change ``grad_inputs`` of ``inputs``.

    Variables or lists of them, also those with ``stop_gradient``; the changes are ones by default. Gives
    what ``outputs`` is; zeros where an output depends on none of the inputs.

    Raises:
        ModeError: outside of static mode, or without ``enable_prim``.
        DTypeError: outputs or inputs of another type than Variable.
        ShapeError: another number of changes than of inputs.
    """
    _require_static("forward_grad")
    if not _enabled:
        raise ModeError(
            "forward_grad: must be running on primitive operators, use enable_prim to turn it on."
        )
    ys, xs = _variables("forward_grad", "outputs", outputs), _variables("forward_grad", "inputs", inputs)
    changes = [creation.ones_like(x) for x in xs] if grad_inputs is None else _listed(grad_inputs)
    if len(changes) != len(xs):
        raise ShapeError(f"forward_grad: {len(xs)} inputs need as many changes: got {len(changes)}")
    with _let_through(xs):
        made = _changes(ys, xs, changes)
    return made[0] if isinstance(outputs, Variable) else made


def _changes(ys: list[Any], xs: list[Any], changes: list[Any]) -> list[Any]:
    made = []
    for y in ys:
        # The gradient is linear in what it starts from: differentiating it by that gives the product.
        start = creation.ones_like(y)
        start.stop_gradient = False
        found = [(g, v) for g, v in zip(gradients([y], xs, [start]), changes, strict=True) if g is not None]
        change = None
        if found:
            (change,) = gradients([g for g, _ in found], [start], [v for _, v in found])
        made.append(creation.zeros_like(y) if change is None else change)
    return made


@contextmanager
def _let_through(xs: list[Any]) -> Iterator[None]:
    """Within the block no ``stop_gradient`` between ``xs`` and what depends on them holds gradients back.

    Primitive operators know no such mark: data, which has it, can be differentiated by.
    """
    reached = {x.name: x for x in xs}
    block = xs[0].block
    for operator in list(block.ops):
        if any(name in reached for name in operator.input_arg_names):
            reached |= {name: block.var(name) for name in operator.output_arg_names}
    stopped = [each for each in reached.values() if each.stop_gradient and each.dtype.is_floating_point]
    for each in stopped:
        each.stop_gradient = False
    try:
        yield
    finally:
        for each in stopped:
            each.stop_gradient = True


def grad(
    outputs: Variable | Sequence[Variable],
    inputs: Variable | Sequence[Variable],
    grad_outputs: Variable | Sequence[Variable | None] | None = None,
) -> Any:
    """Append operators that compute the gradients of ``inputs``; gives what ``inputs`` is.

    ``grad_outputs`` are the gradients to start from, ones by default. After ``enable_prim`` the inputs may
    be such with ``stop_gradient``. Raises ModeError outside of static mode, DTypeError for another type than
    Variable.
    """
    _require_static("grad")
    _variables("grad", "outputs", outputs)
    xs = _variables("grad", "inputs", inputs)
    with _let_through(xs) if _enabled else nullcontext():
        found = gradients(outputs, inputs, grad_outputs)
    return found[0] if isinstance(inputs, Variable) else found


def _require_static(where: str) -> None:
    if not modes.is_static():
        raise ModeError(
            f"{where}: works in static mode only; call paddle.enable_static() before, or use vjp and jvp"
        )


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, Sequence) else [value]


def _variables(where: str, name: str, value: Any) -> list[Any]:
    found = _listed(value)
    if not all(isinstance(each, Variable) for each in found):
        raise DTypeError(f"{where}: Expected {name} is Tensor|Sequence[Tensor], but got {type(value)}.")
    return found
