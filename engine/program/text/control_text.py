"""Branches and loops as Paddle writes them.

Paddle's ``cond`` is two ``conditional_block`` operators and a ``select_input``; its ``while`` runs one block
that ends with the condition, and writes the values in place. Notes of our operators keep the names that
Paddle would have given (``build/control_names.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from engine.core.operators.operator import Operator
from engine.core.values.spec import Spec
from engine.core.values.var_type import VarType
from engine.program.graph.program import Program, variables_of
from engine.program.graph.variable import Variable
from engine.program.text.describe import COMMON, BlockNumber, OpDesc, describe, shown_name
from engine.program.text.forms import number

COND, LOOP = "cond", "loop"


def _desc(type: str, inputs: Any, outputs: Any, attrs: Mapping[str, Any] | None = None) -> OpDesc:
    return OpDesc(type, inputs, outputs, {**COMMON, **(attrs or {})})


def cond_descs(operator: Operator, numbers: Mapping[int, int]) -> Iterator[OpDesc]:
    names = operator.notes[COND] if operator.notes else {}
    pred, captured = operator.inputs
    condition = shown_name(pred)
    for key, region, chosen in zip(
        ("true", "false"), operator.regions, (condition, names["not"]), strict=True
    ):
        if key == "false":
            yield _desc("logical_not", {"X": [condition]}, {"Out": [names["not"]]})
        block = region.block
        read = {id(v) for o in block.ops for v in variables_of(o.inputs)}
        yield _desc(
            "conditional_block",
            {"Cond": [chosen], "Input": [shown_name(v) for v in captured if id(v) in read]},
            {"Out": names[key]["results"], "Scope": [names[key]["scope"]]},
            {
                "is_scalar_condition": True,
                "sub_block": BlockNumber(numbers.get(block.idx, block.idx)),
            },
        )
    yield _desc(
        "cast",
        {"X": [condition]},
        {"Out": [names["mask"]]},
        {"in_dtype": number(pred.dtype), "out_dtype": 2, "use_mkldnn": False},
    )
    results = [shown_name(v) for v in variables_of(operator.outputs)]
    sides = zip(names["false"]["results"], names["true"]["results"], results, strict=False)
    for no, yes, result in sides:
        yield _desc("select_input", {"Mask": [names["mask"]], "X": [no, yes]}, {"Out": [result]})


def tails(program: Program) -> dict[int, list[OpDesc]]:
    """The ends of a ``cond``'s branches, by block: results are assigned to Variables outside."""
    found: dict[int, list[OpDesc]] = {}
    for block in program.blocks:
        for operator in block.ops:
            names = (operator.notes or {}).get(COND)
            if names is None:
                continue
            for side, region in zip(("true", "false"), operator.regions, strict=True):
                found[region.block.idx] = [
                    _desc("assign", {"X": [shown_name(v)]}, {"Out": [outside]})
                    for v, outside in zip(region.results, names[side]["results"], strict=False)
                ]
    return found


def header_parts(operator: Operator) -> list[tuple[Variable, str | None]]:
    """The Variables that Paddle declares at the loop."""
    block = operator.regions[0].block
    scope = Variable(block, operator.notes[LOOP]["scope"] if operator.notes else "", Spec((), "int32"))
    scope.type = VarType.STEP_SCOPES
    return [*((v, None) for v in block.vars.values()), (scope, None)]


def _changed(operator: Operator) -> list[tuple[Variable, Variable]]:
    """Pairs of a loop's value and its next one, where the body changes it."""
    body = operator.regions[1]
    return [(a, b) for a, b in zip(body.arguments, body.results, strict=True) if a is not b]


def loop_desc(operator: Operator, numbers: Mapping[int, int]) -> OpDesc:
    """The ``while`` itself."""
    initial, captured = operator.inputs
    condition = shown_name(operator.regions[0].results[0])
    names = list(dict.fromkeys(shown_name(v) for v in (*initial, *captured)))
    assert operator.notes is not None, "only noted loops are shown so"
    return _desc(
        "while",
        {"Condition": [condition], "X": names},
        {
            "Out": [condition, *(shown_name(value) for value, _ in _changed(operator))],
            "StepScopes": [operator.notes[LOOP]["scope"]],
        },
        {"is_test": False, "sub_block": BlockNumber(numbers[operator.regions[1].block.idx])},
    )


def body_parts(operator: Operator) -> tuple[list[tuple[Variable, str | None]], list[OpDesc]]:
    """The operators after the body's own: the condition once more, and the values' assignments."""
    assert operator.notes is not None, "only noted loops are shown so"
    again: dict[str, str] = operator.notes[LOOP]["again"]
    condition = operator.regions[0].block
    changed = _changed(operator)
    renamed = again | {shown_name(value): shown_name(result) for value, result in changed}
    variables: list[tuple[Variable, str | None]] = [
        (v, again[v.name]) for v in condition.vars.values() if v.name in again
    ]
    descs = []
    for inner in condition.ops:
        desc = describe(inner)
        for slots in (desc.inputs, desc.outputs):
            for slot, names in slots.items():
                slots[slot] = [renamed.get(n, n) for n in names]
        descs.append(desc)
    result = operator.regions[0].results[0]
    descs += [
        _desc("assign", {"X": [shown_name(result_)]}, {"Out": [shown_name(value)]})
        for value, result_ in changed
    ]
    again_name = again.get(result.name, shown_name(result))
    descs.append(_desc("assign", {"X": [again_name]}, {"Out": [shown_name(result)]}))
    return variables, descs
