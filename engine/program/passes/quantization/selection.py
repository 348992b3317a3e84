"""Which operators of a Program are quantized, under which layer's name, and why others stay in float."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from engine.core.errors import ArgumentError
from engine.core.operators.operator import Operator
from engine.program.graph.liveness import Liveness, with_sub_blocks
from engine.program.graph.program import Program, reads
from engine.program.graph.variable import Variable
from engine.program.passes.quantization.quantizable import IN_FLOAT, TABLE, types, values_of

PAIRS = ("quantize_linear", "dequantize_linear")
_FLOATS = ("float32", "float64")


@dataclass(frozen=True)
class Layer:
    """One operator that could be quantized.

    ``name`` is the layer's: the structured name of its weight without ``.weight``, else that of the weight's
    Variable, else that of its result; a weight that several operators read makes ``name``, ``name:2`` ...
    ``position`` is the operator's place in the main block, so that it is found in a copy of the Program too.
    ``weight`` and ``activations`` are names of Variables. ``axis`` is that of the weight's channels, None
    where it has one scale. ``why`` is the reason to stay in float; empty if it is quantized.
    """

    name: str
    op: str
    position: int
    weight: str = ""
    axis: int | None = None
    bits: int = 8
    activations: tuple[str, ...] = ()
    why: str = ""

    @property
    def quantized(self) -> bool:
        return not self.why


def select(
    program: Program,
    op_types: Sequence[str],
    skip: Sequence[str] = (),
    *,
    names: Mapping[str, str] | None = None,
    bits: int = 8,
    bits_of: Sequence[tuple[str, int]] = (),
    channel_wise: bool = True,
    weights_only: bool = False,
) -> list[Layer]:
    """The layers of ``program`` in order, those that stay in float with the reason.

    ``names`` are the structured names of parameters by the name of their Variable. With ``weights_only`` a
    layer needs a weight, and its values stay in float. Raises ArgumentError where a pattern of ``skip`` or
    ``bits_of`` fits no layer.
    """
    wanted, unstable = types(tuple(op_types)), Liveness.of(program).unstable
    found: list[Layer] = []
    calls: dict[str, int] = {}
    for position, operator in enumerate(program.global_block().ops):
        layer = _layer(operator, position, wanted, unstable, channel_wise, weights_only)
        if layer is not None:
            base = _name(layer.weight, names or {}) if layer.weight else _result(operator)
            calls[base] = calls.get(base, 0) + 1
            number = calls[base]
            found.append(replace(layer, name=base if number == 1 else f"{base}:{number}", bits=bits))
    for pattern, number in bits_of:
        _require_match("bits_of", pattern, found)
        found = [replace(each, bits=number) if matches(pattern, each) else each for each in found]
    for pattern in skip:
        _require_match("skip", pattern, found)
        found = [
            replace(each, why=each.why or f"skipped by {pattern!r}") if matches(pattern, each) else each
            for each in found
        ]
    return found


def matches(pattern: str, layer: Layer) -> bool:
    """Whether a pattern means ``layer``: by its name, that of a layer around it, of its weight or of its
    type of operator."""
    name = layer.name.partition(":")[0]
    parts = name.split(".")
    known = [".".join(parts[:n]) for n in range(1, len(parts) + 1)]
    return any(fnmatchcase(each, pattern) for each in (*known, layer.name, layer.weight, layer.op))


def quantized_already(program: Program) -> Operator | None:
    """The first operator of ``program`` that quantizes; None for a Program in float."""
    for operator in with_sub_blocks(program.global_block().ops):
        name = operator.opdef.name
        if name in PAIRS or name.startswith(("fake_quantize", "fake_channel_wise", "fake_dequantize")):
            return operator
    return None


def with_control_flow(program: Program) -> Operator | None:
    """The first branch or loop of ``program``."""
    return next((o for o in program.global_block().ops if o.regions), None)


def _layer(
    operator: Operator,
    position: int,
    wanted: Collection[str],
    unstable: Collection[Variable],
    channel_wise: bool,
    weights_only: bool,
) -> Layer | None:
    """The quantizable layer of ``operator``; None for one without products or weights."""
    name = operator.opdef.name
    if name not in TABLE or name not in wanted:
        weight = next((v for v in reads(operator) if _is_matrix(v)), None)
        why = IN_FLOAT.get(name) or (f"operators {operator.type} are not requested" if name in TABLE else "")
        if weight is None or not why or not TABLE.get(name, TABLE["conv2d"]).weights:
            return None
        return Layer("", operator.type, position, weight.name, why=why)
    entry = TABLE[name]
    held = [(s, v) for s, v in values_of(operator) if v.persistable and s in entry.weights]
    values = [v for s, v in values_of(operator) if not v.persistable and s in entry.values]
    if weights_only:
        values = []
    if not held and (not values or not entry.values):
        return None
    slot, weight = held[0] if held else ("", None)
    axis = entry.axis(operator, slot) if weight is not None and channel_wise else None
    why = next(_hindrances(operator, [v for _, v in held], values, unstable), "")
    weight_name = "" if weight is None else weight.name
    return Layer(
        "", operator.type, position, weight_name, axis, activations=tuple(v.name for v in values), why=why
    )


def _hindrances(
    operator: Operator,
    weights: Sequence[Variable],
    values: Sequence[Variable],
    unstable: Collection[Variable],
) -> Iterator[str]:
    for variable in (*weights, *values):
        if variable.dtype.name not in _FLOATS:
            yield f"{variable.name} is {variable.dtype.name}; float32 and float64 are quantized"
        if variable in unstable:
            yield f"{variable.name} changes while the model runs"
    if operator.opdef.name.startswith(("conv", "depthwise")) and not weights:
        yield "its filters are computed while the model runs"


def _is_matrix(variable: Variable) -> bool:
    return variable.persistable and variable.spec.ndim > 1 and variable.dtype.is_floating_point


def _name(weight: str, names: Mapping[str, str]) -> str:
    return re.sub(r"\.weight(_\w+)?$", "", names.get(weight, weight))


def _result(operator: Operator) -> str:
    first = next((v for v in operator.outputs if isinstance(v, Variable)), None)
    return operator.opdef.name if first is None else first.name


def _require_match(field: str, pattern: str, layers: Sequence[Layer]) -> None:
    if not any(matches(pattern, each) for each in layers):
        shown = ", ".join(each.name for each in layers[:8]) + (" ..." if len(layers) > 8 else "")
        raise ArgumentError(
            f"quantize: {field} {pattern!r} fits no layer: there are {shown or 'none that can be quantized'}"
        )
