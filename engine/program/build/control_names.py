"""Names that Paddle gives while it builds branches and loops, stored as notes for the text.

They are created in Paddle's order, so that all later names have Paddle's numbers, too.
"""

from __future__ import annotations

from typing import Any

from engine.core.operators.operator import Operator
from engine.core.values.spec import Spec
from engine.core.values.var_type import VarType
from engine.program.build.builder import Builder
from engine.program.graph.program import Program, Variable, variables_of
from engine.program.text.control_text import COND, LOOP
from engine.program.text.describe import shown_name


class CondNames:
    """Makes the Variables that only Paddle's ``cond`` has, while its two functions are built."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.made: dict[str, Any] = {}

    def side(self, key: str, values: list[Any]) -> None:
        """Call this when a side (``key``: true or false) is built; ``values`` are its results."""
        block = self.builder.block
        twins = [
            block.create_var(None, v.spec, stop_gradient=v.stop_gradient).name
            for v in values
            if isinstance(v, Variable)
        ]
        self.made[key] = {"results": twins, "scope": self._scopes()}

    def between(self, pred: Variable) -> None:
        """Call this before the second side is built: Paddle negates the condition for it."""
        program = self.builder.program
        name = program.unique_name(f"{program.unique_name('logical_not')}.tmp")
        self.made["not"] = self.builder.block.create_var(name, pred.spec).name

    def after(self, pred: Variable) -> None:
        """Call this when both sides are built: Paddle selects results by the condition as a number."""
        program = self.builder.program
        name = program.unique_name(f"{program.unique_name('cast')}.tmp")
        self.made["mask"] = self.builder.block.create_var(name, Spec(pred.spec.shape, "int32")).name

    def _scopes(self) -> str:
        made = self.builder.block.create_var(None, Spec((), "int32"))
        made.type = VarType.STEP_SCOPES
        return made.name

    def finish(self, operator: Operator) -> None:
        """Give the results of ``operator``, the finished ``cond``, Paddle's names and form of text."""
        block = self.builder.block
        for variable in variables_of(operator.outputs):
            del block.vars[variable.name]
            variable.name = self.builder.program.unique_name("_generated_var")
            block.vars[variable.name] = variable
        operator.note(COND, self.made)


def note_loop(builder: Builder, operator: Operator, initial: list[Variable]) -> None:
    """Give the text of a loop that was just built Paddle's form and names."""
    program = builder.program
    condition, body = operator.regions
    for variable, start in zip(
        (*body.arguments, *variables_of(operator.outputs)), (*initial, *initial), strict=True
    ):
        variable.shown_name = shown_name(start)
    again = {}
    helpers: dict[str, str] = {}
    for variable in condition.block.vars.values():
        again[variable.name] = _another(program, variable.name, helpers)
    operator.note(LOOP, {"again": again, "scope": program.unique_name("_generated_var")})


def _another(program: Program, name: str, helpers: dict[str, str]) -> str:
    """The next unique name after ``name``; results of one call keep a common helper."""
    helper, dot, rest = name.partition(".")
    stem = helper.rpartition("_")[0]
    if helper not in helpers:
        helpers[helper] = program.unique_name(stem) if stem else helper
    return helpers[helper] + dot + rest
