"""Cross-layer equalization: neighbouring layers share their ranges, and the network computes what it did.

Between two layers that only relu and the like divide, a channel may be made smaller in the first and larger
in the second by the same factor. With sqrt(r1 / r2), where r1 and r2 are the channel's largest weights in
both, no channel is rounded more coarsely than the others. (M. Nagel et al., "Data-free quantization through
weight equalization and bias correction", 2019, arXiv:1906.04721.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from engine.core.containers.identity import IdentityMap
from engine.core.operators.operator import Operator
from engine.program.graph.liveness import Liveness
from engine.program.graph.program import Program
from engine.program.graph.variable import Variable
from engine.program.passes.pattern import Uses, channel_bias

Array: TypeAlias = np.ndarray[Any, Any]

CONVOLUTIONS = ("conv2d", "depthwise_conv2d")
LAYERS = (*CONVOLUTIONS, "mul", "matmul_v2")
# f(a x) = a f(x) for positive a, channel by channel.
BETWEEN = ("relu", "leaky_relu", "pool2d", "dropout", "reshape2", "flatten_contiguous_range")

SWEEPS = 50  # over all pairs: a layer in the middle of a chain belongs to two
SETTLED = 1e-3  # a sweep whose factors are all this near to 1 is the last one
LARGEST = 1e4  # a factor beyond this would make numbers of float32 coarse


@dataclass(frozen=True)
class Pair:
    """Two layers and the biases of the first; `block` entries of the second's rows belong to a channel."""

    first: Operator
    second: Operator
    biases: tuple[Variable, ...]
    block: int


def equalize(program: Program) -> int:
    """Equalize all layers of `program`, in which batch norms are folded; gives the number of pairs.

    The Tensors of weights and biases get new values. Results stay the same up to rounding.
    """
    pairs = list(_pairs(program))
    arrays: IdentityMap[Variable, Array] = IdentityMap()
    for pair in pairs:
        for variable in (pair.first.inputs[1], pair.second.inputs[1], *pair.biases):
            arrays[variable] = variable.tensor.numpy().astype(np.float64)
    for _ in range(SWEEPS if pairs else 0):
        if max(_equalize(pair, arrays) for pair in pairs) < SETTLED:
            break
    for variable, array in arrays.items():
        variable.tensor.set_value(array.astype(variable.dtype.np))
    return len(pairs)


def _equalize(pair: Pair, arrays: IdentityMap[Variable, Array]) -> float:
    """Shares out the ranges of one pair; gives how far the largest factor was from 1."""
    first, second = arrays[pair.first.inputs[1]], arrays[pair.second.inputs[1]]
    out = first if pair.first.opdef.name in CONVOLUTIONS else first.T
    into = _by_input(pair.second, second, len(out), pair.block)
    r1 = np.abs(out).reshape(len(out), -1).max(axis=1)
    r2 = np.abs(into).max(axis=(1, 2))
    used = (r1 > 0) & (r2 > 0)
    factor = np.ones(len(out))
    factor[used] = np.clip(np.sqrt(r1[used] / r2[used]), 1 / LARGEST, LARGEST)
    out /= factor.reshape(-1, *[1] * (out.ndim - 1))
    into *= factor[:, None, None]
    for bias in pair.biases:
        arrays[bias] /= factor
    return float(np.abs(np.log(factor)).max())


def _by_input(operator: Operator, weight: Array, channels: int, block: int) -> Array:
    """A view of the second layer's weight as [channels, ..., ...], by the channels that it is fed."""
    if operator.opdef.name not in CONVOLUTIONS:
        return weight.reshape(channels, block, -1)
    if operator.attrs["groups"] == 1:
        return weight.reshape(*weight.shape[:2], -1).swapaxes(0, 1)
    return weight.reshape(channels, -1, weight.shape[2] * weight.shape[3])  # each channel has its own filters


def _pairs(program: Program) -> Iterator[Pair]:
    uses, unstable = Uses(program), Liveness.of(program).unstable

    def own(variable: Any) -> bool:
        """Whether this is a weight that nothing else reads and nothing changes."""
        return (
            isinstance(variable, Variable)
            and variable.persistable
            and variable.tensor is not None
            and variable.name not in program.outputs
            and variable not in unstable
            and len(uses.read_by.get(variable, [])) == 1
        )

    for operator in program.global_block().ops:
        if operator.opdef.name in LAYERS and own(operator.inputs[1]) and _is_plain(operator):
            found = _follow(uses, operator, own)
            if found is not None:
                yield found


def _follow(uses: Uses, first: Operator, own: Any) -> Pair | None:
    """The pair that begins with `first`, if what lies between lets factors through."""
    is_image = first.opdef.name in CONVOLUTIONS
    weight = first.inputs[1]
    channels = weight.spec.shape[0 if is_image else 1]
    biases: list[Variable] = []
    value, block = first.outputs[0], 1
    while True:
        reader = uses.only_reader(value, *LAYERS, "elementwise_add", *BETWEEN)
        if reader is None or reader.inputs[0] is not value:
            return None
        name = reader.opdef.name
        if name in LAYERS:
            fits = own(reader.inputs[1]) and _is_plain(reader) and _takes(reader, channels, block, is_image)
            return Pair(first, reader, tuple(biases), block) if fits else None
        if name == "elementwise_add":
            bias = _bias(uses, reader, is_image)
            # Behind relu or a pooling a bias is none of the layer's.
            if value is not first.outputs[0] or not own(bias) or bias.spec.shape != (channels,):
                return None
            biases.append(bias)
            value = reader.outputs[0]
        else:
            spec = reader.outputs[0].spec
            if name == "dropout" and not reader.attrs["is_test"]:
                return None
            if name == "pool2d" and reader.attrs["data_format"] != "NCHW":
                return None
            if name in ("reshape2", "flatten_contiguous_range"):
                size = value.spec.shape[2:]
                if not is_image or spec.ndim != 2 or min(size, default=-1) < 0:
                    return None
                block = int(np.prod(size))
                if spec.shape[1] != channels * block:
                    return None
                is_image = False
            value = reader.outputs[0]


def _bias(uses: Uses, added: Operator, is_image: bool) -> Any:
    """The bias of the channels that `added` adds, if nothing else reads it, reshaped or not."""
    other = added.inputs[1]
    if not is_image:
        return other
    return channel_bias(uses, added) if len(uses.read_by.get(other, [])) == 1 else None


def _is_plain(operator: Operator) -> bool:
    """Whether the weight is one whose channels are known: filters of NCHW images, or a matrix [in, out]."""
    attrs, weight = operator.attrs, operator.inputs[1]
    if operator.opdef.name in CONVOLUTIONS:
        return bool(attrs["data_format"] in ("NCHW", "AnyLayout") and weight.spec.ndim == 4)
    if operator.opdef.name == "mul":
        return bool(weight.spec.ndim == 2 and attrs["x_num_col_dims"] == operator.inputs[0].spec.ndim - 1)
    return bool(weight.spec.ndim == 2 and not attrs["trans_x"] and not attrs["trans_y"])


def _takes(operator: Operator, channels: int, block: int, is_image: bool) -> bool:
    """Whether the second layer reads these channels: all, or each with filters of its own."""
    shape = operator.inputs[1].spec.shape
    if operator.opdef.name in CONVOLUTIONS:
        return is_image and operator.attrs["groups"] in (1, channels)
    return not is_image and shape[0] == channels * block
