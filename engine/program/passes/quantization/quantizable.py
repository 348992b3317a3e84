"""THE table of quantization: for each operator which inputs are quantized, and by which axis its weight."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from engine.core.operators.operator import Operator
from engine.program.graph.variable import Variable

Axis = Callable[[Operator, str], "int | None"]
"""The axis of the channels of a weight in the given slot; None: one scale for the whole weight."""


class Quantizable(NamedTuple):
    """How one type of operator is quantized.

    ``values`` are the slots of an operator's operands, ``weights`` those that may hold a weight
    (products take a weight on either side). Channels of a weight are always along an axis of the *output*:
    only then may an integer product be scaled after it is summed.
    """

    values: tuple[str, ...]
    weights: tuple[str, ...] = ()
    axis: Axis = lambda operator, slot: None
    output: str = "Out"


def _mul_axis(operator: Operator, slot: str) -> int | None:
    """The last dimension of the rows of X, the first of the columns of Y, where that is dimension 0 or 1."""
    if slot == "X":
        return 0
    axis = operator.attrs["y_num_col_dims"]
    return 1 if axis == 1 else None


def _matmul_axis(operator: Operator, slot: str) -> int | None:
    """Rows of X, columns of Y; a stack of matrices and a vector have one scale."""
    weight = input_of(operator, slot)
    if weight is None or weight.spec.ndim != 2:
        return None
    if slot == "X":
        return 1 if operator.attrs["trans_x"] else 0
    return 0 if operator.attrs["trans_y"] else 1


def _convolution(axis: int) -> Quantizable:
    return Quantizable(("Input",), ("Filter",), lambda operator, slot: axis, "Output")


_PLAIN = Quantizable(("X",))
_BOTH = Quantizable(("X", "Y"))

TABLE: Mapping[str, Quantizable] = {
    "conv2d": _convolution(0),
    "depthwise_conv2d": _convolution(0),
    "conv2d_fusion": _convolution(0),
    "depthwise_conv2d_fusion": _convolution(0),
    "conv2d_transpose": _convolution(1),
    "mul": Quantizable(("X", "Y"), ("X", "Y"), _mul_axis),
    "matmul_v2": Quantizable(("X", "Y"), ("X", "Y"), _matmul_axis),
    # Rows of a table are chosen, not computed with: only the weight is quantized.
    "lookup_table_v2": Quantizable((), ("W",), lambda operator, slot: 0),
    # Only on request: their results are not products.
    **dict.fromkeys(("elementwise_add", "elementwise_sub", "elementwise_mul"), _BOTH),
    **dict.fromkeys(
        (
            "concat",
            "leaky_relu",
            "pool2d",
            "reduce_mean",
            "relu",
            "relu6",
            "sigmoid",
            "softmax",
            "swish",
            "tanh",
        ),
        _PLAIN,
    ),
}

# Operators that a caller's type includes: those that a pass fused, and those of older versions.
ALSO: Mapping[str, tuple[str, ...]] = {
    "conv2d": ("conv2d_fusion",),
    "depthwise_conv2d": ("depthwise_conv2d_fusion",),
    "matmul": ("matmul_v2",),
    "lookup_table": ("lookup_table_v2",),
}

WITH_WEIGHTS = ("conv2d", "depthwise_conv2d", "conv2d_transpose", "mul", "matmul", "matmul_v2")
"""The types that are quantized by default, as in Paddle."""

IN_FLOAT: Mapping[str, str] = {
    "rnn": "recurrent layers stay in float: their state passes through every step",
    "conv3d": "convolutions of volumes stay in float",
    "conv3d_fusion": "convolutions of volumes stay in float",
    "conv3d_transpose": "convolutions of volumes stay in float",
    "depthwise_conv2d_transpose": "transposed depthwise convolutions stay in float",
    "bmm": "products of batches of matrices stay in float",
}
"""Operators that often hold a weight and are never quantized, with the reason."""


def types(wanted: tuple[str, ...]) -> frozenset[str]:
    """The operators of the types of a caller."""
    return frozenset(name for each in wanted for name in (each, *ALSO.get(each, ())))


def input_of(operator: Operator, slot: str) -> Variable | None:
    """The Variable in a slot with one Variable; None where it is empty or a list."""
    for declared, value in operator.opdef.named_inputs(operator.inputs):
        if declared.slot == slot:
            return value if isinstance(value, Variable) else None
    return None


def values_of(operator: Operator) -> list[tuple[str, Variable]]:
    """The Variables that ``operator`` computes with by slot; those of a list each with its slot."""
    entry = TABLE[operator.opdef.name]
    slots = dict.fromkeys((*entry.values, *entry.weights))
    found: list[tuple[str, Variable]] = []
    for declared, value in operator.opdef.named_inputs(operator.inputs):
        if declared.slot in slots:
            several = value if isinstance(value, (list, tuple)) else [value]
            found += [(declared.slot, v) for v in several if isinstance(v, Variable)]
    return found
