"""Record: the text of one operator of a Program, collected while it is built.

It creates the Variables that the operator writes, in Paddle's order and under Paddle's names, and adds parts
that only Paddle has: results that nothing computes (``XShape``), numbers as Variables, other flags.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from engine.core.operators.operator import Operator
from engine.core.values.spec import Spec
from engine.ops.arrays.creation import fill
from engine.program.graph.program import Block, variables_of
from engine.program.graph.variable import Variable
from engine.program.text.describe import shown_stop_gradient
from engine.program.text.form import Form
from engine.program.text.forms import FORMS
from engine.program.text.naming import Calls

_PLAIN = Form()


class Record:
    """One operator that is about to be appended to ``block``.

    ``wanted`` are the specs of its results by slot, ``stop`` whether they have no gradient. ``operands`` lets
    numbers among the attributes become Variables, as Paddle's static mode makes them.
    """

    def __init__(
        self,
        calls: Calls,
        block: Block,
        operator: Operator,
        wanted: Mapping[str, Spec],
        *,
        stop: bool,
        grad: bool,
        operands: bool,
    ) -> None:
        self.block, self.operator, self.wanted, self.stop = block, operator, wanted, stop
        name = operator.opdef.name
        self.form = FORMS.get(name, _PLAIN)
        self._unread: list[str] = []
        if operands and self.form.operands is not None:
            self._append_operands(self.form.operands(operator))
        inputs = list(variables_of(operator.inputs))
        self._says_stop = not grad or all(shown_stop_gradient(v) for v in inputs)
        called = operator.attrs["of"] if name == "with_values" else name  # after the operator that it runs
        self.naming, self._next_name = calls.namer(block.program, called, inputs[0].name if inputs else "")

    def results(self) -> Iterator[tuple[str, Variable]]:
        """Slot and Variable of each wanted result, created in Paddle's order."""
        form, wanted = self.form, self.wanted
        extra: dict[str, Variable] = {}
        ordered = [s for s in self.naming.order or form.order if s in wanted or s in form.extra]
        for slot in dict.fromkeys((*ordered, *wanted, *form.extra)):
            spec = wanted[slot] if slot in wanted else form.extra[slot](self.operator)
            if spec is None:
                continue
            made = self._variable(slot, spec)
            if slot in wanted:
                yield slot, made
            else:
                extra[slot] = made
        if extra:
            self.operator.note("extra", extra)

    def _variable(self, slot: str, spec: Spec) -> Variable:
        # As in eager mode an only result has a gradient even if it is of integers: that of a cast is cast.
        differentiable = spec.dtype.is_inexact or (self.operator.opdef.single and slot in self.wanted)
        made = self.block.create_var(self._next_name(), spec, stop_gradient=self.stop or not differentiable)
        says_stop = self._says_stop or (slot in self.form.stopped and self.naming.form != "tmp")
        if says_stop != made.stop_gradient:
            made.shown_stop_gradient = says_stop
        if slot in self.form.says:
            made.shown_spec = self.form.says[slot](self.operator, spec)
        return made

    def finish(self) -> None:
        """Note the rest, after all results."""
        variables = self.block.vars
        for name in self._unread:  # Paddle declares it behind the results
            variables[name] = variables.pop(name)
        operator, naming = self.operator, self.naming
        if operator.opdef.name == "fill_constant" and naming.form == "tmp":  # an operand
            operator.notes = {"bare": True, "plain": True}
        if naming.device:
            operator.note("attrs", {"op_device": naming.device})
        if operator.opdef.name in naming.early and self.block.ops:
            _move_behind(variables, self.block.ops[-1])

    def _append_operands(self, operands: list[tuple[str, Any, str]]) -> None:
        """Append numbers that Paddle turns into Variables; nothing reads them when the Program runs."""
        read = {}
        for slot, value, dtype in operands:
            for _ in range(2):  # Paddle does not use the first name
                name = self.block.program.unique_name("fill_constant")
            made = self.block.create_var(f"{name}.tmp_0", Spec((1,), dtype), stop_gradient=True)
            constant = Operator(fill.opdef, (None,), {"shape": [1], "value": value, "dtype": dtype})
            constant.outputs = (made,)
            if slot:
                constant.note("attrs", {"force_cpu": True, "op_device": "cpu"})
                read[slot] = [made.name]
            else:  # Paddle does not read it, either
                self._unread.append(made.name)
            self.block.append(constant)
        if read:
            self.operator.note("inputs", read)


def _move_behind(variables: dict[str, Variable], operator: Operator) -> None:
    """Let the Block list the results of ``operator`` last."""
    extra = (operator.notes or {}).get("extra", {})
    for variable in (*variables_of(operator.outputs), *extra.values()):
        variables[variable.name] = variables.pop(variable.name)
