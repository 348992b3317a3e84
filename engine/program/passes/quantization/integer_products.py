"""Products of quantized values become products of their integers."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from engine.core.containers.identity import IdentityMap, IdentitySet
from engine.core.mode import current
from engine.core.operators.opdef import OPS
from engine.core.operators.operator import Operator
from engine.ops.arrays.shape import reshape
from engine.ops.elementwise import arithmetic
from engine.ops.quantization import integers
from engine.program.graph.liveness import Liveness
from engine.program.graph.program import Program
from engine.program.graph.variable import Variable
from engine.program.passes.pattern import Uses, each, outermost
from engine.program.passes.rewriter import Rewriter

# The axis of the channels of the result in the filters of a convolution.
_FILTERS = {
    "conv2d": 0,
    "conv2d_fusion": 0,
    "depthwise_conv2d": 0,
    "depthwise_conv2d_fusion": 0,
    "conv2d_transpose": 1,
    "depthwise_conv2d_transpose": 1,
}
_MATRICES = ("mul", "matmul_v2")


class _Side(NamedTuple):
    """One side of a product: its integers, and their values."""

    integers: Variable
    scale: Variable
    axis: int  # of the channels that have a scale each; -1 for one scale
    bits: int


def integer_products(program: Program) -> None:
    """Multiply the integers exactly and rescale their sums once; see ``engine/ops/quantization/integers.py``.

    ::

        q = quantize_linear(x, s)              q = quantize_linear(x, s)
        a = dequantize_linear(q, s)            f = integer_factor(s, t)
        b = dequantize_linear(w, t)      ->    y = mul_integer(q, w, f)
        y = mul(a, b)                          return y
        return y

    Both sides are quantized: values by an operator before, or weights that hold integers as they are now. A
    product stays as it is where scales belong to an axis that it sums over, or its sums may be too long.
    """
    if not any(each(program, "dequantize_linear")):
        return
    uses, rewriter, unstable = Uses(program), Rewriter(program), Liveness.of(program).unstable
    outer = outermost(program)
    found: IdentityMap[Variable, Variable] = IdentityMap()
    replaced: list[Operator] = []
    for block, product in each(program, *_FILTERS, *_MATRICES):
        x, y = (_side(uses, unstable, v) for v in product.inputs[:2])
        if x is None or y is None or not _may_be_rescaled(product, x, y) or _too_long(product, x, y):
            continue
        lasting = x.scale.persistable and y.scale.persistable  # then once, not in each turn of a loop
        place = (outer[product], program.global_block()) if lasting else (product, block)
        with rewriter.before(*place, product):
            factor = _factor(product, x, y)
            dtype, _ = integers.exact((x.bits, y.bits))
            values = [_stored(side.integers, dtype) for side in (x, y)]
        with rewriter.before(product, block):
            made = _applied(product, [x.bits, y.bits], [*values, factor])
        made.stop_gradient = product.outputs[0].stop_gradient
        found[product.outputs[0]] = made
        replaced.append(product)
    rewriter.substitute(found)
    rewriter.erase(replaced)


def _side(uses: Uses, unstable: IdentitySet[Variable], variable: Variable) -> _Side | None:
    """A factor of a product, if it is a dequantized integer value."""
    back = uses.maker(variable, "dequantize_linear")
    if back is None or back.attrs["only_observer"]:
        return None
    source, scale, bits = back.inputs[0], back.inputs[1], back.attrs["bit_length"]
    axis = -1 if scale.spec.size == 1 else back.attrs["quant_axis"]
    if not integers.BITS[0] <= bits <= integers.BITS[1] or source in unstable or scale in unstable:
        return None
    if scale.dtype is not variable.dtype or scale.dtype.name not in ("float32", "float64"):
        return None
    maker = uses.made_by.get(source)
    if maker is not None and maker.opdef.name == "quantize_linear":
        own = maker.attrs
        if not own["is_test"] or own["only_observer"] or own["bit_length"] > bits:
            return None
    elif maker is not None or not _holds_integers(source, bits):
        return None
    return _Side(source, scale, axis, bits)


def _holds_integers(weight: Variable, bits: int) -> bool:
    """Whether all values of a weight are integers of these bits."""
    array = None if weight.tensor is None else weight.tensor._array
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "if" or array.dtype.itemsize < 1:
        return False
    if array.size == 0:
        return True
    limit = 1 << bits - 1
    whole = array.dtype.kind == "i" or bool((array == np.rint(array)).all())
    return whole and bool(array.min() >= -limit) and bool(array.max() <= limit)


def _may_be_rescaled(product: Operator, x: _Side, y: _Side) -> bool:
    """Whether no scale belongs to an axis that the product sums over."""
    if x.axis == y.axis == -1:
        return True
    name, attrs = product.opdef.name, product.attrs
    if name in _FILTERS:
        return x.axis == -1 and y.axis == _FILTERS[name]
    if x.axis == -1 and y.integers.spec.ndim == 2:
        if name == "mul":
            return y.axis == 1 and bool(attrs["y_num_col_dims"] == 1)
        return y.axis == (0 if attrs["trans_y"] else 1)
    if y.axis == -1 and x.integers.spec.ndim == 2 and y.integers.spec.ndim > 1:
        if name == "mul":
            return x.axis == 0 and bool(attrs["x_num_col_dims"] == 1)
        return x.axis == (1 if attrs["trans_x"] else 0)
    return False


def _too_long(product: Operator, x: _Side, y: _Side) -> bool:
    """Whether the sums are not exact in float64, as far as their length is known."""
    dtype, longest = integers.exact((x.bits, y.bits))
    name, shape = product.opdef.name, list(y.integers.spec.shape)
    if dtype == "float32" or not shape:
        return False
    if name in _FILTERS:
        shape.pop(_FILTERS[name])
    elif name == "mul":
        shape = shape[: product.attrs["y_num_col_dims"]]
    else:
        shape = shape[-1:] if product.attrs["trans_y"] else shape[-2:][:1]
    return math.prod(shape) > longest


def _factor(product: Operator, x: _Side, y: _Side) -> Variable:
    groups = product.attrs["groups"] if "transpose" in product.opdef.name and y.axis != -1 else 1
    factor: Variable = integers.integer_factor(x.scale, y.scale, bits=[x.bits, y.bits], repeats=groups)
    return factor if x.axis == -1 else reshape(factor, shape=[-1, 1])


def _applied(product: Operator, bits: list[int], given: list[Variable | None]) -> Variable:
    """The product of integers in place of ``product``, with the bias that a convolution may have."""
    opdef = OPS[f"{product.opdef.name.removesuffix('_fusion')}_integer"]
    given = [*given, *product.inputs[2:]]
    given += [None] * (len(opdef.inputs) - len(given))
    made: Variable = current().apply(opdef, tuple(given), {**product.attrs, "bits": bits})
    return made


def _stored(values: Variable, dtype: str) -> Variable:
    """Integers that a file stores in a small dtype, in the dtype of the product: folded, not run.

    Nothing is folded in an untrusted Program; there the operator converts them in each run.
    """
    if values.tensor is None or values.dtype.name == dtype or values.block.program.foreign:
        return values
    made: Variable = arithmetic.cast(values, out_dtype=dtype)
    return made
