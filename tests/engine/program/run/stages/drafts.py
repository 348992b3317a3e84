"""Drafts of plans for tests of single stages, from Programs as text."""

from __future__ import annotations

from engine.program.run.stages.choose import choose
from engine.program.run.stages.draft import Draft
from tests.engine.program.passes.text import program_of


def chosen(text: str, consumes: bool = False, foreign: bool = False) -> Draft:
    """The draft that the first stage makes of a Program."""
    program = program_of(text)
    program.foreign = foreign
    block = program.global_block()
    inputs = [block.var(n) for n in program.inputs]
    weights = [v for v in block.vars.values() if v.persistable]
    feeds = {v.name: v.spec for v in inputs}
    outputs = [block.var(n) for n in program.outputs]
    return choose(program, block.ops, [*inputs, *weights], outputs, feeds, consumes=consumes)


def shown(draft: Draft) -> list[str]:
    """The operators, those of a fused one in brackets."""
    return [
        "[" + " ".join(step[0] for step in o.attrs["steps"]) + "]" if "steps" in o.attrs else o.opdef.name
        for o in draft.ops
    ]
