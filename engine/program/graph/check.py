"""The check of a Program: which rules of a well-formed graph it breaks."""

from __future__ import annotations

from collections.abc import Iterator

from engine.core.errors import ProgramError
from engine.core.operators.opdef import OPS
from engine.program.graph.check_regions import REGION_CHECKS
from engine.program.graph.liveness import results
from engine.program.graph.program import Block, Program, Variable, reads, writes
from engine.program.graph.region import Region


def problems(program: Program) -> list[str]:
    """One sentence for each rule that the Program breaks; empty for a well-formed one."""
    found: list[str] = []
    for block in program.blocks:
        if block.idx and not 0 <= block.parent_idx < block.idx:
            found.append(
                f"block {block.idx}: its parent is block {block.parent_idx}, which does not come before it"
            )
            continue
        _check_block(block, found)
    for name in (*program.inputs, *program.outputs):
        if program.global_block().find(name) is None:
            found.append(f"program: {name!r} is listed as input or output, but no variable has that name")
    return found


def _check_block(block: Block, found: list[str]) -> None:
    defined: set[int] = set()
    for ancestor in block.lineage():
        defined |= {
            id(v) for v in ancestor.vars.values() if v.persistable or v.is_data or ancestor is not block
        }
    for n, operator in enumerate(block.ops):
        where = f"block {block.idx}, operator {n} ({operator.opdef.name})"
        if OPS.get(operator.opdef.name) is not operator.opdef:
            found.append(f"{where}: not a registered operator")
        for variable in reads(operator):
            if not _visible(block, variable):
                found.append(f"{where}: reads {variable.name!r}, which is not in this block or a parent")
            elif (
                id(variable) not in defined
                and variable.name in block.vars
                and block.vars[variable.name] is variable
            ):
                found.append(f"{where}: reads {variable.name!r} before any operator writes it")
        for variable in writes(operator):
            if not _visible(block, variable):
                found.append(f"{where}: writes {variable.name!r}, which is not in this block or a parent")
        defined |= {id(v) for v in results(operator)}
        if len(operator.regions) != len(operator.opdef.regions):
            found.append(
                f"{where}: has {len(operator.regions)} regions; it takes {list(operator.opdef.regions)}"
            )
        elif operator.opdef in REGION_CHECKS:
            found += [f"{where}: {problem}" for problem in REGION_CHECKS[operator.opdef](operator)]
        for name, region in zip(operator.opdef.regions, operator.regions, strict=False):
            found += [f"{where}, region {name}: {problem}" for problem in _region_problems(block, region)]


def _region_problems(block: Block, region: Region) -> Iterator[str]:
    inner, blocks = region.block, block.program.blocks
    if not (block.idx < inner.idx < len(blocks) and blocks[inner.idx] is inner):
        yield f"its block {inner.idx} is not one of the {len(blocks)} blocks, behind block {block.idx}"
    elif not any(b is block for b in inner.lineage()):
        yield f"its block {inner.idx} is not within block {block.idx}"
    else:
        state = [v for v in region.arguments if _is_replay_state(block.program, v)]  # in any order
        for variable in (*region.arguments, *region.results):
            if not _visible(inner, variable) and not any(variable is v for v in state):
                yield f"names {variable.name!r}, which is not in its block {inner.idx} or a parent"


def _is_replay_state(program: Program, variable: Variable) -> bool:
    """Whether an operator stores a random key or its iterations in ``variable``."""
    return any(o.saved_state is variable for b in program.blocks for o in b.ops)


def _visible(block: Block, variable: Variable) -> bool:
    return any(b.vars.get(variable.name) is variable for b in block.lineage())


def check(program: Program) -> Program:
    """Return the Program itself. Raises ProgramError, naming every problem, where it is ill-formed."""
    found = problems(program)
    if found:
        raise ProgramError("Program is ill-formed: " + "; ".join(found[:10]))
    return program
