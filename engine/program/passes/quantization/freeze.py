"""Freezing: weights become integers, with the operator that turns them into values again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.core.containers.identity import IdentitySet
from engine.core.operators.operator import Operator
from engine.ops.quantization import linear
from engine.program.graph.program import Program, reads
from engine.program.graph.variable import Variable
from engine.program.passes.quantization.insert import mark, new_weight, read_instead, rename
from engine.program.passes.quantization.selection import Layer
from engine.program.passes.rewriter import Rewriter

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class IntegerWeight:
    """A weight as integers (in a dtype of integers), the thresholds of its channels, and their axis."""

    integers: Array
    thresholds: Array
    axis: int | None
    bits: int


def to_integers(
    weight: Array, thresholds: Array, axis: int | None, bits: int = 8, round_type: int = 0
) -> Array:
    """``weight`` as the nearest integers: int8 up to 8 bits, int16 above.

    ``thresholds`` is [1], or [channels] along ``axis``.
    """
    found = linear.quantize_linear.opdef.kernel(
        np,
        weight,
        thresholds.astype(weight.dtype),
        quant_axis=-1 if axis is None else axis,
        bit_length=bits,
        round_type=round_type,
    )[0]
    return np.asarray(found).astype(np.int8 if bits <= 8 else np.int16)


def to_values(weight: IntegerWeight, dtype: np.dtype[Any] | type = np.float32) -> Array:
    """The values, of ``dtype``, that the integers represent."""
    return np.asarray(
        linear.dequantize_linear.opdef.kernel(
            np,
            weight.integers,
            weight.thresholds.astype(dtype),
            quant_axis=-1 if weight.axis is None else weight.axis,
            bit_length=weight.bits,
        )
    )


def freeze_weights(
    program: Program,
    operators: Sequence[Operator],
    layers: Sequence[Layer],
    weights: Mapping[tuple[str, int | None, int], IntegerWeight],
) -> None:
    """Store the weights of quantized layers as integers; each is turned into values once, for all its layers.

    ``operators`` as of ``insert_pairs``; ``weights`` are by name, axis and bits (see ``weight_key``). The
    integers take the name of the weight, as in Paddle, unless something in float reads that too::

        a = conv2d(x, w)        ->      d = dequantize_linear(w, w@scale)      w is of integers
                                        a = conv2d(x, d)
    """
    block, rewriter = program.global_block(), Rewriter(program)
    made: dict[tuple[str, int | None, int], Variable] = {}
    replaced: dict[str, Variable] = {}
    integers: list[tuple[Variable, str]] = []
    for layer in layers:
        if not layer.quantized or not layer.weight:
            continue
        operator, key = operators[layer.position], weight_key(layer)
        old = block.var(layer.weight)
        if key not in made:
            weight = weights[key]
            stored = new_weight(block, f"{layer.weight}.quantized", weight.integers)
            stored.is_parameter = True  # one of the model, though it is not trained
            integers.append((stored, layer.weight))
            scale = new_weight(block, f"{layer.weight}@scale", weight.thresholds.astype(old.dtype.np))
            axis = -1 if weight.axis is None else weight.axis
            with rewriter.before(operator, block):
                result: Variable = linear.dequantize_linear(
                    stored, scale, quant_axis=axis, bit_length=weight.bits
                )
            rename(result, f"{layer.weight}.quantized.dequantized")
            made[key], replaced[layer.weight] = result, old
        read_instead(operator, old, made[key])
        mark(operator)
    read = IdentitySet(v for o in block.ops for v in reads(o))
    for name, old in replaced.items():
        if old not in read and name not in program.outputs:
            del block.vars[name]
    for stored, name in integers:
        if name not in block.vars:
            rename(stored, name)
            stored.tensor.name = stored.name
    program.changed()


def weight_key(layer: Layer) -> tuple[str, int | None, int]:
    """The properties that determine the integers of a layer's weight: layers with the same key share them."""
    return layer.weight, layer.axis, layer.bits
