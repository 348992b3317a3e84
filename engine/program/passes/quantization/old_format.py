"""Paddle's old format of quantized Programs: products of integers, rescaled behind them."""

from __future__ import annotations

from typing import Any, NamedTuple

from engine.core.containers.identity import IdentityMap, IdentitySet
from engine.core.mode import current
from engine.core.operators.operator import Operator
from engine.ops.quantization import levels, linear, moving
from engine.program.graph.program import Block, Program, reads, variables_of
from engine.program.graph.variable import Variable
from engine.program.passes.quantization.insert import mark, new_weight, read_instead, rename
from engine.program.passes.rewriter import Rewriter

ACTIVATIONS = ("range_abs_max", "moving_average_abs_max")
"""The operator that quantizes values, by the name in Paddle's configs; thresholds are fixed with both."""


class _Pair(NamedTuple):
    """The input of a dequantize_linear: a value that was quantized, or integers of a weight.

    ``reader`` is the operator that reads it; what it reads changes while products are replaced.
    """

    reader: Operator
    scale: Variable
    axis: int
    bits: int

    @property
    def source(self) -> Variable:
        found: Variable = self.reader.inputs[0]
        return found


def to_old_format(program: Program, activations: str = ACTIVATIONS[0]) -> None:
    """Turn pairs and integer weights into Paddle's format before its onnx format.

    ::

        q = quantize_linear(x, x@scale)
        d = dequantize_linear(q, x@scale)          q = fake_quantize_range_abs_max(x, x@scale)
        v = dequantize_linear(w, w@scale)    ->    p = conv2d(q, w)          w is integers in float32
        a = conv2d(d, v)                           a = fake_channel_wise_dequantize_max_abs(
                                                           p, [w@scale, x@scale])

    Values of operators that read no integer weight pass through one operator to integers and back. A weight
    whose values stay in float, or whose channels are not those of the results, becomes floats in front of the
    product. Values are rounded half away from zero, as Paddle's old operators do.
    """
    block, rewriter = program.global_block(), Rewriter(program)
    values, weights, operators = _pairs(block)
    quantized: dict[tuple[int, bool], Variable] = {}
    floats: IdentityMap[Variable, Variable] = IdentityMap()
    named: list[tuple[Variable, str]] = []
    for operator in list(block.ops):
        read = [v for v in dict.fromkeys(reads(operator)) if v in values]
        weight = next((v for v in reads(operator) if v in weights), None)
        along = None
        if weight is not None and len(read) == 1:
            along = _channels(operator, weight, weights[weight].axis)
        for value in read:
            key = (id(value), along is None)
            if key not in quantized:
                with rewriter.before(operator, block):
                    quantized[key] = _quantized(values[value], activations, back=along is None)
                suffix = ".quant_dequant" if along is None else ".quantized"
                named.append((quantized[key], values[value].source.name + suffix))
            read_instead(operator, value, quantized[key])
        if weight is None:
            continue
        found = weights[weight]
        if found.source not in floats:
            array = found.source.tensor.numpy().astype(found.scale.dtype.np)
            floats[found.source] = new_weight(block, f"{found.source.name}.float", array)
        held = floats[found.source]
        if along is None:
            with rewriter.before(operator, block):
                whole = _whole(held, found)
            read_instead(operator, weight, whole)
        else:
            read_instead(operator, weight, held)
            _rescale(rewriter, operator, found, values[read[0]], along)
    for operator in reversed(operators):  # those that read a result before its writer
        if not _needed(program, operator):
            rewriter.erase([operator])
    for integers, held in floats.items():
        block.vars.pop(integers.name, None)
        rename(held, integers.name)
        held.tensor.name = held.name
    for variable, name in named:
        rename(variable, name)
    program.changed()


def _pairs(
    block: Block,
) -> tuple[IdentityMap[Variable, _Pair], IdentityMap[Variable, _Pair], list[Operator]]:
    """Values and weights by their results of dequantize_linear; the operators of all pairs."""
    values: IdentityMap[Variable, _Pair] = IdentityMap()
    weights: IdentityMap[Variable, _Pair] = IdentityMap()
    makers: IdentityMap[Variable, Operator] = IdentityMap()
    operators = []
    for operator in block.ops:
        if operator.opdef.name == "quantize_linear":
            makers[operator.outputs[0]] = operator
            operators.append(operator)
        elif operator.opdef.name == "dequantize_linear":
            integers, scale = operator.inputs[:2]
            axis, bits = operator.attrs["quant_axis"], operator.attrs["bit_length"]
            first = makers.get(integers)
            if first is not None:
                values[operator.outputs[0]] = _Pair(first, scale, axis, bits)
            elif integers.persistable:
                weights[operator.outputs[0]] = _Pair(operator, scale, axis, bits)
            operators.append(operator)
    return values, weights, operators


def _channels(operator: Operator, weight: Variable, axis: int) -> int | None:
    """The dimension of the result of the thresholds of ``weight``, by its channels' ``axis``.

    -1 where it has one threshold, None where the result can't be rescaled by them.
    """
    name, attrs = operator.opdef.name, operator.attrs
    second = operator.inputs[1] is weight
    dims = operator.outputs[0].spec.ndim
    if name in ("conv2d", "depthwise_conv2d", "conv2d_transpose"):
        if axis == 1 and attrs["groups"] != 1:
            return None
        return -1 if axis < 0 else dims - 3 if attrs["data_format"][-1] == "C" else 1
    if name not in ("mul", "matmul_v2"):
        return None
    if axis < 0:
        return -1
    if name == "mul":
        return int(attrs["x_num_col_dims"]) if second and axis == 1 else None
    place = dims - 1 if second else dims - 2
    return place if weight.spec.ndim == 2 and place > 0 else None


def _quantized(pair: _Pair, activations: str, back: bool) -> Variable:
    attrs = {"bit_length": pair.bits, "is_test": True}
    if back:
        apply: Any = moving.fake_quantize_dequantize_moving_average_abs_max
    elif activations == "range_abs_max":
        apply = moving.fake_quantize_range_abs_max
    else:
        apply = moving.fake_quantize_moving_average_abs_max
    made: Variable = apply(pair.source, pair.scale, **attrs)[0]
    return made


def _whole(held: Variable, weight: _Pair) -> Variable:
    """The values of a weight whose integers are stored as floats."""
    made: Variable
    if weight.axis < 0:
        most = float(levels.largest(weight.bits))
        made = linear.fake_dequantize_max_abs(held, weight.scale, max_range=most)
    else:
        made = linear.fake_channel_wise_dequantize_max_abs(
            held, [weight.scale], quant_bits=[weight.bits], quant_axis=weight.axis
        )
    return made


def _rescale(rewriter: Rewriter, operator: Operator, weight: _Pair, value: _Pair, along: int) -> None:
    """Replace ``operator``, which multiplies integers, by itself and the operator that gives values."""
    block, old = rewriter.program.global_block(), operator.outputs[0]
    with rewriter.before(operator, block):
        product = current().apply(operator.opdef, operator.inputs, operator.attrs)
        if along < 0:
            most = float(levels.largest(weight.bits) * levels.largest(value.bits))
            threshold = float(weight.scale.tensor.numpy().reshape(()))
            made = linear.fake_dequantize_max_abs(product, value.scale, max_range=most / threshold)
        else:
            made = linear.fake_channel_wise_dequantize_max_abs(
                product,
                [weight.scale, value.scale],
                quant_bits=[weight.bits, value.bits],
                quant_axis=weight.axis,
                x_num_col_dims=along,
            )
    mark(block.ops[block.ops.index(operator) - 2])
    name = old.name
    rewriter.replace(old, made)
    rewriter.erase([operator])
    rename(product, name)
    if made.name != name:
        rename(made, f"{name}.dequantized")


def _needed(program: Program, operator: Operator) -> bool:
    """Whether something reads a result of ``operator``."""
    read = IdentitySet(v for o in program.global_block().ops for v in reads(o))
    return any(v in read or v.name in program.outputs for v in variables_of(operator.outputs))
