"""Control flow and effects in a Program: branches, loops, printing, assertions.

Branches and loops are operators with sub-blocks. They are never run as kernels of their own: eager code uses
Python's ``if`` and ``while``, and an Executor's plan writes them out in place.
"""

from __future__ import annotations

from typing import Any

from engine.core.errors import AssertFailedError, BranchError, ModeError
from engine.core.operators import traits
from engine.core.operators.bounds import Number
from engine.core.operators.infer import same_as_x
from engine.core.operators.opdef import op
from engine.core.values.spec import Spec


def _only_in_plans(name: str) -> ModeError:
    return ModeError(f"{name}: runs inside a Program only; in eager mode use Python's own statement")


def merged(where: str, first: Spec, second: Spec) -> Spec:
    """The Spec of a value that is one of two. Raises BranchError for different ranks or dtypes."""
    if first.dtype is not second.dtype or first.ndim != second.ndim:
        raise BranchError(
            f"{where}: one side gives {first}, the other {second}; make dtype and number of dimensions equal"
        )
    return first.with_shape([a if a == b else -1 for a, b in zip(first.shape, second.shape, strict=True)])


def of_either(true: Spec, false: Spec) -> Spec:
    """The Spec that a branch's result is declared with; if rank or dtype differ, that of the true side.

    Dimensions that differ are unknown only where the ranks are equal, as in Paddle.
    """
    return merged("cond", true, false.with_dtype(true.dtype)) if true.ndim == false.ndim else true


def _from_regions(*_: Any, **__: Any) -> Any:
    raise ModeError("control flow: its results follow from its regions; build it by cond or while_loop")


@op(
    "conditional_block",
    infer=_from_regions,
    outputs=("results",),
    output_list="results",
    slots={"pred": "Cond", "captured": "Input", "results": "Out"},
    regions=("true", "false"),
)
def cond(xp, pred, captured: list):
    """The results of one of two regions, by a bool of one element."""
    raise _only_in_plans("cond")


@traits.loops
@op(
    "while",
    infer=_from_regions,
    outputs=("results",),
    output_list="results",
    slots={"xs": "X", "captured": "Input", "results": "Out"},
    regions=("cond", "body"),
)
def while_loop(xp, xs: list, captured: list):
    """The loop's values after running one region as long as another gives True.

    Both have the loop's values as arguments. The operator's ``saved_state`` is, where a gradient walks back
    over the loop or runs it again, the Variable with the values and random keys of every iteration.
    """
    raise _only_in_plans("while_loop")


@traits.loops
@op(
    "while_again",
    infer=_from_regions,
    outputs=("results",),
    output_list="results",
    slots={"xs": "X", "captured": "Input", "results": "Out"},
    regions=("body",),
)
def while_again(xp, xs: list, captured: list):
    """A second run of a loop that draws random numbers, by the gradient of the operator that contains the
    loop.

    It runs its region once for each iteration that the first run stored, the operator's ``taken``; so
    it needs no condition, which may draw numbers, too. The region's arguments are the loop's values, then
    the stored state of an iteration. A gradient walks back over it as over the loop.
    """
    raise _only_in_plans("while_again")


@traits.order(1)
@traits.loops
@op(
    "while_grad",
    infer=_from_regions,
    outputs=("results",),
    output_list="results",
    slots={
        "gs": "Out@GRAD",
        "sources": "Source",
        "captured": "Input",
        "steps": "StepScopes",
        "results": "X@GRAD",
    },
    regions=("body",),
)
def while_grad(xp, gs: list, sources: list, captured: list, steps, *, values: Number):
    """Walks back over the iterations that a loop stored in ``steps``.

    The region's arguments are the loop's ``values`` (their number), then the random keys of an iteration,
    then the gradients of the values after it; its results the gradients of the values before it, then those
    that the iteration adds to the gradients of ``sources``, which are read from outside the loop. Second
    derivatives would need the iterations of this loop itself: refused.
    """
    raise _only_in_plans("while_grad")


@traits.passes_on
@op("print", infer=same_as_x, effect=True, slots={"x": "In"})
def print_value(xp, x, *, message=""):
    """Print x at run time and return it."""
    print(message, x)
    return x.copy()


print_value.grad(x=lambda g: g)


@traits.passes_on
@op(
    "assert",
    infer=lambda cond, data, **_: (),
    outputs=(),
    effect=True,
    slots={"cond": "Cond", "data": "Data"},
)
def check(xp, cond, data: list, *, summarize: Number = -1, message=""):
    """Raise AssertFailedError with the data at run time unless cond is True everywhere."""
    if not cond.all():
        shown: list[Any] = [d.reshape(-1)[: None if summarize < 0 else summarize].tolist() for d in data]
        raise AssertFailedError(message or f"assert failed: data {shown}")
    return ()
