"""Programs as plain values (dicts, lists, strings, numbers) for files and for the inspector, and back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from engine.core.errors import FormatError, NewerVersionError
from engine.core.layer_calls import DEEPEST, LONGEST, is_path
from engine.core.operators.opdef import OPS
from engine.core.operators.operator import Operator
from engine.core.values.dtype import DType, as_dtype
from engine.core.values.spec import Spec
from engine.core.values.var_type import kind as var_kind
from engine.program.graph.check import problems
from engine.program.graph.program import Block, Program, Variable, variables_of
from engine.program.graph.region import Region
from engine.program.graph.unknown import Unknown
from engine.program.saved.check_size import size_faults
from engine.program.saved.checks import content_faults, structure_faults
from engine.program.saved.plain_program import (
    PlainOperator,
    PlainProgram,
    PlainRegion,
    PlainVariable,
    Reference,
)
from engine.program.saved.version_1 import from_version_1

VERSION = 2


def to_plain(program: Program) -> PlainProgram:
    """The Program as plain values, without the values of its parameters."""
    plain: PlainProgram = {
        "version": VERSION,
        "inputs": list(program.inputs),
        "outputs": list(program.outputs),
        "blocks": [
            {
                "idx": b.idx,
                "parent": b.parent_idx,
                "vars": [_plain_variable(v) for v in b.vars.values()],
                "ops": [_plain_operator(o) for o in b.ops],
            }
            for b in program.blocks
        ],
    }
    if program.foreign:
        plain["foreign"] = True
    return plain


def _reference(variable: Variable) -> Reference:
    """Block and name of a Variable, which need not be visible in the operator's block."""
    return [variable.block.idx, variable.name]


def _plain_region(region: Region) -> PlainRegion:
    return {
        "block": region.block.idx,
        "arguments": [_reference(v) for v in region.arguments],
        "results": [_reference(v) for v in region.results],
    }


def _plain_variable(variable: Variable) -> PlainVariable:
    return {
        "name": variable.name,
        "shape": list(variable.spec.shape),
        "dtype": variable.dtype.name,
        "persistable": variable.persistable,
        "stop_gradient": variable.stop_gradient,
        "parameter": variable.is_parameter,
        "says": [
            variable.shown_stop_gradient,
            variable.shown_name,
            variable.type.name,
            _plain_attribute(variable.shown_spec),
        ],
        "data": variable.is_data,
    }


def _plain_operator(operator: Operator) -> PlainOperator:
    opdef = operator.opdef
    outputs: dict[str, list[str]] = {}
    if opdef.listed:
        outputs[opdef.outputs[0].slot] = [v.name for v in variables_of(operator.outputs)]
    else:
        for declared, value in zip(opdef.outputs, operator.outputs, strict=True):
            outputs[declared.slot] = [v.name for v in variables_of(value)]
    position = operator.position
    plain: PlainOperator = {
        "type": opdef.name,
        "inputs": {
            i.slot: [v.name for v in variables_of(value)]
            for i, value in opdef.named_inputs(operator.inputs)
            if value is not None
        },
        "outputs": outputs,
        "attrs": {k: _plain_attribute(v) for k, v in operator.attrs.items()},
        "regions": [_plain_region(r) for r in operator.regions],
        "notes": _plain_notes(operator.notes),
        "file": position[0] if position else None,
        "line": position[1] if position else None,
        # A replayed operator uses the random numbers of the first run and has no effects.
        "kept": None if operator.saved_state is None else _reference(operator.saved_state),
        "taken": None if operator.replayed_state is None else _reference(operator.replayed_state),
        "replay": operator.replay,
    }
    if operator.layer:
        plain["layer"] = operator.layer
    return plain


def _plain_notes(notes: dict[str, Any] | None) -> dict[str, Any]:
    """The notes, which only the operator's text shows, with names for Variables."""
    plain = {k: v for k, v in (notes or {}).items() if k != "extra"}
    if notes and "extra" in notes:
        plain["extra"] = {slot: v.name for slot, v in notes["extra"].items()}
    return plain


def _plain_attribute(value: Any) -> Any:
    if isinstance(value, DType):
        return {"dtype": value.name}
    if isinstance(value, Spec):
        return {"spec": [list(value.shape), value.dtype.name]}
    if isinstance(value, (list, tuple)):
        return [_plain_attribute(v) for v in value]
    if isinstance(value, dict):  # the attributes of the forward operator, stored by its gradient operator
        return {"attrs": {k: _plain_attribute(v) for k, v in value.items()}}
    if isinstance(value, Unknown):
        return -1
    if callable(value):  # the gradient of a PyLayer is a Python function, which no file holds
        return None
    if hasattr(value, "item") and not isinstance(value, (int, float, str, bool)):
        return value.item()
    return value


def _attribute(value: Any) -> Any:
    if isinstance(value, dict):
        if set(value) == {"dtype"}:
            return as_dtype(value["dtype"])
        if set(value) == {"spec"}:
            return Spec(*value["spec"])
        if set(value) == {"attrs"}:
            return {str(k): _attribute(v) for k, v in value["attrs"].items()}
    if isinstance(value, list):
        return [_attribute(v) for v in value]
    return value


def from_plain(plain: object, where: str = "program", training: bool = False, own: bool = False) -> Program:
    """The Program that ``to_plain`` wrote; with ``training`` it may write its parameters.

    ``own`` means that this installation wrote the file. A Program of another one is ``foreign``: its size is
    limited, and so are the resources of its runs (see ``engine.core.models.limits``).

    ``plain`` is not trusted: raises FormatError, naming ``where``, for anything that is not a well-formed
    Program of operators that this build has.
    """
    foreign = not own or (isinstance(plain, dict) and plain.get("foreign") is True)
    if foreign:
        found = list(size_faults(plain))
        if found:
            raise FormatError(
                f"{where}: its Program is too large: {found[0]}; ask its author for a smaller one"
            )
    try:
        program = _read(cast("PlainProgram", plain))
    except NewerVersionError as error:
        raise NewerVersionError(f"{where}: {error}") from error
    except FormatError as error:
        reason = _brief(str(error))
        raise FormatError(f"{where}: its Program can't be read: {reason}; save the model again") from error
    except Exception as error:  # values of other types than expected raise errors of any class
        reason = _brief(repr(error))
        raise FormatError(f"{where}: its Program can't be read: {reason}; save the model again") from error
    found = list(structure_faults(program, training, not foreign)) or problems(program)
    found = found or list(content_faults(program, training, not foreign)) or list(_text_faults(program))
    if found:
        reason = "; ".join(map(_brief, found[:5]))
        raise FormatError(f"{where}: its Program is ill-formed: {reason}; save the model again")
    program.foreign = foreign
    return program


def _brief(text: str) -> str:
    """Shorten a message to one readable line, whatever values of the file it quotes."""
    return " ".join(text[:1000].split())[:400]


def _text_faults(program: Program) -> Iterator[str]:
    """Faults of the notes: the Program must be printable, although nothing that runs reads them."""
    try:
        program.to_string()
    except Exception as error:  # notes of other types than expected raise errors of any class
        yield f"it can't be printed: {error!r}"


def _read(plain: PlainProgram) -> Program:
    if plain["version"] == 1:
        plain = cast("PlainProgram", from_version_1(cast("dict[str, Any]", plain)))
    version = plain["version"]
    if isinstance(version, int) and version > VERSION:
        raise NewerVersionError(
            f"written by a newer version of Model Studio: Program version {version}, this build reads up to "
            f"{VERSION}; update Model Studio"
        )
    if version != VERSION:
        raise FormatError(f"its version is {version!r:.40}")
    program = Program()
    program.blocks.clear()
    for n, item in enumerate(plain["blocks"]):
        if item["idx"] != n or (n and not 0 <= item["parent"] < n) or (n == 0 and item["parent"] != -1):
            raise FormatError(f"block {n}: index {item['idx']} with parent {item['parent']} is not in order")
        block = Block(program, n, int(item["parent"]))
        program.blocks.append(block)
        for v in item["vars"]:
            _variable(block, v)
    for block, item in zip(program.blocks, plain["blocks"], strict=True):
        for o in item["ops"]:
            block.ops.append(_operator(block, o))
    program.inputs = [str(n) for n in plain["inputs"]]
    program.outputs = [str(n) for n in plain["outputs"]]
    program.reserve_names()
    program.changed()
    return program


def _referred(program: Program, place: Reference) -> Variable:
    index, name = place
    return _block(program, index).vars[str(name)]


def _block(program: Program, index: object) -> Block:
    if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < len(program.blocks):
        raise FormatError(f"there is no block {index!r}")
    return program.blocks[index]


def _region(program: Program, plain: PlainRegion) -> Region:
    return Region(
        _block(program, plain["block"]),
        [_referred(program, place) for place in plain["arguments"]],
        [_referred(program, place) for place in plain["results"]],
    )


def _variable(block: Block, plain: PlainVariable) -> None:
    name, spec, stop = str(plain["name"]), Spec(plain["shape"], plain["dtype"]), bool(plain["stop_gradient"])
    if plain["parameter"] and block.idx == 0 and plain["persistable"]:
        block.create_parameter(spec.shape, spec.dtype, name, trainable=not stop)
    else:
        block.create_var(
            name,
            spec,
            persistable=bool(plain["persistable"]),
            stop_gradient=stop,
            is_data=bool(plain["data"]),
            is_parameter=bool(plain["parameter"]),
        )
    stop_gradient, shown_name, kind, shown_spec = plain.get("says", [None, None, "LOD_TENSOR", None])
    made = block.vars[name]
    made.shown_stop_gradient = None if stop_gradient is None else bool(stop_gradient)
    made.shown_name = None if shown_name is None else str(shown_name)
    made.type = var_kind(str(kind))
    made.shown_spec = None if shown_spec is None else _attribute(shown_spec)


# Notes that only the text shows; nothing that runs reads them.
_NOTES = ("bare", "plain", "attrs", "inputs", "hidden", "cond", "loop", "type", "outputs", "own", "instead")


def _notes(block: Block, plain: object) -> dict[str, Any] | None:
    if not isinstance(plain, dict) or not plain:
        return None
    notes: dict[str, Any] = {k: v for k, v in plain.items() if k in _NOTES and v is not None}
    if "extra" in plain:
        notes["extra"] = {str(slot): block.var(str(name)) for slot, name in plain["extra"].items()}
    return notes


def _operator(block: Block, plain: PlainOperator) -> Operator:
    opdef = OPS.get(plain["type"])
    if opdef is None:
        raise FormatError(f"operator {plain['type']!r} is unknown to this build; update Model Studio")
    inputs: list[Any] = []
    for declared in opdef.inputs:
        found = plain["inputs"].get(declared.slot)
        if found is None:
            if not declared.optional:
                raise FormatError(f"operator {opdef.name}: input {declared.slot} is missing")
            inputs.append(None)
        elif declared.is_list:
            inputs.append([block.var(n) for n in found])
        else:
            (name,) = found
            inputs.append(block.var(name))
    attrs = opdef.with_defaults({k: _attribute(v) for k, v in plain["attrs"].items()})
    operator = Operator(opdef, tuple(inputs), attrs)
    outputs: list[Variable | None] = []
    for out in opdef.outputs:
        made = [block.var(n) for n in plain["outputs"].get(out.slot, [])]
        if len(made) > 1 and not opdef.listed:
            raise FormatError(f"operator {opdef.name}: {len(made)} variables for its one result {out.slot}")
        outputs += made if made or opdef.listed else [None]
    operator.outputs = tuple(outputs)
    operator.notes = _notes(block, plain.get("notes"))
    operator.replay = bool(plain.get("replay", False))
    operator.regions = tuple(_region(block.program, r) for r in plain.get("regions", ()))
    kept, taken, file, line = plain.get("kept"), plain.get("taken"), plain.get("file"), plain.get("line")
    if "taken" not in plain and operator.replay and opdef.random:  # as once written: the key that it takes
        kept, taken = None, kept
    if kept is not None:
        operator.saved_state = _referred(block.program, kept)
    if taken is not None:
        operator.replayed_state = _referred(block.program, taken)
    if file is not None:
        operator.code = (str(file), int(cast("int", line)))
    operator.layer = _layer(plain.get("layer", ""))
    return operator


def _layer(path: object) -> str:
    """The path of a Layer's call. Raises FormatError for one that is none."""
    if isinstance(path, str) and is_path(path):
        return path
    raise FormatError(
        f"layer: a path of at most {LONGEST} letters and {DEEPEST} names is expected: got {path!r:.60}"
    )
