"""Layers that are fused or quantized here, and those whose attributes Paddle has in another form."""

from __future__ import annotations

from typing import Any

from engine.core.operators.operator import Operator
from engine.core.values.spec import Spec
from engine.program.graph.program import Variable
from engine.program.saved.paddle.writes.generic import write_generic
from engine.program.saved.paddle.writes.rows import writes
from engine.program.saved.paddle.writes.writing import UnwritableError, Writing, only

_CONVOLUTION = ("strides", "paddings", "padding_algorithm", "dilations", "groups", "data_format")
_LEVELS = ("float32", "int8")  # of values that Paddle's dequantize_linear takes


def _by_channel(w: Writing, o: Operator, vector: Variable) -> str:
    """A vector of one element for each channel, so that it broadcasts to the result of a convolution."""
    if not o.attrs["data_format"].startswith("NC"):
        return w.name(vector)
    return w.reshape(vector, [1, -1, *[1] * (only(o).ndim - 2)])


def _finished(w: Writing, o: Operator, value: str, bias: Any) -> None:
    """The bias and the activation of a convolution."""
    out = only(o)
    relu = o.attrs["activation"] == "relu"
    if bias is not None:
        column = _by_channel(w, o, bias)
        if not relu:
            w.put("elementwise_add", {"X": value, "Y": column}, {"Out": w.declare(out)}, axis=-1)
            return
        value = w.binary("add", value, column, out.spec)
    w.put("relu" if relu else "assign", {"X": value}, {"Out": w.declare(out)})


@writes("conv2d_fusion", "depthwise_conv2d_fusion", "conv3d_fusion")
def _(w: Writing, o: Operator) -> None:
    x, weight, bias = o.inputs
    attrs = {name: o.attrs[name] for name in _CONVOLUTION}
    kind = o.opdef.name.removesuffix("_fusion")
    value = w.emit(kind, {"Input": x, "Filter": weight}, only(o).spec, "Output", **attrs)
    _finished(w, o, value, bias)


@writes(
    "conv2d_integer",
    "depthwise_conv2d_integer",
    "conv2d_transpose_integer",
    "depthwise_conv2d_transpose_integer",
)
def _(w: Writing, o: Operator) -> None:
    x, weight, factor, bias = o.inputs
    out, kind = only(o), o.opdef.name.removesuffix("_integer")
    names = [*_CONVOLUTION, *(("output_padding", "output_size") if "transpose" in kind else ())]
    attrs = {name: o.attrs[name] for name in names}
    inputs = {"Input": w.cast(x, out.dtype), "Filter": w.cast(weight, out.dtype)}
    value = w.emit(kind, inputs, out.spec, "Output", **attrs)
    value = w.binary("mul", value, _by_channel(w, o, factor), out.spec)
    _finished(w, o, value, bias)


@writes("mul_integer", "matmul_v2_integer")
def _(w: Writing, o: Operator) -> None:
    x, y, factor = o.inputs
    out, kind = only(o), o.opdef.name.removesuffix("_integer")
    names = ("x_num_col_dims", "y_num_col_dims") if kind == "mul" else ("trans_x", "trans_y")
    attrs = {name: o.attrs[name] for name in names}
    value = w.emit(kind, {"X": w.cast(x, out.dtype), "Y": w.cast(y, out.dtype)}, out.spec, **attrs)
    if kind == "mul" and factor.spec.shape not in ((1,), out.spec.shape[-1:]):
        raise UnwritableError("its factor is one for each row")
    if factor.spec.shape == (1,):
        factor = w.reshape(factor, [])
    w.put("elementwise_mul", {"X": value, "Y": factor}, {"Out": w.declare(out)}, axis=-1)


@writes("integer_factor")
def _(w: Writing, o: Operator) -> None:
    x, y = o.inputs
    out = only(o)
    largest = [float((1 << (bits - 1)) - 1) for bits in o.attrs["bits"]]
    flat = [w.cast(w.reshape(v, [-1]), "float64") for v in (x, y)]
    both = w.binary("mul", flat[0], flat[1], Spec((-1,), "float64"))
    factor = w.cast(w.scale(both, 1.0 / (largest[0] * largest[1])), out.dtype)
    repeats = o.attrs["repeats"]
    w.put("tile", {"X": factor}, {"Out": w.declare(out)}, repeat_times=[repeats])


@writes("quantize_linear", "dequantize_linear")
def _(w: Writing, o: Operator) -> None:
    """Paddle demands zero points, which it does not read."""
    x, scale, zeros = o.inputs[:3]
    if o.opdef.name == "quantize_linear" and not o.attrs["is_test"]:
        raise UnwritableError("it changes its scale: call eval() on the network first")
    given: dict[str, Any] = {}
    if zeros is None:
        size = scale.spec.shape or (1,)
        given["ZeroPoint"] = w.full([max(d, 1) for d in size], 0, "float32")
    if x.dtype.name not in _LEVELS:
        given["X"] = w.cast(x, "float32")
    extra: dict[str, Any] = {"moving_rate": None} if o.opdef.name == "quantize_linear" else {}
    write_generic(w, o, inputs=given, **extra)


@writes("sync_batch_norm")
def _(w: Writing, o: Operator) -> None:
    if not o.attrs["is_test"]:
        raise UnwritableError("it joins the processes of a training: call eval() on the network first")
    write_generic(w, o, "batch_norm")


@writes("pool2d", "pool3d")
def _(w: Writing, o: Operator) -> None:
    """Paddle's own adaptive maximum is that of another operator."""
    if not (o.attrs["adaptive"] and o.attrs["pooling_type"] == "max") or o.attrs.get("global_pooling"):
        write_generic(w, o)
        return
    [x], rank = [v for v in o.inputs if isinstance(v, Variable)], o.inputs[0].ndim - 2
    out = only(o)
    last = not o.attrs["data_format"].startswith("NC")
    value: Any = w.transpose(x, [0, rank + 1, *range(1, rank + 1)]) if last else x
    mask = w.new(out.spec.with_dtype("int32"), "mask")
    made = w.new(out.spec, "pooled") if last else w.declare(out)
    w.put(
        f"max_pool{rank}d_with_index",
        {"X": value},
        {"Out": made, "Mask": mask},
        ksize=o.attrs["ksize"],
        strides=[1] * rank,
        paddings=[0] * rank,
        adaptive=True,
        global_pooling=False,
    )
    if last:
        w.put("transpose2", {"X": made}, {"Out": w.declare(out)}, axis=[0, *range(2, rank + 2), 1])


@writes("max_pool2d_with_index", "max_pool3d_with_index")
def _(w: Writing, o: Operator) -> None:
    paddings, rank = list(o.attrs["paddings"]), o.inputs[0].ndim - 2
    if len(paddings) == 2 * rank:
        if paddings[::2] != paddings[1::2]:
            raise UnwritableError(f"Paddle pads both ends of an axis alike, not by {paddings}")
        paddings = paddings[::2]
    write_generic(w, o, paddings=paddings)


@writes(*(f"{kind}_interp_v2" for kind in ("nearest", "bilinear", "trilinear", "bicubic", "linear")))
def _(w: Writing, o: Operator) -> None:
    """Paddle has a scale for each axis."""
    scale, rank = o.attrs.get("scale"), o.inputs[0].ndim - 2
    if isinstance(scale, (list, tuple)) and len(scale) == 1:
        write_generic(w, o, scale=[scale[0]] * rank)
    else:
        write_generic(w, o)


@writes("frobenius_norm")
def _(w: Writing, o: Operator) -> None:
    axes = list(o.attrs["dim"] or range(o.inputs[0].ndim))
    write_generic(w, o, dim=axes)


@writes("segment_pool")
def _(w: Writing, o: Operator) -> None:
    if o.inputs[2] is not None or o.attrs["size"] > 0 or not o.attrs["rising"]:
        raise UnwritableError("Paddle's has as many rows as the numbers ask for, which must rise")
    write_generic(w, o, size=None, rising=None)
