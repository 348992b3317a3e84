"""Paddle's ProgramDesc: from the bytes of a ``.pdmodel`` to plain values, and back.

The numbers are those of Paddle 2.6.2's ``framework.proto``. Unknown fields are skipped, as protobuf does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from engine.core.errors import FormatError
from engine.core.program_desc import Attr, AttrType, BlockDesc, OpDesc, ProgramDesc, VarDesc
from engine.core.values.var_type import VarType
from engine.files.paddle import fields as pb
from engine.files.paddle.fields import Budget, MalformedError

Value: TypeAlias = int | memoryview
# Where a kind of Variable describes its tensors: the field of VarType, and whether LoD levels come with it.
_TENSOR_FIELDS = {
    VarType.SELECTED_ROWS.value: (2, False),
    VarType.LOD_TENSOR.value: (3, True),
    VarType.LOD_TENSOR_ARRAY.value: (4, True),
    VarType.STRING.value: (8, False),
    VarType.STRINGS.value: (9, False),
    VarType.VOCAB.value: (10, False),
    30: (11, False),  # sparse tensors by coordinates
    31: (12, False),  # and by rows
}
_DEEPEST_BLOCK = 64
# Kinds of values of attributes: the field and how it is stored.
_INT, _FLOAT, _DOUBLE, _TEXT, _SCALAR = "int", "float", "double", "text", "scalar"
_ATTRIBUTES: dict[AttrType, tuple[int, str, bool]] = {
    AttrType.INT: (3, _INT, False),
    AttrType.FLOAT: (4, _FLOAT, False),
    AttrType.STRING: (5, _TEXT, False),
    AttrType.INTS: (6, _INT, True),
    AttrType.FLOATS: (7, _FLOAT, True),
    AttrType.STRINGS: (8, _TEXT, True),
    AttrType.BOOLEAN: (10, _INT, False),
    AttrType.BOOLEANS: (11, _INT, True),
    AttrType.BLOCK: (12, _INT, False),
    AttrType.LONG: (13, _INT, False),
    AttrType.BLOCKS: (14, _INT, True),
    AttrType.LONGS: (15, _INT, True),
    AttrType.FLOAT64S: (16, _DOUBLE, True),
    AttrType.VAR: (17, _TEXT, False),
    AttrType.VARS: (18, _TEXT, True),
    AttrType.FLOAT64: (19, _DOUBLE, False),
    AttrType.SCALAR: (20, _SCALAR, False),
    AttrType.SCALARS: (21, _SCALAR, True),
}
_FLAGS = (AttrType.BOOLEAN, AttrType.BOOLEANS)


def parse_program(data: bytes, shown: object) -> ProgramDesc:
    """The ProgramDesc in the bytes of a file; ``shown`` names it in messages.

    Raises FormatError: the bytes are not such a message, it is too large, or its blocks are not in order.
    """
    try:
        program = _program(memoryview(data), Budget())
        _check_blocks(program)
    except MalformedError as cause:
        raise FormatError(
            f"{shown}: not a Program that Paddle wrote: {cause}; get it again from a source that you trust"
        ) from cause
    return program


def _check_blocks(program: ProgramDesc) -> None:
    depths: list[int] = []
    for place, block in enumerate(program.blocks):
        if block.idx != place or not (0 <= block.parent < place if place else block.parent == -1):
            raise MalformedError(f"block {place} has the index {block.idx} and the parent {block.parent}")
        depths.append(1 + depths[block.parent] if place else 0)
        if depths[-1] > _DEEPEST_BLOCK:
            raise MalformedError(f"block {place} is nested more than {_DEEPEST_BLOCK} deep")
    if not program.blocks:
        raise MalformedError("it has no blocks")


class _Once:
    """The values of fields that occur once, by number. Raises MalformedError for a second or missing one."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.found: dict[int, tuple[int, Value]] = {}

    def put(self, number: int, wire: int, value: Value) -> None:
        if number in self.found:
            raise MalformedError(f"{self.what} has field {number} twice")
        self.found[number] = (wire, value)

    def integer(self, number: int, default: int | None = None) -> int:
        wire, value = self._get(number, default)
        if not isinstance(value, int):
            raise MalformedError(f"field {number} of {self.what} has the wire type {wire}")
        return pb.signed(value)

    def text(self, number: int) -> str:
        return pb.text(*self._get(number))

    def message(self, number: int) -> memoryview:
        return pb.message(*self._get(number))

    def _get(self, number: int, default: int | None = None) -> tuple[int, Value]:
        if number in self.found:
            return self.found[number]
        if default is None:
            raise MalformedError(f"{self.what} has no field {number}")
        return pb.VARINT, default & ((1 << 64) - 1)


def _program(view: memoryview, budget: Budget) -> ProgramDesc:
    program = ProgramDesc([], version=0)
    for number, wire, value in pb.fields(view, budget):
        if number == 1:
            program.blocks.append(_block(pb.message(wire, value), budget))
        elif number == 4:
            program.version = _only(pb.message(wire, value), budget, "a version").integer(1, 0)
        elif number == 5:
            for inner, kind, pair in pb.fields(pb.message(wire, value), budget):
                if inner == 1:
                    found = _only(pb.message(kind, pair), budget, "an operator's version")
                    name, version = found.text(1), _only(found.message(2), budget, "a version")
                    program.op_versions[name] = version.integer(1)
    return program


def _only(view: memoryview, budget: Budget, what: str) -> _Once:
    once = _Once(what)
    for number, wire, value in pb.fields(view, budget):
        once.put(number, wire, value)
    return once


def _block(view: memoryview, budget: Budget) -> BlockDesc:
    once, block = _Once("a block"), BlockDesc(0, 0)
    names: set[str] = set()
    for number, wire, value in pb.fields(view, budget):
        if number == 3:
            variable = _variable(pb.message(wire, value), budget)
            if variable.name in names:
                raise MalformedError(f"variable {variable.name!r:.80} is declared twice")
            names.add(variable.name)
            block.vars.append(variable)
        elif number == 4:
            block.ops.append(_operator(pb.message(wire, value), budget))
        else:
            once.put(number, wire, value)
    block.idx, block.parent, block.forward = once.integer(1), once.integer(2), once.integer(5, -1)
    return block


def _variable(view: memoryview, budget: Budget) -> VarDesc:
    once = _Once("a variable")
    for number, wire, value in pb.fields(view, budget):
        if number != 7:  # attributes, of which nothing depends
            once.put(number, wire, value)
    kind = _only(once.message(2), budget, "the type of a variable")
    number = kind.integer(1)
    variable = VarDesc(
        once.text(1),
        number,
        persistable=bool(once.integer(3, 0)),
        need_check_feed=bool(once.integer(4, 0)),
        is_parameter=bool(once.integer(5, 0)),
        stop_gradient=bool(once.integer(6, 0)),
    )
    place, levels = _TENSOR_FIELDS.get(number, (0, False))
    if place in kind.found:
        desc = kind.message(place)
        if levels:
            leveled = _only(desc, budget, "the type of a tensor")
            desc, variable.lod_level = leveled.message(1), leveled.integer(2, 0)
        variable.dtype, variable.shape = tensor_desc(desc, budget)
    return variable


def tensor_desc(view: memoryview, budget: Budget) -> tuple[int, list[int]]:
    """The number of the data type and the dimensions of a TensorDesc."""
    once, shape = _Once("the description of a tensor"), []
    for number, wire, value in pb.fields(view, budget):
        if number == 2:
            shape += pb.integers(wire, value, budget)
        else:
            once.put(number, wire, value)
    return once.integer(1), shape


def _operator(view: memoryview, budget: Budget) -> OpDesc:
    once, desc = _Once("an operator"), OpDesc("")
    for number, wire, value in pb.fields(view, budget):
        if number in (1, 2):
            slot, names = _slot(pb.message(wire, value), budget)
            slots = desc.inputs if number == 1 else desc.outputs
            if slot in slots:
                raise MalformedError(f"an operator has the slot {slot!r:.80} twice")
            slots[slot] = names
        elif number == 4:
            name, attr = _attribute(pb.message(wire, value), budget)
            if name in desc.attrs:
                raise MalformedError(f"an operator has the attribute {name!r:.80} twice")
            desc.attrs[name] = attr
        else:
            once.put(number, wire, value)
    desc.type = once.text(3)
    return desc


def _slot(view: memoryview, budget: Budget) -> tuple[str, list[str]]:
    once, names = _Once("a slot"), []
    for number, wire, value in pb.fields(view, budget):
        if number == 2:
            names.append(pb.text(wire, value))
        else:
            once.put(number, wire, value)
    return once.text(1), names


def _attribute(view: memoryview, budget: Budget) -> tuple[str, Attr]:
    once = _Once("an attribute")
    values: dict[int, list[tuple[int, Value]]] = {}
    for number, wire, value in pb.fields(view, budget):
        if number in (1, 2):
            once.put(number, wire, value)
        else:
            values.setdefault(number, []).append((wire, value))
    name, number = once.text(1), once.integer(2)
    try:
        type = AttrType(number)
    except ValueError as cause:
        raise MalformedError(f"attribute {name!r:.80} has the unknown type {number}") from cause
    place, how, many = _ATTRIBUTES[type]
    found: list[Any] = []
    for wire, value in values.get(place, ()):
        found += _READ[how](wire, value, budget)
    if type in _FLAGS:
        found = [bool(each) for each in found]
    if many:
        return name, Attr(type, found)
    if len(found) != 1:
        raise MalformedError(f"attribute {name!r:.80} has {len(found)} values")
    return name, Attr(type, found[0])


def _scalar(wire: int, value: Value, budget: Budget) -> list[bool | int | float | complex]:
    once = _only(pb.message(wire, value), budget, "a scalar")
    kind = once.integer(1)
    if kind == 1:
        return [bool(once.integer(2))]
    if kind == 2:
        return [once.integer(3)]
    if kind == 3:
        return [_double(once, 4, budget)]
    if kind == 4:
        parts = _only(once.message(5), budget, "a complex number")
        return [complex(_double(parts, 1, budget), _double(parts, 2, budget))]
    raise MalformedError(f"a scalar has the unknown type {kind}")


def _double(once: _Once, number: int, budget: Budget) -> float:
    wire, value = once.found.get(number, (pb.VARINT, 0))
    found = pb.floats(wire, value, budget, 64)
    if len(found) != 1:
        raise MalformedError(f"{once.what} has {len(found)} numbers in field {number}")
    return found[0]


_READ: dict[str, Callable[[int, Value, Budget], list[Any]]] = {
    _INT: pb.integers,
    _FLOAT: pb.floats,
    _DOUBLE: lambda wire, value, budget: pb.floats(wire, value, budget, 64),
    _TEXT: lambda wire, value, budget: [pb.text(wire, value)],
    _SCALAR: _scalar,
}


def program_bytes(program: ProgramDesc) -> bytes:
    """The bytes of a ``.pdmodel``, as protobuf writes them: fields by their numbers."""
    out = [pb.bytes_field(1, _block_bytes(block)) for block in program.blocks]
    out.append(pb.bytes_field(4, pb.int_field(1, program.version)))
    if program.op_versions:
        pairs = (
            pb.bytes_field(1, pb.bytes_field(1, name) + pb.bytes_field(2, pb.int_field(1, version)))
            for name, version in program.op_versions.items()
        )
        out.append(pb.bytes_field(5, b"".join(pairs)))
    return b"".join(out)


def _block_bytes(block: BlockDesc) -> bytes:
    return b"".join(
        (
            pb.int_field(1, block.idx),
            pb.int_field(2, block.parent),
            *(pb.bytes_field(3, _variable_bytes(v)) for v in block.vars),
            *(pb.bytes_field(4, _operator_bytes(o)) for o in block.ops),
            pb.int_field(5, block.forward),
        )
    )


def _variable_bytes(variable: VarDesc) -> bytes:
    kind = pb.int_field(1, variable.kind)
    place, levels = _TENSOR_FIELDS.get(variable.kind, (0, False))
    if place and variable.dtype is not None:
        desc = tensor_desc_bytes(variable.dtype, variable.shape or [])
        if levels:
            desc = pb.bytes_field(1, desc) + pb.int_field(2, variable.lod_level)
        kind += pb.bytes_field(place, desc)
    flags = ((3, variable.persistable), (4, variable.need_check_feed))
    more = ((5, variable.is_parameter), (6, variable.stop_gradient))
    return b"".join(
        (
            pb.bytes_field(1, variable.name),
            pb.bytes_field(2, kind),
            *(pb.int_field(number, flag) for number, flag in (*flags, *more) if flag),
        )
    )


def tensor_desc_bytes(dtype: int, shape: list[int]) -> bytes:
    """A TensorDesc: the number of the data type, and the dimensions one by one."""
    return pb.int_field(1, dtype) + b"".join(pb.int_field(2, size) for size in shape)


def _operator_bytes(desc: OpDesc) -> bytes:
    return b"".join(
        (
            *(pb.bytes_field(1, _slot_bytes(slot, names)) for slot, names in desc.inputs.items()),
            *(pb.bytes_field(2, _slot_bytes(slot, names)) for slot, names in desc.outputs.items()),
            pb.bytes_field(3, desc.type),
            *(pb.bytes_field(4, _attribute_bytes(name, attr)) for name, attr in desc.attrs.items()),
        )
    )


def _slot_bytes(slot: str, names: list[str]) -> bytes:
    return pb.bytes_field(1, slot) + b"".join(pb.bytes_field(2, name) for name in names)


def _attribute_bytes(name: str, attr: Attr) -> bytes:
    place, how, many = _ATTRIBUTES[attr.type]
    values = attr.value if many else [attr.value]
    head = pb.bytes_field(1, name) + pb.int_field(2, attr.type)
    return head + b"".join(_WRITE[how](place, value) for value in values)


def _scalar_bytes(number: int, value: bool | int | float | complex) -> bytes:
    if isinstance(value, bool):
        data = pb.int_field(1, 1) + pb.int_field(2, value)
    elif isinstance(value, int):
        data = pb.int_field(1, 2) + pb.int_field(3, value)
    elif isinstance(value, float):
        data = pb.int_field(1, 3) + pb.double_field(4, value)
    else:
        parts = pb.double_field(1, value.real) + pb.double_field(2, value.imag)
        data = pb.int_field(1, 4) + pb.bytes_field(5, parts)
    return pb.bytes_field(number, data)


_WRITE: dict[str, Callable[[int, Any], bytes]] = {
    _INT: pb.int_field,
    _FLOAT: pb.float_field,
    _DOUBLE: pb.double_field,
    _TEXT: pb.bytes_field,
    _SCALAR: _scalar_bytes,
}
