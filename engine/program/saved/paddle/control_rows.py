"""Branches, loops and grown lists of Paddle, which write values in place, with one assignment for each value.

A ``cond`` is two ``conditional_block`` operators and a ``select_input`` for each result; here it is one
operator. A ``while`` writes the values around it; here they are its arguments and results.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

import numpy as np

from engine.core.errors import FormatError
from engine.core.operators.opdef import OPS
from engine.core.operators.operator import Operator
from engine.core.program_desc import BlockDesc, OpDesc
from engine.core.values.spec import Spec
from engine.core.values.var_type import VarType
from engine.ops.control import flow
from engine.program.graph.liveness import outer_reads, with_sub_blocks
from engine.program.graph.program import Block, Variable, variables_of
from engine.program.graph.region import Region
from engine.program.saved.paddle.reading import Frame, Step
from engine.program.saved.paddle.rows import ROWS, reads

_UNDEFINED = np.float32(1.77113e27)  # the value of Variables that only one branch computes
_ARRAY = VarType.LOD_TENSOR_ARRAY.value


def read_block(frame: Frame) -> None:
    """Read all OpDescs of the frame's block. Raises FormatError, naming the operator."""
    from engine.program.saved.paddle.generic import read_generic

    for number, desc in enumerate(frame.desc.ops):
        step = Step(frame, desc)
        try:
            ROWS.get(desc.type, read_generic)(step)
        except Located:
            raise
        except Exception as error:  # a damaged OpDesc may raise errors of any class, in rows and in inference
            reason = str(error) if isinstance(error, FormatError) else f"{error}" or type(error).__name__
            raise Located(
                f"block {frame.desc.idx}, operator {number} ({desc.type:.80}): {_brief(reason)}"
            ) from error


class Located(FormatError):
    """A fault that names its operator."""


def _brief(text: str) -> str:
    return " ".join(text[:1000].split())[:400]


def _sub_block(step: Step) -> BlockDesc:
    index, blocks = step.attr("sub_block"), step.reading.desc.blocks
    if not isinstance(index, int) or not 0 < index < len(blocks):
        raise FormatError(f"its sub_block is {index!r:.40}")
    if blocks[index].parent != step.frame.desc.idx:
        raise FormatError(f"its sub_block {index} belongs to block {blocks[index].parent}")
    if index in step.reading.entered:
        raise FormatError(f"its sub_block {index} is that of another operator, too")
    return blocks[index]


def written_outside(blocks: Sequence[BlockDesc], block: BlockDesc) -> list[str]:
    """The names that operators of a block, and of blocks in it, write and that belong to blocks around it."""
    found: dict[str, None] = {}

    def walk(desc: BlockDesc, own: frozenset[str], depth: int) -> None:
        own |= {v.name for v in desc.vars}
        for operator in desc.ops:
            found.update((n, None) for n in _written(operator) if n not in own)
            inner = operator.attrs.get("sub_block")
            index = inner.value if inner is not None else None
            if isinstance(index, int) and desc.idx < index < len(blocks) and depth < 64:
                walk(blocks[index], own, depth + 1)

    walk(block, frozenset(), 0)
    return list(found)


def _written(operator: OpDesc) -> Iterator[str]:
    for slot, names in operator.outputs.items():
        if slot not in ("Scope", "StepScopes"):
            yield from names


# -- branches -----------------------------------------------------------------------------------------------
class Branch:
    """One ``conditional_block`` whose operator is made when its results are read or merged."""

    def __init__(self, step: Step, condition: Variable, inner: Frame, writes: list[str]) -> None:
        self.frame, self.desc, self.condition = step.frame, step.desc, condition
        self.inner, self.block = inner, inner.block
        self.writes = [name for name in writes if name in inner.values]

    def settle(self, name: str) -> None:
        """Make the operator: without its condition, names keep their values. Raises FormatError where
        ``name`` has none."""
        frame = self.frame
        self._withdraw()
        before = {n: frame.find(n) for n in self.writes}
        pairs = {n: (self.inner.values[n], value) for n, value in before.items() if value is not None}
        if name not in pairs:
            raise FormatError(f"{name!r:.80} is computed in one branch of a condition only")
        empty = frame.reading.program.create_block(frame.block)
        made = append_branches(
            Step(frame, self.desc), self.condition, self.block, empty, list(pairs.values())
        )
        for n, value in zip(pairs, made, strict=True):
            frame.values[n] = value

    def _withdraw(self) -> None:
        for n in self.writes:
            if self.frame.branches.get(n) is self:
                del self.frame.branches[n]


@reads("conditional_block", "conditional_block_infer")
def _(step: Step) -> None:
    frame, condition = step.frame, step.need("Cond")
    if not step.attr("is_scalar_condition", False):
        raise FormatError("conditions of several elements are not supported")
    desc = _sub_block(step)
    step.reading.entered.add(desc.idx)
    writes = written_outside(step.reading.desc.blocks, desc)
    pending = {id(b): b for n in writes if (b := frame.branches.get(n)) is not None}
    for name in writes:
        if name in frame.branches and frame.reading.negated(condition) is not frame.branches[name].condition:
            frame.find(name)  # settles it
    inner = Frame(step.reading, desc, step.reading.program.create_block(frame.block), frame)
    held = {n: frame.branches.pop(n) for n in writes if n in frame.branches}
    read_block(inner)
    frame.branches |= held
    branch = Branch(step, _as_bool(step, condition), inner, writes)
    others = [b for b in pending.values() if any(frame.branches.get(n) is b for n in writes)]
    for other in others:  # both write the same names: the first for the condition, this one for its negation
        _merge(step, other, branch, [])
    if not others:
        for name in branch.writes:
            frame.branches[name] = branch


@reads("select_input")
def _(step: Step) -> None:
    frame, names = step.frame, step.desc.inputs.get("X", [])
    if len(names) != 2:
        raise FormatError(f"it chooses among {len(names)} values")
    no, yes = (frame.branches.get(name) for name in names)
    [out] = step.desc.outputs.get("Out", [""])
    if (no is not None or yes is not None) and no is not yes:
        no, yes = no or _partner(step, yes), yes or _partner(step, no)
        mask = step.desc.inputs.get("Mask")
        choices = [
            tuple(other.inputs["X"])
            for other in frame.desc.ops
            if other.type == "select_input" and other.inputs.get("Mask") == mask
        ]
        _merge(step, yes, no, choices)
    chosen = frame.reading.selected.get((id(frame), tuple(names)))
    if chosen is None:
        condition = _as_bool(step, step.need("Mask"))
        values = [step.value(name) for name in names]
        blocks = [step.reading.program.create_block(frame.block) for _ in range(2)]
        [chosen] = append_branches(step, condition, blocks[0], blocks[1], [(values[1], values[0])])
    step.rename(chosen, out)
    step.bind(out, chosen)


def _partner(step: Step, branch: Branch | None) -> Branch:
    """The branch that runs where the other one does not; one without operators where there is none."""
    assert branch is not None, "one side of the choice is a branch"
    reading = step.reading
    for other in step.frame.branches.values():
        if reading.negated(other.condition) is branch.condition:
            return cast("Branch", other)
        if reading.negated(branch.condition) is other.condition:
            return cast("Branch", other)
    empty = Frame(reading, BlockDesc(0, -1), reading.program.create_block(step.frame.block), step.frame)
    condition = reading.negated(branch.condition)
    if condition is None:
        condition = step.run("logical_not", branch.condition)
    return Branch(step, condition, empty, [])


def _merge(step: Step, yes: Branch, no: Branch, choices: Sequence[tuple[str, ...]]) -> None:
    """Make one operator of two branches: the results that are chosen, and the names that they write.

    ``choices`` are names for the negated and for the true condition, each of that branch or from outside.
    """
    frame = step.frame
    yes._withdraw()
    no._withdraw()
    pairs: dict[object, tuple[Variable, Variable]] = {}

    def add(key: object, name_yes: str, name_no: str) -> None:
        sides = [_side(frame, branch, name) for branch, name in ((yes, name_yes), (no, name_no))]
        if sides[0] is not None and sides[1] is not None:
            pairs[key] = (sides[0], sides[1])

    for names in choices:
        if len(names) == 2 and (names[0] in no.writes or names[1] in yes.writes):
            add(names, names[1], names[0])
    for name in dict.fromkeys((*yes.writes, *no.writes)):
        add(name, name, name)
    made = append_branches(step, yes.condition, yes.block, no.block, list(pairs.values()))
    for key, value in zip(pairs, made, strict=True):
        if isinstance(key, str):
            step.rename(value, key)
            frame.values[key] = value
        elif isinstance(key, tuple):
            frame.reading.selected[id(frame), key] = value


def _side(frame: Frame, branch: Branch, name: str) -> Variable | None:
    return branch.inner.values[name] if name in branch.writes else frame.find(name)


def append_branches(
    step: Step, condition: Variable, yes: Block, no: Block, pairs: list[tuple[Variable, Variable]]
) -> list[Variable]:
    """Append the operator that gives one side of each pair."""
    pairs = [_of_one_type(step, yes, no, pair) for pair in pairs]
    regions = [Region(block, (), [p[n] for p in pairs]) for n, block in enumerate((yes, no))]
    captured = list(outer_reads((yes, no), [v for pair in pairs for v in pair]))
    operator = Operator(flow.cond.opdef, (condition, captured), {})
    operator.regions = tuple(regions)
    made = []
    for a, b in pairs:
        if a.dtype is not b.dtype:
            raise FormatError(f"the branches give {a.spec} and {b.spec}")
        stop = a.stop_gradient and b.stop_gradient
        made.append(step.variable("branch", flow.of_either(a.spec, b.spec), stop))
    operator.outputs = tuple(made)
    step.frame.block.append(operator)
    return made


def _of_one_type(
    step: Step, yes: Block, no: Block, pair: tuple[Variable, Variable]
) -> tuple[Variable, Variable]:
    """The results, with zeros for one that Paddle marks as undefined where the other has another type."""
    a, b = pair
    if (a.dtype, a.ndim) == (b.dtype, b.ndim):
        return pair
    frame = step.frame
    for value, like, block in ((a, b, yes), (b, a, no)):
        known = step.known(value)
        if known is not None and known.size == 1 and np.float32(known.reshape(-1)[0]) == _UNDEFINED:
            inner = Step(Frame(frame.reading, frame.desc, block, frame), step.desc)
            zeros = _zeros(inner, [max(d, 1) for d in like.shape], like.spec)
            return (zeros, b) if value is a else (a, zeros)
    return pair


def _as_bool(step: Step, x: Variable) -> Variable:
    if x.size not in (1, -1):
        raise FormatError(f"its condition is {x.spec}, which is not one element")
    found = x if x.dtype.name == "bool" else step.run("cast", x, out_dtype="bool")
    assert isinstance(found, Variable)
    return found


@reads("logical_not")
def _(step: Step) -> None:
    x = step.need("X")
    found = step.run("logical_not", x)
    step.reading.negations[id(found)] = x
    step.give("Out", found)


# -- loops --------------------------------------------------------------------------------------------------
@reads("while")
def _(step: Step) -> None:
    frame, reading = step.frame, step.reading
    [condition] = step.desc.inputs.get("Condition", [""])
    desc = _sub_block(step)
    writes = written_outside(reading.desc.blocks, desc)
    if condition not in writes:
        raise FormatError(f"its body never writes the condition {condition!r:.80}")
    carried = {name: value for name in writes if (value := frame.find(name)) is not None}
    if condition not in carried:
        raise FormatError(f"nothing computes its condition {condition!r:.80}")
    if carried[condition].dtype.name != "bool":
        raise FormatError(f"its condition is {carried[condition].spec}, which is not a bool")
    specs = {name: value.spec for name, value in carried.items()}
    stops = {name: value.stop_gradient for name, value in carried.items()}
    for _ in range(4 + 2 * len(writes)):
        loop = _Loop(step, desc, condition, specs, stops)
        replaced = loop.undefined()
        for name, spec in replaced.items():
            carried[name] = _zeros(step, [max(d, 1) for d in spec.shape], spec)
        wider, flowing = loop.wider({n: carried[n] for n in replaced})
        for name, spec in loop.grown.items():  # lists that begin in the loop
            carried[name] = _empty_list(step, spec)
            wider[name], flowing[name] = carried[name].spec, True
        if wider == specs and flowing == stops:
            break
        reading.forget_blocks(loop.blocks_before)
        reading.entered -= loop.entered
        specs, stops = wider, flowing
    else:
        raise FormatError("the shapes of its values change with every iteration")
    operator = Operator(OPS["while"], (list(carried.values()), loop.captured()), {})
    operator.regions = loop.regions()
    made = {n: step.variable("while_value", specs[n], stops[n]) for n in carried}
    operator.outputs = tuple(made.values())
    frame.block.append(operator)
    for name, value in made.items():
        step.bind(name, value)


class _Loop:
    """The blocks of a loop whose values have given shapes."""

    def __init__(
        self, step: Step, desc: BlockDesc, condition: str, specs: dict[str, Spec], stops: dict[str, bool]
    ) -> None:
        reading, program = step.reading, step.reading.program
        self.blocks_before, entered = len(program.blocks), set(reading.entered)
        self.specs, self.stops = dict(specs), dict(stops)
        self.outer = program.create_block(step.frame.block)
        self.outer.loops = True
        self.test, body = program.create_block(self.outer), program.create_block(self.outer)
        around = Frame(reading, BlockDesc(step.frame.desc.idx, -1), self.outer, step.frame)
        for name, spec in specs.items():
            around.values[name] = self.outer.create_var(
                reading.name(f"{name}.loop"), spec, stop_gradient=stops[name], is_data=True
            )
        self.values = dict(around.values)
        self.condition = self.values[condition]
        reading.entered.add(desc.idx)
        self.inner = Frame(reading, desc, body, around)
        read_block(self.inner)
        self.entered = reading.entered - entered
        found = {name: self.inner.find(name) for name in self.values}
        self.results = {n: self.values[n] if v is None else v for n, v in found.items()}
        self.grown = {
            name: value.spec
            for name, value in self.inner.values.items()
            if name not in specs and is_list(self.inner, name) and self.inner.is_outer(name)
        }

    def undefined(self) -> dict[str, Spec]:
        """Values that have no meaning before the loop, of another type than in it: the Specs in it."""
        read = {id(v) for o in with_sub_blocks(self.inner.block.ops) for v in variables_of(o.inputs)}
        return {
            name: self.results[name].spec
            for name, value in self.values.items()
            if (value.dtype, value.ndim) != (self.results[name].dtype, self.results[name].ndim)
            and id(value) not in read
        }

    def wider(self, begin: dict[str, Variable]) -> tuple[dict[str, Spec], dict[str, bool]]:
        """The shapes and flags that hold before and after an iteration, with other first values of some."""
        specs, stops = {}, {}
        for name, spec in self.specs.items():
            result = self.results[name]
            if name in begin:
                spec = begin[name].spec
            specs[name] = flow.merged(f"value {name!r:.80} of the loop", spec, result.spec)
            stops[name] = self.stops[name] and result.stop_gradient
        return specs, stops

    def captured(self) -> list[Variable]:
        blocks = (self.outer, self.test, self.inner.block)
        return list(outer_reads(blocks, (*self.results.values(), self.condition)))

    def regions(self) -> tuple[Region, Region]:
        values = list(self.values.values())
        return (
            Region(self.test, values, [self.condition]),
            Region(self.inner.block, values, list(self.results.values())),
        )


# -- lists --------------------------------------------------------------------------------------------------
def is_list(frame: Frame, name: str) -> bool:
    """Whether a name is declared as a tensor array."""
    found = frame.declaration(name)
    return found is not None and found.kind == _ARRAY


def _empty_list(step: Step, spec: Spec) -> Variable:
    """A list without elements, for elements like the rows of ``spec``."""
    return _zeros(step, [0, *(max(d, 1) for d in spec.shape[1:])], spec)


def _zeros(step: Step, shape: list[int], like: Spec) -> Variable:
    found = step.run("fill_constant", None, shape=shape, value=0, dtype=like.dtype.name)
    assert isinstance(found, Variable)
    return found


@reads("write_to_array")
def _(step: Step) -> None:
    x, place = step.need("X"), step.need("I")
    [name] = step.desc.outputs.get("Out", [""])
    array = step.frame.find(name)
    known = step.known(place)
    at_end = array is None and known is not None and not known.any()
    if array is None:
        array = _empty_list(step, Spec((0, *x.shape), x.dtype))
    if at_end or step.reading.lengths.get(id(place)) is array:
        step.bind(name, step.run("array_append", array, x))
    else:
        step.bind(name, step.run("write_to_array", array, x, place))


@reads("read_from_array")
def _(step: Step) -> None:
    place = step.run("reshape2", step.need("I"), shape=[])
    step.give("Out", step.run("getitem", step.need("X"), [place], index=[["number", 0]]))


@reads("lod_array_length")
def _(step: Step) -> None:
    [name] = step.desc.inputs.get("X", [""])
    array = step.frame.find(name)
    if array is None and is_list(step.frame, name):
        found = step.run("fill_constant", None, shape=[1], value=0, dtype="int64")
    else:
        sizes = step.run("shape", step.need("X"))
        found = step.run("slice_view", sizes, index=[["slice", 0, 1, None]])
        found = step.run("cast", found, out_dtype="int64")
        step.reading.lengths[id(found)] = step.need("X")
    step.give("Out", found)


@reads("tensor_array_to_tensor")
def _(step: Step) -> None:
    array, axis = step.need("X"), step.attr("axis", 0)
    stacked = step.attr("use_stack", False)
    rank = array.ndim if stacked else array.ndim - 1
    axis = axis + rank if axis < 0 else axis
    if not 0 <= axis < rank:
        raise FormatError(f"axis {axis} of lists of {array.spec}")
    order = [*range(1, axis + 1), 0, *range(axis + 1, array.ndim)]
    found = step.run("transpose2", array, axis=order) if axis else step.run("assign", array)
    if not stacked:
        found = step.run("flatten_contiguous_range", found, start_axis=axis, stop_axis=axis + 1)
    step.give("Out", found)
