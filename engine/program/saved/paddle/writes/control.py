"""Branches and loops: Paddle's loops write their values in place, its branches results declared outside."""

from __future__ import annotations

from engine.core.operators.operator import Operator
from engine.core.program_desc import Attr, AttrType
from engine.core.values.spec import Spec
from engine.core.values.var_type import VarType
from engine.program.graph.program import variables_of
from engine.program.graph.region import Region
from engine.program.saved.paddle.writes.blocks import write_block
from engine.program.saved.paddle.writes.rows import writes
from engine.program.saved.paddle.writes.writing import Writing


def _read_outside(w: Writing, inner: Writing) -> list[str]:
    """Names that a written block reads and does not compute itself."""
    own = {v.name for v in inner.desc.vars}
    found: dict[str, None] = {}
    for desc in inner.desc.ops:
        for names in desc.inputs.values():
            found.update((n, None) for n in names if n not in own)
    return list(found)


@writes("conditional_block")
def _(w: Writing, o: Operator) -> None:
    pred = o.inputs[0]
    results = list(variables_of(o.outputs))
    scopes = []
    sides: list[list[str]] = []
    chosen = w.name(pred)
    for region in o.regions:
        names = [w.new(v.spec, "branch") for v in region.results]
        inner = Writing(w.program, w.naming, w)
        write_block(inner, region.block, region.results)
        for name, value in zip(names, region.results, strict=True):
            inner.put("assign", {"X": value}, {"Out": name})
        scopes.append(w.raw("scope", VarType.STEP_SCOPES))
        desc = w.put(
            "conditional_block",
            {"Cond": chosen, "Input": _read_outside(w, inner)},
            {"Out": names, "Scope": scopes[-1]},
            is_scalar_condition=True,
        )
        desc.attrs["sub_block"] = Attr(AttrType.BLOCK, inner.desc.idx)
        sides.append(names)
        if region is o.regions[0]:
            chosen = w.unary("logical_not", pred)
    mask = w.cast(pred, "int32")
    yes, no = sides
    for a, b, out in zip(yes, no, results, strict=True):
        w.put("select_input", {"X": [b, a], "Mask": mask}, {"Out": w.declare(out)})


@writes("while")
def _(w: Writing, o: Operator) -> None:
    initial, _ = o.inputs
    test, body = o.regions
    values = []
    for value, given, result in zip(test.arguments, initial, o.outputs, strict=True):
        name = w.declare(result)
        w.put("assign", {"X": given}, {"Out": name})
        w.alias(value, name)
        values.append(name)
    condition = w.new(Spec(test.results[0].spec.shape, "bool"), "condition")
    _write_test(w, test, condition)
    inner = Writing(w.program, w.naming, w)
    write_block(inner, body.block, body.results)
    moved = [
        (inner.unary("assign", result), name)
        for argument, result, name in zip(body.arguments, body.results, values, strict=True)
        if argument is not result
    ]  # all are read before the first is written: values may change places
    for source, name in moved:
        inner.put("assign", {"X": source}, {"Out": name})
    _write_test(inner, test, condition)
    changed = [name for _, name in moved]
    reads = [n for n in dict.fromkeys((*_read_outside(w, inner), *values)) if n != condition]
    desc = w.put(
        "while",
        {"X": reads, "Condition": condition},
        {"Out": [condition, *changed], "StepScopes": w.step_scope()},
        is_test=True,
    )
    desc.attrs["sub_block"] = Attr(AttrType.BLOCK, inner.desc.idx)


def _write_test(w: Writing, test: Region, condition: str) -> None:
    """The operators of a loop's condition, which is computed before the loop and at the end of its body."""
    write_block(w, test.block, test.results)
    w.put("assign", {"X": test.results[0]}, {"Out": condition})
