"""A Program of Paddle's ProgramDesc: inputs by ``feed``, outputs by ``fetch``, weights by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from engine.core.errors import FormatError
from engine.core.program_desc import BlockDesc, OpDesc, ProgramDesc, weight_names
from engine.core.values.dtype import as_dtype
from engine.core.values.spec import Spec
from engine.program.graph.program import Variable
from engine.program.saved.paddle import (
    array_rows,
    control_rows,
    einsum_rows,
    image_rows,
    linalg_rows,
    product_rows,
    recurrent_rows,
)
from engine.program.saved.paddle.generic import DTYPES, opdef_of
from engine.program.saved.paddle.reading import Frame, Reading
from engine.program.saved.paddle.rows import ROWS
from engine.program.saved.plain_program import PlainProgram
from engine.program.saved.serialize import to_plain

TABLES = (
    array_rows,
    control_rows,
    einsum_rows,
    image_rows,
    linalg_rows,
    product_rows,
    recurrent_rows,
)  # their rows are in ROWS once imported
_FRAME = ("feed", "fetch", "fetch_v2")


def read_program(
    desc: ProgramDesc, weights: Mapping[str, Any], kinds: Mapping[str, tuple[bool, bool]], shown: object
) -> PlainProgram:
    """The Program as plain values. ``weights`` are the arrays by name, ``kinds`` says of some of them
    whether they are parameters, and fixed; ``shown`` names the file in messages.

    Raises FormatError, naming the operator: the Program does not fit the weights, or has operators that do
    not exist here; all of these are named at once.
    """
    unknown = sorted({o.type for b in desc.blocks for o in b.ops if not _is_known(o.type)})
    if unknown:
        names = ", ".join(repr(name[:80]) for name in unknown[:20])
        more = f" and {len(unknown) - 20} more" if len(unknown) > 20 else ""
        raise FormatError(f"{shown}: operators without a counterpart here: {names}{more}")
    try:
        return _program(desc, weights, kinds)
    except FormatError as error:
        raise FormatError(f"{shown}: {error}") from error


def _is_known(type: str) -> bool:
    return type in _FRAME or type in ROWS or opdef_of(type) is not None


def _program(
    desc: ProgramDesc, weights: Mapping[str, Any], kinds: Mapping[str, tuple[bool, bool]]
) -> PlainProgram:
    reading, first = Reading(desc), desc.blocks[0]
    feeds, fetches = _columns(first, "feed", "Out"), _columns(first, "fetch", "X")
    if not fetches:
        raise FormatError("it has no fetch operators; save it with jit.save or static.save_inference_model")
    skipped, names = _plain_fetches(first, fetches, feeds)
    body = [o for o in first.ops if o.type not in _FRAME and id(o) not in skipped]
    frame = Frame(reading, BlockDesc(0, -1, first.vars, body), reading.program.global_block())
    for name in feeds:
        frame.values[name] = _input(reading, frame, name)
    _add_weights(reading, frame, desc, weights, kinds)
    control_rows.read_block(frame)
    outputs = []
    for name in names:
        found = frame.find(name)
        if found is None:
            raise FormatError(f"nothing computes its output {name!r:.80}")
        outputs.append(found.name)
    reading.program.inputs, reading.program.outputs = feeds, outputs
    plain = to_plain(reading.program)
    plain["foreign"] = True
    return plain


def _columns(block: BlockDesc, type: str, slot: str) -> list[str]:
    """The names that operators feed or fetch, ordered by their columns."""
    found: dict[int, str] = {}
    for desc in block.ops:
        if desc.type not in (type, f"{type}_v2"):
            continue
        names = (desc.outputs if slot == "Out" else desc.inputs).get(slot, [])
        column = desc.attrs["col"].value if "col" in desc.attrs else None
        if len(names) != 1 or not isinstance(column, int) or column in found:
            raise FormatError(f"a {type} operator has column {column!r:.40} and {len(names)} variables")
        found[column] = names[0]
    names = [found[column] for column in sorted(found)]
    if type == "feed" and len(set(names)) != len(names):
        raise FormatError("a variable is fed twice")
    return names


def _plain_fetches(block: BlockDesc, fetches: list[str], feeds: Iterable[str]) -> tuple[set[int], list[str]]:
    """Operators that only give outputs another name, by id, and the names of the outputs without them."""
    made = {o.outputs["Out"][0]: o for o in block.ops if o.type == "scale" and _is_copy(o)}
    computed = {n for o in block.ops if o.type not in _FRAME for names in o.outputs.values() for n in names}
    skipped: set[int] = set()
    names: list[str] = []
    for name in fetches:
        copied = made.get(name)
        source = copied.inputs["X"][0] if copied is not None else name
        if copied is not None and source in computed and source not in (*feeds, *fetches, *names):
            skipped.add(id(copied))
            name = source
        names.append(name)
    return skipped, names


def _is_copy(desc: OpDesc) -> bool:
    names = desc.inputs.get("X", []), desc.outputs.get("Out", [])
    values = [
        desc.attrs[n].value if n in desc.attrs else default for n, default in (("scale", 1), ("bias", 0))
    ]
    return (
        all(len(each) == 1 for each in names)
        and names[1][0].startswith("save_infer_model/")
        and values == [1, 0]
        and not desc.inputs.get("ScaleTensor")
    )


def _input(reading: Reading, frame: Frame, name: str) -> Variable:
    declared = frame.declared.get(name)
    if declared is None or declared.dtype not in DTYPES or declared.shape is None:
        raise FormatError(f"its input {name!r:.80} is not declared as a tensor")
    spec = Spec(declared.shape, DTYPES[declared.dtype])
    return frame.block.create_var(reading.name(name), spec, stop_gradient=True, is_data=True)


def _add_weights(
    reading: Reading,
    frame: Frame,
    desc: ProgramDesc,
    weights: Mapping[str, Any],
    kinds: Mapping[str, tuple[bool, bool]],
) -> None:
    written = {
        n
        for b in desc.blocks
        for o in b.ops
        if o.type != "feed"
        for names in o.outputs.values()
        for n in names
    }
    for name in weight_names(desc):
        declared, array = frame.declared[name], weights[name]
        dtype = DTYPES.get(-1 if declared.dtype is None else declared.dtype)
        if dtype is None or as_dtype(dtype).np != array.dtype:
            raise FormatError(
                f"weight {name!r:.80} is declared as type {declared.dtype}, stored as {array.dtype}"
            )
        spec = Spec(array.shape, dtype)
        parameter, fixed = kinds.get(name, (name not in written, False))
        parameter = parameter and not (fixed and name in written)  # running statistics are state
        name = reading.name(name)
        if spec.dtype.is_inexact and parameter:
            made: Variable = frame.block.create_parameter(spec.shape, spec.dtype, name, trainable=not fixed)
        else:
            made = frame.block.create_var(name, spec, persistable=True, stop_gradient=True)
        frame.values[name] = made
