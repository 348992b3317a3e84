"""Control flow and effects in a Program: branches, loops, printing, assertions.

Branches and loops are operators with sub-blocks. They are never run as kernels of their own: eager code uses
Python's ``if`` and ``while``, and an Executor's plan writes them out in place.
"""

from __future__ import annotations

from typing import Any

from engine.core.errors import AssertFailedError, ModeError, ShapeError
from engine.core.infer import same_as_x
from engine.core.opdef import op
from engine.core.spec import Spec


def _only_in_plans(name: str) -> ModeError:
    return ModeError(f"{name}: runs inside a Program only; in eager mode use Python's own statement")


def merged(where: str, first: Spec, second: Spec) -> Spec:
    """What is known of a value that is one of two. Raises ShapeError for different ranks or dtypes."""
    if first.dtype is not second.dtype or first.ndim != second.ndim:
        raise ShapeError(
            f"{where}: one side gives {first}, the other {second}; make dtype and number of dimensions equal"
        )
    return first.with_shape([a if a == b else -1 for a, b in zip(first.shape, second.shape, strict=True)])


@op("conditional_block", infer=lambda pred, captured, *, specs, **_: tuple(specs),
    outputs=("results",), output_list="results", hidden=("specs",),
    slots={"pred": "Cond", "captured": "Input", "results": "Out"})  # fmt: skip
def cond(xp, pred, captured: list, *, true_block, false_block, true_results, false_results, specs):
    """The results of one of two sub-blocks, by a bool of one element."""
    raise _only_in_plans("cond")


@op("while", infer=lambda xs, captured, *, specs, **_: tuple(specs),
    outputs=("results",), output_list="results", hidden=("specs",),
    slots={"xs": "X", "captured": "Input", "results": "Out"})  # fmt: skip
def while_loop(
    xp,
    xs: list,
    captured: list,
    *,
    cond_block,
    body_block,
    loop_names,
    cond_result,
    body_results,
    steps,
    specs,
):
    """The loop's values after running a sub-block while another gives True.

    ``steps`` names the Variable that keeps the values of every iteration for the gradient, or is empty.
    """
    raise _only_in_plans("while_loop")


@op("while_grad", infer=lambda gs, captured, *, specs, **_: tuple(specs),
    outputs=("results",), output_list="results", order=1, hidden=("specs",),
    slots={"gs": "Out@GRAD", "captured": "Input", "results": "X@GRAD"})  # fmt: skip
def while_grad(
    xp, gs: list, captured: list, *, body_block, loop_names, grad_names, sums, carried, steps, specs
):
    """Walks back over the iterations that ``steps`` kept. Second order would need steps of steps: refused."""
    raise _only_in_plans("while_grad")


@op("print", infer=same_as_x, effect=True, slots={"x": "In"})
def print_value(xp, x, *, message=""):
    """Prints x when run and passes it on."""
    print(message, x)
    return x.copy()


print_value.grad(x=lambda g: g)


@op(
    "assert",
    infer=lambda cond, data, **_: (),
    outputs=(),
    effect=True,
    slots={"cond": "Cond", "data": "Data"},
)
def check(xp, cond, data: list, *, summarize=-1, message=""):
    """Raises AssertFailedError with the data when run and cond is not True everywhere."""
    if not cond.all():
        shown: list[Any] = [d.reshape(-1)[: None if summarize < 0 else summarize].tolist() for d in data]
        raise AssertFailedError(message or f"assert failed: data {shown}")
    return ()
