"""Edits of a loaded model: names and dimensions of its inputs and outputs, a part of it, folded constants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.core.errors import ArgumentError, EngineError
from engine.core.values.spec import Spec
from engine.jit.saved.resized import resized
from engine.jit.translated_layer import FORWARD, TranslatedLayer
from engine.program.graph.liveness import arguments, needed_values
from engine.program.graph.program import Program, Variable
from engine.program.passes.clone import clone
from engine.program.passes.dead_code import remove_dead_code
from engine.program.passes.fold_constants import fold_constants
from engine.program.passes.inference import inference_program
from engine.program.passes.prune import pruned

_WHERE = "edit"
_SHOWN = 12  # names in a message


@dataclass(frozen=True)
class ModelEdits:
    """What is to change, in this order.

    ``cut`` holds the names of the tensors at which the model is to begin, and of those that it is to give;
    without names it begins or ends as before. ``dims`` gives inputs other sizes by axis, -1 for one that
    varies. ``fold`` computes what depends on constants alone. ``rename`` maps names of inputs and outputs to
    new ones.
    """

    cut: tuple[Sequence[str], Sequence[str]] | None = None
    dims: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    fold: bool = False
    rename: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.cut or self.dims or self.fold or self.rename)


def edit_layer(layer: TranslatedLayer, edits: ModelEdits) -> TranslatedLayer:
    """The model with changes of its forward; it shares its weights with ``layer``. What its results do not
    need is omitted. Methods other than forward are kept unless it is cut.

    Raises ArgumentError, with the names that exist, for one that does not; ShapeError where an operator does
    not take the new dimensions.
    """
    functions = layer.functions
    if FORWARD not in functions:
        raise ArgumentError(f"{_WHERE}: no forward was saved: the model has {sorted(functions)}")
    others = {} if edits.cut else {name: f.program for name, f in functions.items() if name != FORWARD}
    program = edit_program(functions[FORWARD].program, edits)
    names = {id(tensor): name for name, tensor in layer.state_dict().items()}
    bound = [v for each in (program, *others.values()) for v in each.bound()]
    variables = {v.name: {"structured_name": names.get(id(v.tensor), v.name)} for v in bound}
    return TranslatedLayer({FORWARD: program, **others}, {"info": layer.info, "variables": variables})


def edit_program(program: Program, edits: ModelEdits) -> Program:
    """A copy of a Program that represents a function, with changes. Raises as :func:`edit_layer`."""
    made = clone(program)
    made.outputs = list(program.outputs)
    if edits.cut:
        made = _cut(made, *edits.cut)
    if edits.dims:
        made = _with_dims(made, edits.dims)
    if edits.fold:
        _fold(made)
    block = made.global_block()
    inputs, outputs = ([block.var(name) for name in names] for names in (made.inputs, made.outputs))
    made = inference_program(made, inputs, outputs)
    made.foreign = program.foreign
    if edits.rename:
        _rename(made, edits.rename)
    return made


def _shown(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


def _found(program: Program, name: str) -> Variable:
    """A tensor that the model computes, or takes. Raises ArgumentError."""
    block = program.global_block()
    variable = block.vars.get(name)
    computed = [v.name for o in block.ops for v in o.outputs if v is not None]
    if variable is None or variable.persistable:
        close = [each for each in computed if name.lower() in each.lower()] or [*program.inputs, *computed]
        what = "is a weight" if variable is not None else "does not exist"
        raise ArgumentError(f"{_WHERE}: tensor {name!r} {what}: cut at one of {_shown(close)}")
    return variable


def _cut(program: Program, begin: Sequence[str], end: Sequence[str]) -> Program:
    """The operators between tensors."""
    block = program.global_block()
    outputs = [_found(program, name) for name in end or program.outputs]
    inputs = [_found(program, name) for name in begin or program.inputs]
    if not begin:  # those that the outputs need
        read = needed_values(block.ops, outputs)
        inputs = [v for v in inputs if id(v) in read]
    same = [v.name for v in inputs if any(v is each for each in outputs)]
    if same:
        raise ArgumentError(
            f"{_WHERE}: the model would begin and end at {_shown(same)}; cut between two tensors"
        )
    for name, given in (("begin", inputs), ("end", outputs)):
        if len({id(v) for v in given}) < len(given):
            raise ArgumentError(f"{_WHERE}: a tensor is named twice where the model is to {name}")
    foreign = program.foreign
    made = pruned(program, inputs, outputs, _WHERE)
    made.foreign = foreign
    unread = [v.name for v in inputs if begin and not _reads(made, v.name)]
    if unread:
        raise ArgumentError(
            f"{_WHERE}: {_shown([v.name for v in outputs])} does not depend on {_shown(unread)}; begin at "
            "tensors before the end"
        )
    return made


def _reads(program: Program, name: str) -> bool:
    variable = program.global_block().vars.get(name)
    return any(variable is v for o in program.global_block().ops for v in arguments(o))


def _with_dims(program: Program, dims: Mapping[str, Mapping[int, int]]) -> Program:
    """The Program for inputs of other sizes; all shapes follow."""
    block = program.global_block()
    unknown = [name for name in dims if name not in program.inputs]
    if unknown:
        raise ArgumentError(
            f"{_WHERE}: {unknown[0]!r} is not an input: the inputs are {_shown(program.inputs)}"
        )
    inputs = [block.var(name) for name in program.inputs]
    specs = []
    for variable in inputs:
        shape = list(variable.spec.shape)
        for axis, size in dims.get(variable.name, {}).items():
            if not -len(shape) <= axis < len(shape):
                raise ArgumentError(f"{_WHERE}: {variable.name!r} {variable.spec} has no axis {axis}")
            if size < 1 and size != -1:
                raise ArgumentError(
                    f"{_WHERE}: axis {axis} of {variable.name!r}: got {size}; give a size, or -1"
                )
            shape[axis] = size
        specs.append(Spec(shape, variable.dtype))
    try:
        made = resized(program, inputs, specs)
    except EngineError as error:
        error.args = (f"{_WHERE}: the model does not take these dimensions: {error.message}",)
        raise
    made.inputs, made.outputs = list(program.inputs), list(program.outputs)
    return made


def _fold(program: Program) -> None:
    """Constants have at most 1024 elements, so folding those of an untrusted model takes little."""
    foreign, program.foreign = program.foreign, False
    try:
        fold_constants(program)
        remove_dead_code(program)
    finally:
        program.foreign = foreign


def _rename(program: Program, names: Mapping[str, str]) -> None:
    known = list(dict.fromkeys([*program.inputs, *program.outputs]))
    block = program.global_block()
    for old, new in names.items():
        if old not in known:
            raise ArgumentError(
                f"{_WHERE}: {old!r} is neither an input nor an output: the inputs are "
                f"{_shown(program.inputs)}, the outputs {_shown(program.outputs)}"
            )
        if not new or not new.isprintable():
            raise ArgumentError(f"{_WHERE}: the new name of {old!r} is {new!r}; give printable characters")
    moved = {old: block.vars.pop(old) for old in names}
    for old, new in names.items():
        taken = next((each.vars[new] for each in program.blocks if new in each.vars), None)
        if taken is not None or list(names.values()).count(new) > 1:
            raise ArgumentError(f"{_WHERE}: the new name {new!r} of {old!r} is taken; choose another one")
    for old, variable in moved.items():
        variable.name = names[old]
        block.vars[variable.name] = variable
    program.inputs = [names.get(name, name) for name in program.inputs]
    program.outputs = [names.get(name, name) for name in program.outputs]
    program.changed()


def parse_edits(rename: Sequence[str], dim: Sequence[str], cut: str, fold: bool) -> ModelEdits:
    """Edits from texts: ``a=b``, ``x:0=-1``, and ``a,b..c``, a side of which may be empty.

    Raises ArgumentError.
    """
    renamed: dict[str, str] = {}
    for text in rename:
        old, equals, new = text.partition("=")
        if not (old and equals and new):
            raise ArgumentError(f"{_WHERE}: rename {text!r}: write OLD=NEW, such as x=image")
        if old in renamed:
            raise ArgumentError(f"{_WHERE}: {old!r} gets two new names")
        renamed[old] = new
    dims: dict[str, dict[int, int]] = {}
    for text in dim:
        place, _, size = text.rpartition("=")
        name, _, axis = place.rpartition(":")
        numbers: list[Any] = [_integer(axis), _integer(size)]
        if not name or None in numbers:
            raise ArgumentError(
                f"{_WHERE}: dimension {text!r}: write INPUT:AXIS=SIZE, such as x:0=-1 or x:0=1"
            )
        dims.setdefault(name, {})[numbers[0]] = numbers[1]
    sides: tuple[list[str], list[str]] | None = None
    if cut:
        begin, dots, end = cut.partition("..")
        sides = ([n for n in begin.split(",") if n], [n for n in end.split(",") if n])
        if not dots or not any(sides):
            raise ArgumentError(f"{_WHERE}: cut {cut!r}: write FROM..TO, such as conv1..fc, conv1.. or ..fc")
    return ModelEdits(sides, dims, fold, renamed)


def _integer(text: str) -> int | None:
    try:
        return int(text) if len(text) < 20 else None
    except ValueError:
        return None
