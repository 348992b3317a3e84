"""Training with quantization: pairs whose thresholds follow the values, also where gradients are computed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.core import names
from engine.core.containers.identity import IdentityMap, IdentitySet
from engine.core.operators.operator import Operator
from engine.core.values.spec import Spec
from engine.ops.control.gradient import gradient
from engine.ops.quantization import linear
from engine.program.graph.liveness import with_sub_blocks
from engine.program.graph.program import Program, reads
from engine.program.graph.variable import Variable
from engine.program.passes.quantization.freeze import to_integers
from engine.program.passes.quantization.insert import mark, new_weight, read_instead, rename
from engine.program.passes.quantization.quantizable import TABLE, types, values_of
from engine.program.passes.rewriter import Rewriter

THRESHOLD = 0.001
"""The thresholds before the first batch, as in Paddle."""

Store = Callable[[str, np.ndarray[Any, Any]], None]
"""Gives a persistable Variable its first value, by name."""


@dataclass(frozen=True)
class Training:
    """How a Program learns with quantization.

    ``op_types``: the operators that are quantized. ``skip``: whether one stays in float.
    ``channel_wise``: a threshold for each channel of a weight. ``moving_rate``: how much of the thresholds of
    values stays from batch to batch. ``frozen``: thresholds stay as they are, for a test.
    """

    op_types: tuple[str, ...]
    weight_bits: int = 8
    activation_bits: int = 8
    channel_wise: bool = True
    moving_rate: float = 0.9
    frozen: bool = False
    skip: Callable[[Operator], bool] = lambda operator: False


def insert_for_training(program: Program, training: Training, store: Store) -> int:
    """Let operators read the values that they will read after quantization; returns how many.

    Weights and values pass through a pair each, whose thresholds are found anew in each run: the largest
    absolute value of each channel of a weight, a moving average for other values. Gradients pass the pairs
    as they are: the gradient of an operator reads its inputs, and is that of the value in front of the
    pair. ``store`` receives the first values of thresholds and averages::

                                        p = quantize_linear(w, w@scale, writes w@scale)
                                        v = dequantize_linear(p, w@scale)
                                        q = quantize_linear(x, x@scale, accum, state, writes all three)
        a = conv2d(x, w)        ->      d = dequantize_linear(q, x@scale)
                                        a = conv2d(d, v)
        dw = conv2d_grad(x, w, da)      dw = conv2d_grad(d, v, da)

    With ``training.frozen`` nothing is written. Programs of one training share the Variables by their names.
    """
    block, rewriter = program.global_block(), Rewriter(program)
    made: dict[tuple[int, int], Variable] = {}
    gradients = _gradients(program)
    count = 0
    for operator in list(block.ops):
        inputs = _inputs(operator, training)
        if not inputs or training.skip(operator):
            continue
        back = gradients.get(operator.outputs[0], [])
        for value, axis, bits in inputs:
            key = (id(value), axis)
            if key not in made:
                with rewriter.before(operator, block):
                    made[key] = _pair(value, axis, bits, training, store)
            read_instead(operator, value, made[key])
            for each in back:
                _compute_from(each, value, made[key])
        mark(operator)
        count += 1
    program.changed()
    return count


def _inputs(operator: Operator, training: Training) -> list[tuple[Variable, int, int]]:
    """Variables that ``operator`` reads through pairs: each with the axis of its channels (-1: none) and its
    bits.

    Nothing where it stays in float: it has weights in other places, or a filter that is computed.
    """
    name = operator.opdef.name
    if name not in TABLE or name not in types(training.op_types):
        return []
    entry, found, weights = TABLE[name], [], 0
    for slot, value in values_of(operator):
        if not value.dtype.is_floating_point or value.dtype.name not in ("float32", "float64"):
            return []
        axis, bits = -1, training.activation_bits
        if value.persistable:
            if slot not in entry.weights:
                return []
            channels = entry.axis(operator, slot) if training.channel_wise else None
            axis, bits, weights = -1 if channels is None else channels, training.weight_bits, weights + 1
        elif slot not in entry.values:
            return []
        found.append((value, axis, bits))
    convolves = name.startswith(("conv", "depthwise"))
    return [] if convolves and not weights else found


def _gradients(program: Program) -> IdentityMap[Variable, list[Operator]]:
    """The gradient operators by the first result of the operator that they belong to."""
    found: IdentityMap[Variable, list[Operator]] = IdentityMap()
    for operator in program.global_block().ops:
        if operator.opdef is gradient.opdef and operator.inputs[1]:
            found.setdefault(operator.inputs[1][0], []).append(operator)
    return found


def _compute_from(back: Operator, old: Variable, new: Variable) -> None:
    """Let the gradient of an operator be computed from ``new`` where the operator read ``old``."""
    read, results, given = back.inputs
    back.inputs = ([new if v is old else v for v in read], results, given)
    slots = (back.notes or {}).get("inputs")
    if slots:  # its text
        names = {old.name: new.name}
        back.note("inputs", {slot: [names.get(n, n) for n in listed] for slot, listed in slots.items()})


def _pair(value: Variable, axis: int, bits: int, training: Training, store: Store) -> Variable:
    """The Variable of ``value`` as integers times a threshold."""
    block, dtype = value.block, value.dtype.np
    channels = 1 if axis < 0 else value.spec.shape[axis]

    def first(name: str, array: np.ndarray[Any, Any]) -> Variable:
        if name in block.vars:
            return block.vars[name]
        store(name, array)
        spec = Spec.of(array)
        return block.create_var(name, spec, persistable=True, stop_gradient=True)

    scale = first(f"{value.name}@scale", np.full([channels], THRESHOLD, dtype))
    attrs = {"quant_axis": axis, "bit_length": bits}
    if training.frozen:
        integers = linear.quantize_linear(value, scale, **attrs)[0]
    else:
        accum, state = (first(names.generate(what), np.ones([1], dtype)) for what in ("accum", "state"))
        integers = linear.quantize_linear(
            value, scale, None, accum, state, **attrs, is_test=False, moving_rate=training.moving_rate
        )[0]
    result: Variable = linear.dequantize_linear(integers, scale, **attrs)
    rename(integers, f"{value.name}.quantized")
    rename(result, f"{value.name}.quantized.dequantized")
    return result


def freeze_trained(program: Program, value_of: Callable[[Variable], np.ndarray[Any, Any]]) -> int:
    """Store the weights that pass through pairs as integers; returns how many pairs they passed through.

    ``value_of`` gives the value of a persistable Variable. The integers take the name of the weight, unless
    something in float reads that too::

        p = quantize_linear(w, w@scale)
        v = dequantize_linear(p, w@scale)    ->    v = dequantize_linear(w, w@scale)     w is of integers
    """
    block, rewriter = program.global_block(), Rewriter(program)
    makers: IdentityMap[Variable, Operator] = IdentityMap()
    stored: IdentityMap[Variable, Variable] = IdentityMap()
    for operator in list(block.ops):
        name = operator.opdef.name
        if name == "quantize_linear" and operator.inputs[0].persistable:
            makers[operator.outputs[0]] = operator
        elif name == "dequantize_linear" and operator.inputs[0] in makers:
            first = makers[operator.inputs[0]]
            weight, scale = first.inputs[:2]
            axis, bits = first.attrs["quant_axis"], first.attrs["bit_length"]
            found = to_integers(
                value_of(weight), value_of(scale), None if axis < 0 else axis, bits, first.attrs["round_type"]
            )
            stored[weight] = new_weight(block, f"{weight.name}.integers", found)
            operator.inputs = (stored[weight], *operator.inputs[1:])
    rewriter.erase(list(makers.values()))
    read = IdentitySet(v for o in with_sub_blocks(block.ops) for v in reads(o))
    for weight, integers in stored.items():
        if weight not in read and weight.name not in program.outputs:
            del block.vars[weight.name]
            rename(integers, weight.name)
            integers.tensor.name = integers.name
    program.changed()
    return len(makers)
