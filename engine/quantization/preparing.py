"""What is quantized: a copy of a Program in float, with everything folded, and its layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, NotFiniteError
from engine.core.place import CPUPlace
from engine.eager.tensor import Parameter, Tensor
from engine.program.graph.program import Program
from engine.program.graph.variable import Variable
from engine.program.passes.prune import pruned
from engine.program.passes.quantization.fold import fold_for_quantization
from engine.program.passes.quantization.selection import (
    Layer,
    quantized_already,
    select,
    with_control_flow,
)
from engine.program.run.executor import Executor
from engine.program.run.scope import Scope, value_of
from engine.quantization.options import QuantizeOptions
from engine.quantization.weights.equalization import equalize

WHERE = "quantize"
NAMES = Mapping[str, str]


@dataclass(frozen=True)
class Prepared:
    """A Program in float that shares nothing with the one it was made of, and its layers in order.

    Its parameters have their values in Tensors of their own. ``names`` are structured names of parameters by
    the name of their Variable.
    """

    program: Program
    layers: tuple[Layer, ...]
    options: QuantizeOptions
    names: NAMES

    @property
    def inputs(self) -> list[Variable]:
        return [self.program.global_block().var(name) for name in self.program.inputs]

    def weight(self, layer: Layer) -> np.ndarray[Any, Any]:
        """The value of a layer's weight."""
        array: np.ndarray[Any, Any] = self.program.global_block().var(layer.weight).tensor.numpy()
        return array


def prepare(
    program: Program,
    options: QuantizeOptions,
    *,
    names: NAMES | None = None,
    inputs: Sequence[str | Variable] | None = None,
    outputs: Sequence[str | Variable] | None = None,
    scope: Scope | None = None,
    weights_only: bool = False,
) -> Prepared:
    """Copy the part of ``program`` that predicts, fold it, and find its layers.

    ``inputs`` and ``outputs`` are Variables or their names, by default those that the Program says itself;
    parameters that no Tensor holds have their values in ``scope`` (the global one by default).

    Raises ArgumentError for a Program without inputs and outputs, with control flow, that is quantized
    already or in which nothing can be quantized; NotFiniteError for a weight with nan; ProgramError for a
    parameter without a value.
    """
    block = program.global_block()
    chosen = []
    for what, given, own in (("inputs", inputs, program.inputs), ("outputs", outputs, program.outputs)):
        found = [block.var(v) if isinstance(v, str) else v for v in (own if given is None else given)]
        if not found:
            raise ArgumentError(f"{WHERE}: the Program does not say its {what}; pass {what}=")
        chosen.append(found)
    made = pruned(program, chosen[0], chosen[1], WHERE)
    _require_quantizable(made)
    _own_values(made, scope)
    folded = fold_for_quantization(made, _evaluate)
    if options.equalize:
        equalize(made)
    known = dict(names or {})
    called = known | {name: known.get(root, root) for name, root in folded.items()}
    layers = select(
        made,
        options.op_types,
        options.skip,
        names=called,
        bits=options.weight_bits,
        bits_of=options.bits_of,
        channel_wise=options.weight_type.startswith("channel_wise"),
        weights_only=weights_only,
    )
    if not any(layer.quantized for layer in layers):
        reasons = "; ".join(f"{each.name}: {each.why}" for each in layers[:5])
        raise ArgumentError(
            f"{WHERE}: no layer can be quantized ({reasons or 'the model has no products with weights'}); "
            "choose other op_types, or skip less"
        )
    prepared = Prepared(made, tuple(layers), options, known)
    _require_finite(prepared)
    return prepared


def only(layers: Sequence[Layer], quantized: Sequence[str] | set[str], why: str) -> list[Layer]:
    """The layers, of which only those named stay to be quantized; the others say ``why`` not."""
    wanted = set(quantized)
    return [replace(e, why=why) if e.quantized and e.name not in wanted else e for e in layers]


def _require_quantizable(program: Program) -> None:
    flow = with_control_flow(program)
    if flow is not None:
        place = flow.where()
        raise ArgumentError(
            f"{WHERE}: the model has control flow ({flow.type}{' at ' + place if place else ''}), which "
            "can't be quantized; quantize a model without branches and loops"
        )
    pair = quantized_already(program)
    if pair is not None:
        raise ArgumentError(
            f"{WHERE}: the model is quantized already (it has {pair.type}); quantize the one in float"
        )


def _require_finite(prepared: Prepared) -> None:
    for layer in prepared.layers:
        if layer.quantized and layer.weight:
            weight = prepared.weight(layer)
            wrong = int((~np.isfinite(weight)).sum())
            if wrong:
                raise NotFiniteError(
                    f"{WHERE}: {wrong} of {weight.size} values of the weight of layer {layer.name!r} are nan "
                    "or infinite; train the model again, or skip that layer"
                )


def _own_values(program: Program, scope: Scope | None) -> None:
    """Give each parameter a Tensor with a copy of its value."""
    for variable in program.global_block().vars.values():
        if variable.persistable:
            value = value_of(variable, scope).numpy()
            tensor: Tensor
            if variable.is_parameter:
                tensor = Parameter(value, name=variable.name, trainable=not variable.stop_gradient)
            else:
                tensor = Tensor(value, name=variable.name)
                tensor.persistable = True
            program.bind(variable, tensor)


def _evaluate(program: Program, variables: Sequence[Variable]) -> Sequence[Any]:
    # Alone: a batch norm that stays would ask for the inputs of the model, as it writes its statistics.
    alone = pruned(program, [], variables, WHERE)
    return Executor(CPUPlace()).run(alone, fetch_list=list(alone.outputs))
