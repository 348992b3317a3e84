"""OpDescs of arithmetic, reductions and layers that are written with other operators here."""

from __future__ import annotations

from typing import Any

from engine.core.errors import FormatError
from engine.program.saved.paddle.array_rows import constant, dtype_of
from engine.program.saved.paddle.generic import DTYPES, read_generic
from engine.program.saved.paddle.reading import Step
from engine.program.saved.paddle.rows import reads


@reads("reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod", "reduce_all", "reduce_any")
def _(step: Step) -> None:
    x, out = step.need("X"), step.attr("out_dtype", -1)
    if out >= 0 and dtype_of(step, "out_dtype") != x.dtype.name:
        x = step.run("cast", x, out_dtype=DTYPES[out])
    elif out < 0 and step.desc.type == "reduce_sum" and x.dtype.name in ("bool", "int32"):
        x = step.run("cast", x, out_dtype="int64")  # as Paddle counts
    axis = step.attr("dim", [])
    axes = step.numbers([axis] if isinstance(axis, int) else axis, "AxisTensor", "AxisTensorList")
    everything = step.attr("reduce_all", False) or not axes
    keepdim = step.attr("keep_dim", False)
    step.give("Out", step.run(step.desc.type, x, axis=[] if everything else axes, keepdim=keepdim))


@reads(
    *(
        f"elementwise_{n}"
        for n in [
            "add",
            "sub",
            "mul",
            "div",
            "max",
            "min",
            "pow",
            "mod",
            "floordiv",
            "fmax",
            "fmin",
            "heaviside",
        ]
    )
)
def _(step: Step) -> None:
    """``axis`` is the dimension of x that the first one of y belongs to; -1: the last ones agree."""
    x, y, axis = step.need("X"), step.need("Y"), step.attr("axis", -1)
    if axis == -1 or x.ndim - y.ndim == axis:
        step.give("Out", step.run(step.desc.type, x, y))
        return
    while y.ndim > 1 and y.shape[-1] == 1:
        y = step.run("squeeze2", y, axes=[-1])
    behind = x.ndim - y.ndim - axis
    if y.ndim and behind:
        if not 0 <= axis < x.ndim or behind < 0:
            raise FormatError(f"axis {axis} for {x.spec} and {y.spec}")
        y = step.run("unsqueeze2", y, axes=list(range(y.ndim, y.ndim + behind)))
    step.give("Out", step.run(step.desc.type, x, y))


@reads("mean")
def _(step: Step) -> None:
    step.give("Out", step.run("reduce_mean", step.need("X")))


@reads("increment")
def _(step: Step) -> None:
    x = step.need("X")
    bias = constant(step.attr("step", 1.0), x.dtype.name)
    step.give("Out", step.run("scale", x, scale=1, bias=bias))


@reads("matmul")
def _(step: Step) -> None:
    found = step.run(
        "matmul_v2",
        step.need("X"),
        step.need("Y"),
        trans_x=step.attr("transpose_X", False),
        trans_y=step.attr("transpose_Y", False),
    )
    alpha = step.attr("alpha", 1.0)
    step.give("Out", found if alpha == 1 else step.run("scale", found, scale=alpha))


@reads("fc")
def _(step: Step) -> None:
    found = step.run(
        "mul",
        step.need("Input"),
        step.need("W"),
        x_num_col_dims=step.attr("in_num_col_dims", 1),
        y_num_col_dims=1,
    )
    bias, activation = step.one("Bias"), step.attr("activation_type", "")
    if step.attr("padding_weights", False) or activation not in ("", "relu"):
        raise FormatError(f"padded weights or the activation {activation!r:.40} are not supported")
    if bias is not None:
        bias = bias if bias.ndim == 1 else step.run("reshape2", bias, shape=[-1])
        found = step.run("elementwise_add", found, bias)
    step.give("Out", step.run("relu", found) if activation else found)


@reads("lookup_table")
def _(step: Step) -> None:
    ids = step.run("squeeze2", step.need("Ids"), axes=[-1])
    padding = step.attr("padding_idx", -1)
    step.give("Out", step.run("lookup_table_v2", ids, step.need("W"), padding_idx=padding))


@reads("top_k")
def _(step: Step) -> None:
    [k] = step.numbers([step.attr("k", 1)], "K")
    values, indices = step.run("top_k_v2", step.need("X"), k=k)
    step.give("Out", values)
    step.give("Indices", indices)


@reads("norm")
def _(step: Step) -> None:
    x, axis = step.need("X"), step.attr("axis", -1)
    total = step.run("reduce_sum", step.run("square", x), axis=[axis], keepdim=True)
    length = step.run("sqrt", step.run("scale", total, bias=step.attr("epsilon", 1e-10)))
    step.give("Out", step.run("elementwise_div", x, length))
    step.give("Norm", length)


@reads("reverse")
def _(step: Step) -> None:
    step.give("Out", step.run("flip", step.need("X"), axis=step.attr("axis", [])))


@reads("trace")
def _(step: Step) -> None:
    attrs = {name: step.attr(name, default) for name, default in (("offset", 0), ("axis1", 0), ("axis2", 1))}
    step.give("Out", step.run("reduce_sum", step.run("diagonal", step.need("Input"), **attrs), axis=[-1]))


@reads("equal_all")
def _(step: Step) -> None:
    step.give("Out", step.run("reduce_all", step.run("equal", step.need("X"), step.need("Y"))))


@reads("dist")
def _(step: Step) -> None:
    difference = step.run("elementwise_sub", step.need("X"), step.need("Y"))
    norm = step.run("p_norm", difference, porder=step.attr("p", 2.0), asvector=True)
    step.give("Out", norm)


@reads("label_smooth")
def _(step: Step) -> None:
    x, epsilon = step.need("X"), step.attr("epsilon", 0.0)
    prior = step.one("PriorDist")
    scaled = step.run("scale", x, scale=1 - epsilon, bias=0.0 if prior else epsilon / x.shape[-1])
    if prior is not None:
        scaled = step.run("elementwise_add", scaled, step.run("scale", prior, scale=epsilon))
    step.give("Out", scaled)


@reads("maxout")
def _(step: Step) -> None:
    x, groups, axis = step.need("X"), step.attr("groups", 1), step.attr("axis", 1)
    axis = axis + x.ndim if axis < 0 else axis
    if x.shape[axis] < 0 or x.shape[axis] % groups:
        raise FormatError(f"{groups} groups of {x.spec} along axis {axis}")
    shape = [0] * axis + [x.shape[axis] // groups, groups, *x.shape[axis + 1 :]]
    step.give("Out", step.run("reduce_max", step.run("reshape2", x, shape=shape), axis=[axis + 1]))


@reads("shuffle_channel")
def _(step: Step) -> None:
    step.give("Out", step.run("channel_shuffle", step.need("X"), groups=step.attr("group", 1)))


@reads("affine_channel")
def _(step: Step) -> None:
    x = step.need("X")
    after = 0 if step.attr("data_layout", "NCHW") == "NHWC" else x.ndim - 2
    scale, bias = (
        step.run("reshape2", step.need(slot), shape=[-1] + [1] * after) for slot in ("Scale", "Bias")
    )
    step.give("Out", step.run("elementwise_add", step.run("elementwise_mul", x, scale), bias))


@reads("bilinear_interp", "nearest_interp", "trilinear_interp", "bicubic_interp", "linear_interp")
@reads(
    "bilinear_interp_v2", "nearest_interp_v2", "trilinear_interp_v2", "bicubic_interp_v2", "linear_interp_v2"
)
def _(step: Step) -> None:
    x = step.need("X")
    name = step.desc.type.removesuffix("_v2") + "_v2"
    attrs: dict[str, Any] = {
        n: step.attr(n)
        for n in ("data_layout", "interp_method", "align_corners", "align_mode")
        if n in step.desc.attrs
    }
    scale = step.attr("scale", [])
    attrs["scale"] = [scale] if isinstance(scale, float) and scale > 0 else scale or []
    names = {3: ("out_w",), 4: ("out_h", "out_w"), 5: ("out_d", "out_h", "out_w")}.get(x.ndim, ())
    sizes = step.numbers([step.attr(n, -1) for n in names], "", "SizeTensor")
    out, factor = step.one("OutSize"), step.one("Scale")
    if len(sizes) != len(names):
        raise FormatError(f"{len(sizes)} sizes for {x.spec}")
    if any(not isinstance(v, int) for v in sizes):
        parts = [
            v
            if not isinstance(v, int)
            else step.run("fill_constant", None, shape=[1], value=v, dtype="int32")
            for v in sizes
        ]
        parts = [step.run("reshape2", step.run("cast", v, out_dtype="int32"), shape=[1]) for v in parts]
        out = step.run("concat", parts)
    else:
        attrs |= dict(zip(names, sizes, strict=True))
    step.give("Out", step.run(name, x, out, factor, **attrs))


@reads(
    "memcpy",
    "memcpy_h2d",
    "memcpy_d2h",
    "transfer_layout",
    "transfer_dtype",
    "share_buffer",
    "depend",
    "npu_identity",
)
def _(step: Step) -> None:
    found = step.run("assign", step.many("X")[0] if "X" in step.desc.inputs else step.need("x"))
    step.give("Out" if "Out" in step.desc.outputs else "out", found)


@reads("assign")
def _(step: Step) -> None:
    step.give("Out", step.run("assign", step.need("X")))


@reads("shape")
def _(step: Step) -> None:
    step.give("Out", step.run("shape", step.need("Input")))


@reads("print")
def _(step: Step) -> None:
    step.give("Out", step.run("print_tensor", step.need("In"), message=step.attr("message", "")))


@reads("dropout")
def _(step: Step) -> None:
    step.accept("Seed")
    read_generic(step)


@reads("multi_dot")
def _(step: Step) -> None:
    first, *rest = step.many("X")
    for x in rest:
        first = step.run("matmul_v2", first, x)
    step.give("Out", first)


@reads("log_loss")
def _(step: Step) -> None:
    x, label, epsilon = step.need("Predicted"), step.need("Labels"), step.attr("epsilon", 1e-4)
    yes = step.run("elementwise_mul", label, step.run("log", step.run("scale", x, bias=epsilon)))
    other = step.run("log", step.run("scale", x, scale=-1, bias=1 + epsilon))
    no = step.run("elementwise_mul", step.run("scale", label, scale=-1, bias=1), other)
    step.give("Loss", step.run("scale", step.run("elementwise_add", yes, no), scale=-1))
