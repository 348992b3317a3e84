"""Checks of a Program that was read from an untrusted file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.core.operators import traits
from engine.core.operators.bounds import LARGEST, bound_faults
from engine.core.operators.opdef import OPS
from engine.core.operators.operator import Operator
from engine.core.values.spec import Spec
from engine.ops.control.flow import while_grad
from engine.ops.control.gradient import gradient
from engine.ops.control.with_values import plain, with_values
from engine.program.backward.gradient_operator import forward_of
from engine.program.graph.program import Block, Program
from engine.program.saved.check_replay import (
    BACKWARD,
    key_faults,
    may_keep_iterations,
    reserved,
    steps_faults,
    walk_back_faults,
)

MOST_DIMENSIONS = 32
# Python's compiler accepts 20 nested loops and 100 levels of indentation.
DEEPEST = 64
MOST_LOOPS = 18


def structure_faults(program: Program, training: bool = False, own: bool = False) -> Iterator[str]:
    """Faults that keep the blocks from being walked; to be checked before anything else reads the Program.

    A Program for ``training`` may contain the gradients of its loops. Sizes are bounded unless it is ``own``.
    """
    if not program.blocks:
        yield "it has no blocks"
        return
    yield from _shape_faults(program, own)
    depths: list[int] = []
    for block in program.blocks:
        depths.append(depths[block.parent_idx] + 1 if block.idx else 0)
    if max(depths) > DEEPEST:
        yield f"its blocks nest {max(depths)} deep; {DEEPEST} is the most"
        return
    used: set[int] = set()
    loops: set[int] = set()
    sound = True
    for block, number, operator in _operators(program):
        where = f"block {block.idx}, operator {number} ({operator.opdef.name})"
        if not operator.opdef.kernel.__module__.startswith("engine.ops."):
            yield f"{where}: is not an operator of a Program"
        elif operator.opdef in traits.opaque or _is_gradient_of_opaque(operator):
            yield f"{where}: Python functions are not read from files; build the Program again"
        elif operator.opdef in BACKWARD and not training:
            yield f"{where}: is not an operator of a model that only predicts"
        found = list(_region_faults(block, operator, used, training))
        yield from (f"{where}: {fault}" for fault in found)
        sound = sound and not found
        if operator.opdef in traits.loops and not found:
            loops |= {region.block.idx for region in operator.regions}
    for block in program.blocks:
        nested = sum(b.idx in loops for b in block.lineage())
        if nested > MOST_LOOPS:
            yield f"block {block.idx}: {nested} nested loops; {MOST_LOOPS} is the most"
            return
    if sound:  # no region is within itself: they can be walked
        for block, number, operator in _operators(program):
            if operator.opdef is while_grad.opdef:
                where = f"block {block.idx}, operator {number} ({operator.opdef.name})"
                yield from (f"{where}: {fault}" for fault in walk_back_faults(block, operator))


def _is_gradient_of_opaque(operator: Operator) -> bool:
    of = operator.attrs.get("of") if operator.opdef is gradient.opdef else None
    return isinstance(of, str) and of in OPS and OPS[of] in traits.opaque


def _operators(program: Program) -> Iterator[tuple[Block, int, Operator]]:
    for block in program.blocks:
        for number, operator in enumerate(block.ops):
            yield block, number, operator


def _shape_faults(program: Program, own: bool) -> Iterator[str]:
    for variable in program.list_vars():
        shape = variable.shape
        if len(shape) > MOST_DIMENSIONS or any(d < -1 for d in shape):
            yield f"variable {variable.name!r}: {list(shape)[:8]} is not a shape"
        elif variable.persistable and not variable.spec.known:
            yield f"variable {variable.name!r}: weights of unknown shape {variable.spec}"
        elif not own and _bytes(variable.spec) > LARGEST:
            yield f"variable {variable.name!r}: {variable.spec} needs more than {LARGEST >> 30} GiB"


def _bytes(spec: Spec) -> int:
    total = spec.dtype.itemsize
    for size in spec.shape:
        total *= max(size, 1)
    return total if 0 not in spec.shape else 0


def _region_faults(block: Block, operator: Operator, used: set[int], training: bool) -> Iterator[str]:
    """Faults of an operator's regions: their blocks must exist, below this block, and belong to it alone.

    The blocks are children of the operator's block, or all of a block of their own that holds their values.
    """
    regions = operator.regions
    if len(regions) != len(operator.opdef.regions):
        yield f"has {len(regions)} regions; it takes {list(operator.opdef.regions)}"
        return
    for name, region in zip(operator.opdef.regions, regions, strict=True):
        index = region.block.idx
        if not block.idx < index or index in used:
            yield f"region {name}: block {index} is not a separate block"
            return
        used.add(index)
    if not regions:
        return
    parents = {region.block.parent_idx for region in regions}
    outer = regions[0].block.parent
    if len(parents) != 1 or outer is None:
        yield f"its regions are below blocks {sorted(parents)}, not below one"
    elif operator.opdef not in traits.loops:
        if outer is not block:
            yield f"its regions are below block {outer.idx}, not below this one"
    elif operator.opdef is not while_grad.opdef:  # which comes below the values of its loop
        if outer.parent_idx != block.idx or outer.ops or outer.idx in used:
            yield "its regions are not below a block of its values"
        used.add(outer.idx)
    if may_keep_iterations(operator.opdef):
        yield from steps_faults(operator, training)


def _are(value: Any, kind: type) -> bool:
    return isinstance(value, list) and all(isinstance(v, kind) for v in value)


def content_faults(program: Program, training: bool = False, own: bool = False) -> Iterator[str]:
    """Faults by which a Program would compute something else than it states, or nothing.

    A Program for ``training`` may write its state; a model that only predicts must not. Sizes and counts are
    bounded unless it is ``own``.
    """
    yield from key_faults(program)
    defined = reserved(program)
    for block, number, operator in _operators(program):
        where = f"block {block.idx}, operator {number} ({operator.opdef.name})"
        yield from (f"{where}: {fault}" for fault in _output_faults(block, operator, defined, training))
        found = list(_attribute_faults(operator, own)) or list(_gradient_faults(operator, own))
        yield from (f"{where}: {fault}" for fault in found)
        if not operator.regions and not found:
            yield from (f"{where}: {fault}" for fault in _spec_faults(operator, own))
    yield from _interface_faults(program, defined)


def _output_faults(block: Block, operator: Operator, defined: set[int], training: bool) -> Iterator[str]:
    """Faults of outputs: each value has one origin, and only the Program's state is written in place."""
    for n, variable in enumerate(operator.outputs):
        if variable is None:
            continue
        replaced = operator.replaced(n)
        if replaced is not None and not operator.replay:
            if variable is not replaced or not variable.persistable:
                yield f"writes {variable.name!r}, which is not state of the Program, in place"
        elif variable.block is not block or variable.is_data or (variable.persistable and not training):
            yield f"its result {variable.name!r} is an input, a parameter or in another block"
        elif id(variable) in defined:
            yield f"its result {variable.name!r} is the result of another operator too"
        defined.add(id(variable))


def _gradient_faults(operator: Operator, own: bool) -> Iterator[str]:
    """Faults of a gradient operator: its fields must agree with the operator that it belongs to."""
    if operator.opdef is not gradient.opdef:
        return
    attrs = operator.attrs
    of = OPS.get(attrs["of"]) if isinstance(attrs["of"], str) else None
    counts, xs = attrs["inputs"], operator.inputs[0]
    if of is None or not of.rules or not isinstance(attrs["attrs"], dict):
        yield f"of is {attrs['of']!r}, which has no gradient"
    elif not _are(attrs["outputs"], bool) or not _are(attrs["given"], bool):
        yield "outputs and given do not define which outputs exist"
    elif not isinstance(counts, list) or not all(c is None or type(c) is int for c in counts):
        yield f"inputs is {counts!r}"
    elif len(counts) != len(of.inputs) or sum(abs(c) for c in counts if c is not None) != len(xs):
        yield f"inputs is {counts!r} for {len(xs)} variables"
    elif any(
        (c is None and not i.optional) or (c is not None and (c >= 0) is not i.is_list)
        for c, i in zip(counts, of.inputs, strict=True)
    ):
        yield f"inputs is {counts!r}, which {of.name} does not take"
    elif sum(attrs["outputs"]) != len(operator.inputs[1]) or sum(attrs["given"]) != len(operator.inputs[2]):
        yield "it has another number of outputs and gradients"
    elif not _are(attrs["targets"], int) or not all(0 <= n < len(xs) for n in attrs["targets"]):
        yield f"targets is {attrs['targets']!r} for {len(xs)} variables"
    elif attrs["attrs"].keys() != of.attributes.keys():
        yield f"attrs are not those of {of.name}"
    else:
        forward, _ = forward_of(operator)
        yield from list(_attribute_faults(forward, own)) or _spec_faults(forward, own)


def _attribute_faults(operator: Operator, own: bool) -> Iterator[str]:
    opdef = operator.opdef
    for name, default in opdef.attributes.items():
        value = operator.attrs.get(name)
        kinds = _KINDS.get(type(default))
        if kinds is not None and value is not None and type(value) not in kinds:
            yield f"{name} is {value!r}; it should be like {default!r}"
        elif name == "rule" and value is not None:
            yield "Python functions are not read from files; build the Program again"
        elif name == "index" and not (isinstance(value, list) and all(_is_index(v) for v in value)):
            yield f"index is {value!r}, which is not an index"
    if not own:
        yield from bound_faults(opdef, operator.attrs, len(operator.outputs))
    if opdef is with_values.opdef:
        yield from _values_faults(operator, own)
    count = operator.attrs.get("num")
    if opdef.listed and count is not None and count != len(operator.outputs):
        yield f"num is {count!r} for {len(operator.outputs)} results"


def _values_faults(operator: Operator, own: bool) -> Iterator[str]:
    """Faults of the attributes that an operator with values as attributes has besides those."""
    attrs = operator.attrs
    of = OPS.get(attrs["of"]) if isinstance(attrs["of"], str) else None
    if of is None or not plain(of) or of is with_values.opdef or not isinstance(attrs["attrs"], dict):
        yield f"of is {attrs['of']!r}, which takes no values as attributes"
    elif attrs["attrs"].keys() != of.attributes.keys():
        yield f"attrs are not those of {of.name}"
    else:
        inner = Operator(of, (), {k: v for k, v in attrs["attrs"].items() if not _has_none(v)})
        inner.outputs = operator.outputs
        yield from _attribute_faults(inner, own)


def _has_none(value: Any) -> bool:
    """Whether a value, or a part of it, is omitted."""
    return value is None or (isinstance(value, list) and None in value)


def _is_index(item: Any) -> bool:
    """Whether it is as ops.index writes it: an int, None, an ellipsis, a slice, or the place of a tensor."""
    if not isinstance(item, list):
        return item is None or item == "..." or type(item) is int
    if len(item) == 4 and item[0] == "slice":
        return all(n is None or type(n) is int or _is_place(n, ("number",)) for n in item[1:])
    return _is_place(item, ("number", "tensor"))


def _is_place(item: Any, kinds: tuple[str, ...]) -> bool:
    return isinstance(item, list) and len(item) == 2 and item[0] in kinds and type(item[1]) is int


_KINDS: dict[type, tuple[type, ...]] = {
    bool: (bool, int),
    int: (int, bool),
    float: (float, int, bool),
    tuple: (tuple, list),
    list: (tuple, list),
}


def _spec_faults(operator: Operator, own: bool) -> Iterator[str]:
    """Faults of results: inference must give the shapes and dtypes that the Program states."""

    def spec_of(value: Any) -> Any:
        if isinstance(value, list):
            return [spec_of(v) for v in value]
        return None if value is None else value.spec

    try:
        specs = operator.opdef.infer_specs([spec_of(v) for v in operator.inputs], operator.attrs)
    except Exception as error:  # attributes of any kind may raise errors of any class in inference
        yield str(error) or type(error).__name__
        return
    outputs = operator.outputs
    if len(specs) != len(outputs):
        yield f"has {len(outputs)} results: inference gives {len(specs)}"
        return
    for spec, variable in zip(specs, outputs, strict=True):
        if spec is None or variable is None:
            if spec is not variable:
                yield "a result is missing, or one too many"
        elif not spec.agrees(variable.spec):
            yield f"its result {variable.name!r} is {variable.spec}: inference gives {spec}"
        elif any(d < -1 for d in spec.shape) or (not own and _bytes(spec) > LARGEST):
            yield f"its result would be {spec}"


def _interface_faults(program: Program, defined: set[int]) -> Iterator[str]:
    """Faults of the interface of a function's Program: all its inputs are declared, its outputs computed."""
    if not program.outputs:
        return
    block = program.global_block()
    data = [v.name for v in block.vars.values() if v.is_data]
    if sorted(program.inputs) != sorted(data):
        yield f"its inputs are {program.inputs}, but it reads {data}"
    for name in program.outputs:
        variable = block.vars.get(name)
        if variable is not None and not (variable.is_data or variable.persistable or id(variable) in defined):
            yield f"output {name!r} is never computed"
