"""Explain a plan: each operator, how it runs, which kernel it calls and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.core.operators.operator import Operator
from engine.program.graph.positions import positions
from engine.program.graph.program import variables_of
from engine.program.run.fusion.elementwise import compilable, cost_in_plan
from engine.program.run.listing import lines_of
from engine.program.run.write_control import CONTROL
from resources import compiling

if TYPE_CHECKING:
    from engine.program.run.fusion.updates import Update
    from engine.program.run.inspected import Inspected

# Why NumPy's kernel computes and no compiled one.
WHY = {
    "none": "no compiled kernel of this operator",
    "product": "BLAS computes products",
    "small": "a compiled loop gains only over more elements, or in a longer chain",
    "as good": "NumPy's kernel stays for these sizes and attributes",
    "sizes": "its sizes are known only when it runs",
    "bfloat16": "it computes in bfloat16",
    "chosen": "the setting kernels selects NumPy",
    "absent": f"llvmlite is not installed: {compiling.INSTALL}",
    "broken": f"llvmlite can't be loaded: {compiling.REINSTALL}",
    "foreign": "a third-party model runs metered",
    "device": "it runs on another device",
    "failed": "its code could not be compiled: see the log",
}
_PRODUCTS = frozenset(("matmul", "matmul_v2", "mul", "bmm", "mv", "dot"))
# How an operator runs.
KERNEL, VIEW, CONSTANT, FLOW, UPDATE = "kernel", "view", "constant", "flow", "update"


@dataclass(frozen=True)
class Explained:
    """One operator of a plan.

    ``text`` is its line in :meth:`Plan.text` without ``places``, the files and lines of the user that it
    comes from; ``depth`` counts the branches and loops around it. ``parts`` are the operators that it
    consists of, itself alone where it is not fused. ``how``: "kernel", "view" (no number is moved),
    "constant" (computed once, with the plan), "flow" (branches and loops, as Python) or "update" (one of
    several updates that are one call over flat arrays). ``reuses``: the result is written into the array of
    an input. ``bytes`` are those of its results, 0 for a view, -1 where only a run knows. ``kernel`` is
    "fast", "numpy", "compiling", "frozen" (bound to its arrays, for prediction) or empty; ``why`` a key of
    :data:`WHY` where it is NumPy's.
    """

    name: str
    text: str
    depth: int
    parts: tuple[str, ...]
    places: tuple[tuple[str, int], ...]
    how: str
    reuses: bool
    bytes: int
    kernel: str
    why: str

    def describe(self) -> str:
        """Describe in words how the operator runs, and why."""
        if self.how == CONSTANT:
            return "computed once, with the plan"
        if self.how == FLOW:
            return "Python"
        words = {
            "": "",
            "fast": "compiled",
            "numpy": "NumPy",
            "compiling": "being compiled",
            "frozen": "bound to its arrays",
        }[self.kernel]
        words += ", a view" if self.how == VIEW else ", in place" if self.reuses else ""
        return f"{words}: {WHY[self.why]}" if self.why and self.how != VIEW else words


def explain(plan: Inspected) -> list[Explained]:
    """The operators of a plan in their order; nothing runs."""
    grouped = {
        id(plan.ops[n]): update
        for group, update in zip(plan.update_groups, plan.updates, strict=True)
        for n in group
    }
    found = []
    for line in lines_of(plan.ops):
        operator = line.operator
        how = _how(plan, operator, id(operator) in grouped)
        kernel, why = _kernel(plan, operator, how, grouped.get(id(operator)))
        found.append(
            Explained(
                operator.opdef.name,
                line.text,
                line.depth,
                _parts(operator),
                tuple(positions(operator)),
                how,
                any(v is not None for v in plan.reused.get(id(operator), ())) and how == KERNEL,
                0 if how == VIEW else _bytes(plan, operator),
                kernel,
                why,
            )
        )
    return found


def _how(plan: Inspected, operator: Operator, grouped: bool) -> str:
    if operator.outputs and id(operator.outputs[0]) in plan.constants:
        return CONSTANT
    if grouped:
        return UPDATE
    if operator.opdef in CONTROL:
        return FLOW
    return VIEW if operator.opdef.view else KERNEL


def _kernel(plan: Inspected, operator: Operator, how: str, update: Update | None) -> tuple[str, str]:
    if how in (CONSTANT, FLOW):
        return "", ""
    if update is not None:
        return update.kernel()
    if id(operator) in plan.compiled:
        return "fast", ""
    if id(operator) in plan.bound:
        return "frozen", ""
    call = plan._called.get(id(operator))
    if call is None:  # a view of a constant array is created once
        return "frozen", ""
    why = plan._kernels.why_numpy(call)
    if why == "none":
        why = (
            "product"
            if operator.opdef.name in _PRODUCTS
            else "small"
            if (cost := cost_in_plan(operator, plan.specs)) is not None and compilable(cost)
            else why
        )
    return plan._kernels.whose(call), why


def _parts(operator: Operator) -> tuple[str, ...]:
    inner = (operator.notes or {}).get("parts")
    if inner is None:
        return (operator.opdef.name,)
    return tuple([name for part in inner for name in _parts(part)])


def _bytes(plan: Inspected, operator: Operator) -> int:
    specs = [plan.spec_of(v) for v in variables_of(operator.outputs)]
    return sum(s.size * s.dtype.itemsize for s in specs) if all(s.known for s in specs) else -1
