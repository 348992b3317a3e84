"""Pairs of quantize_linear and dequantize_linear in front of the inputs of quantized operators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from engine.core.containers.identity import IdentityMap
from engine.core.operators.operator import Operator
from engine.core.values.spec import Spec
from engine.eager.tensor import wrap
from engine.ops.quantization import linear
from engine.program.graph.program import Block, Program
from engine.program.graph.variable import Variable
from engine.program.passes.quantization.selection import Layer
from engine.program.passes.rewriter import Rewriter

QUANTIZATION_TYPE = "qat_with_weight"
"""Paddle's mark of operators that read a quantized weight."""


def insert_pairs(
    program: Program,
    operators: Sequence[Operator],
    layers: Sequence[Layer],
    thresholds: Mapping[str, float],
    bits: int = 8,
    round_type: int = 0,
) -> None:
    """Round the values that quantized layers read to integers times a scale.

    ``operators`` are those that the layers' positions count, taken before anything was inserted. A value has
    one pair, however many operators read it; operators that stay in float read the value itself.
    ``thresholds`` are the largest absolute values by the name of the Variable::

                                        q = quantize_linear(x, x@scale)
        a = conv2d(x, w)        ->      d = dequantize_linear(q, x@scale)
        b = relu(x)                     a = conv2d(d, w)
                                        b = relu(x)
    """
    block, rewriter = program.global_block(), Rewriter(program)
    pairs: IdentityMap[Variable, Variable] = IdentityMap()
    for layer in layers:
        if not layer.quantized:
            continue
        operator = operators[layer.position]
        for name in dict.fromkeys(layer.activations):
            value = block.var(name)
            if value not in pairs:
                with rewriter.before(operator, block):
                    pairs[value] = _pair(value, thresholds[name], bits, round_type)
            read_instead(operator, value, pairs[value])
        if layer.weight:
            mark(operator)
    program.changed()


def _pair(value: Variable, threshold: float, bits: int, round_type: int) -> Variable:
    block, dtype = value.block, value.dtype
    scale = new_weight(block, f"{value.name}@scale", np.array([threshold], dtype.np))
    attrs = {"quant_axis": -1, "bit_length": bits, "round_type": round_type}
    integers = linear.quantize_linear(value, scale, **attrs)[0]
    result: Variable = linear.dequantize_linear(integers, scale, **attrs)
    rename(integers, f"{value.name}.quantized")
    rename(result, f"{value.name}.quantized.dequantized")
    return result


def new_weight(block: Block, name: str, array: np.ndarray[Any, Any]) -> Variable:
    """A persistable Variable of ``block`` with the value ``array``, under ``name`` or, where another has
    that, ``name`` with a number."""
    tensor = wrap(array)
    tensor.name, tensor.persistable = free(block, name), True
    spec = Spec.of(array)
    made = block.create_var(tensor.name, spec, persistable=True, stop_gradient=True, tensor=tensor)
    block.program.bind(made, tensor)
    return made


def rename(variable: Variable, name: str) -> None:
    """Give a Variable that an operator has just created the name ``name``, or that with a number."""
    names = variable.block.vars
    del names[variable.name]
    variable.name = free(variable.block, name)
    names[variable.name] = variable


def free(block: Block, name: str) -> str:
    """``name``, or the first of ``name.1``, ``name.2`` ... that no Variable has."""
    found, number = name, 0
    while found in block.vars:
        number += 1
        found = f"{name}.{number}"
    return found


def read_instead(operator: Operator, old: Variable, new: Variable) -> None:
    """Let ``operator`` read ``new`` where it reads ``old``."""
    found = Rewriter(old.block.program)
    found.mapped = IdentityMap([(old, new)])
    operator.inputs = tuple([found.read(v) for v in operator.inputs])


def mark(operator: Operator) -> None:
    """Write into the text of ``operator`` that its weight is quantized."""
    attrs = (operator.notes or {}).get("attrs", {})
    operator.note("attrs", {**attrs, "quantization_type": QUANTIZATION_TYPE})
