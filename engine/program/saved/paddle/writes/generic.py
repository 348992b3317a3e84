"""Operators that Paddle has too: written by their definition and ``FORMS``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.core.operators.operator import Operator
from engine.core.program_desc import AttrType
from engine.program.graph.program import Variable, variables_of
from engine.program.saved.paddle.writes.signatures import Signature, signature
from engine.program.saved.paddle.writes.writing import UnwritableError, Writing
from engine.program.text.describe import attributes_of, form_of, inputs_of

# Attributes that only the text has, or that choose a library.
_OMITTED = frozenset(("use_mkldnn", "use_cudnn", "mkldnn_data_type", "use_quantizer"))

# Attributes that the text omits and Paddle lacks, with the only value that it computes with.
_MEANT: dict[tuple[str, str], Any] = {
    ("relu6", "threshold"): 6.0,
    ("dropout", "axis"): None,
    ("unpool3d", "unpooling_type"): "max",
    **dict.fromkeys(
        ((f"fake_quantize{name}_moving_average_abs_max", "round_type") for name in ("", "_dequantize")), 1
    ),
    **dict.fromkeys(((f"max_pool{n}d_with_index", "ceil_mode") for n in "23"), False),
    **dict.fromkeys(((f"max_pool{n}d_with_index", "padding_algorithm") for n in "23"), "EXPLICIT"),
    **dict.fromkeys(((f"elementwise_{name}", "axis") for name in ("fmax", "fmin", "heaviside")), -1),
}


_NOT_IN_PROGRAMS = frozenset(("as_strided", "tensor_unfold", "top_p_sampling", "view_dtype"))
# Inputs that Paddle has in one dtype only.
_CASTS: dict[str, dict[str, str]] = {
    "multiplex": {"Ids": "int32"},
    "sequence_mask": {"MaxLenTensor": "int32"},
    "warpctc": {"Label": "int32"},
    "warprnnt": dict.fromkeys(("label", "input_lengths", "label_lengths"), "int32"),
    "graph_reindex": {"Count": "int32"},
}


def write_generic(
    w: Writing,
    operator: Operator,
    type: str = "",
    inputs: Mapping[str, str | list[str]] | None = None,
    **changed: Any,
) -> None:
    """Append the operator as ``FORMS`` describes it. ``inputs`` replaces the names in slots, ``changed``
    attributes; None removes one."""
    form = form_of(operator)
    type = type or form.type or operator.opdef.name
    known = signature(type)
    if type in _NOT_IN_PROGRAMS:
        raise UnwritableError(f"Paddle's {type} does not run in Programs on a CPU")
    if known is None:
        raise UnwritableError(f"Paddle 2.6.2 has no operator {type}")
    read = _read(w, operator, type, inputs or {})
    written = _results_by_slot(w, operator, known)
    attrs = _dropped(operator, known) | attributes_of(operator) | changed
    if known.attrs.get("is_test") is AttrType.BOOLEAN:
        attrs.setdefault("is_test", True)
    attrs = {
        n: v
        for n, v in attrs.items()
        if v is not None and not (n not in known.attrs and (n in _OMITTED or n in form.attrs))
    }
    w.put(type, {slot: names for slot, names in read.items() if names}, written, **attrs)


def _read(
    w: Writing, operator: Operator, type: str, inputs: Mapping[str, str | list[str]]
) -> dict[str, list[str]]:
    """The names in the slots that it reads, with casts and constants that Paddle needs; ``inputs`` replaces
    some."""
    form = form_of(operator)
    read = {slot: names for slot, names in inputs_of(operator, w.names).items() if names}
    read |= {slot: [n] if isinstance(n, str) else n for slot, n in inputs.items()}
    for slot, dtype in _CASTS.get(type, {}).items():
        read[slot] = [w.cast(name, dtype) for name in read.get(slot, ())]
    for slot, value, dtype in form.operands(operator) if form.operands is not None else ():
        if slot:
            read[slot] = [w.constant([value], dtype)]
    return read


def _results_by_slot(w: Writing, operator: Operator, known: Signature) -> dict[str, list[str]]:
    """The names of its results, and of those that only Paddle has. Raises for a result that Paddle lacks."""
    form = form_of(operator)
    written: dict[str, list[str]] = {}
    for n, (output, value) in enumerate(_results(operator)):
        slot = form.slots.get(output.slot, output.slot)
        if slot not in known.outputs:
            _require_unread(operator, slot, value)
            continue
        if value is not None:
            written[slot] = [_written(w, operator, n, v) for v in variables_of([value])]
        elif output.writes is not None and not known.outputs[slot]:
            written[slot] = w.names(operator.replaced(n))
    for slot, made in form.extra.items():
        spec = made(operator)
        if spec is None and slot in known.outputs:  # a later training reads it
            spec = operator.inputs[0].spec.with_shape([-1])
        if spec is not None:
            written[slot] = [w.new(spec, slot.lower())]
    return written


def _dropped(operator: Operator, known: Signature) -> dict[str, Any]:
    """Attributes that the text omits. Raises where Paddle lacks one that changes the results."""
    form, found = form_of(operator), {}
    for name in form.drop:
        value = operator.attrs.get(name)
        if name in known.attrs:
            found[name] = value
        elif (operator.opdef.name, name) in _MEANT and value != _MEANT[operator.opdef.name, name]:
            raise UnwritableError(f"Paddle's operator has no attribute {name}, which is {value!r}")
    return found


def _results(operator: Operator) -> list[tuple[Any, Any]]:
    opdef = operator.opdef
    if opdef.listed:
        return [(opdef.outputs[0], list(operator.outputs))]
    return list(zip(opdef.outputs, operator.outputs, strict=True))


def _written(w: Writing, operator: Operator, number: int, variable: Variable) -> str:
    """The name of a result: that of the input whose storage it replaces, where it is one."""
    if not operator.opdef.listed:
        source = operator.replaced(number)
        if isinstance(source, Variable):
            w.alias(variable, w.name(source))
            return w.name(source)
    return w.declare(variable)


def _require_unread(operator: Operator, slot: str, value: Any) -> None:
    """Raise where an operator reads a result that Paddle's does not have."""
    wanted = {id(v) for v in variables_of([value])}
    if not wanted:
        return
    program = next(iter(variables_of([value]))).block.program
    for block in program.blocks:
        if any(v.name in program.outputs and id(v) in wanted for v in block.vars.values()):
            raise UnwritableError(f"Paddle's operator has no result {slot}, which is an output")
        for other in block.ops:
            ends = [v for r in other.regions for v in r.results]
            if any(id(v) in wanted for v in (*variables_of(other.inputs), *ends)):
                raise UnwritableError(f"Paddle's operator has no result {slot}, which another one reads")
