"""OpDescs of images that are written with other operators here: deformable convolution, responses, boxes."""

from __future__ import annotations

import math
from typing import Any

from engine.core.errors import FormatError
from engine.program.graph.program import Variable
from engine.program.saved.paddle.reading import Step
from engine.program.saved.paddle.rows import reads


@reads("deformable_conv", "deformable_conv_v1")
def _(step: Step) -> None:
    """Images are sampled at moved points; the filters then take the samples as a depth of their own."""
    x, offset, weight = step.need("Input"), step.need("Offset"), step.need("Filter")
    mask, groups = step.one("Mask"), step.attr("deformable_groups", 1)
    if not 0 < groups <= max(x.shape[1], 1):
        raise FormatError(f"{groups} deformable groups of {x.spec}")

    def parts(value: Variable) -> list[Any]:
        if groups == 1:
            return [value]
        return list(step.run("split", value, axis=1, sections=[value.shape[1] // groups] * groups))

    names = ("strides", "paddings", "dilations")
    moves = {name: step.attr(name, [1, 1] if name != "paddings" else [0, 0]) for name in names}
    kernel = list(weight.shape[2:])
    masks = parts(mask) if mask is not None else [None] * groups
    read = []
    for image, moved, factor in zip(parts(x), parts(offset), masks, strict=True):
        points = step.run("deform_points", moved, ksize=kernel, **moves)
        values = step.run("sample_points", image, points, orders=[0, 0], nearest=False)
        if factor is not None:
            values = step.run("elementwise_mul", values, step.run("unsqueeze2", factor, axes=[1]))
        read.append(values)
    columns = step.run("concat", read, axis=1) if groups > 1 else read[0]
    filters = step.run("reshape2", weight, shape=[0, 0, math.prod(kernel), 1, 1])
    found = step.run(
        "conv3d",
        columns,
        filters,
        strides=[1, 1, 1],
        paddings=[0, 0, 0],
        padding_algorithm="EXPLICIT",
        dilations=[1, 1, 1],
        groups=step.attr("groups", 1),
        data_format="NCDHW",
    )
    step.give("Output", step.run("squeeze2", found, axes=[2]))


@reads("lrn")
def _(step: Step) -> None:
    """Each value over its channel neighbours' squares: x / (k + alpha * sum) ** beta."""
    x, n = step.need("X"), step.attr("n", 5)
    if step.attr("data_format", "NCHW") == "NHWC" or x.ndim != 4 or n < 1:
        raise FormatError(f"channels that come last, or {n} neighbours of {x.spec}, are not supported")
    squares = step.run("unsqueeze2", step.run("square", x), axes=[1])  # [N, 1, C, H, W]
    around = [0, 0, 0, 0, (n - 1) // 2, n - 1 - (n - 1) // 2]
    padded = step.run("pad3d", squares, paddings=around, mode="constant", value=0.0, data_format="NCDHW")
    mean = step.run(
        "pool3d",
        padded,
        ksize=[n, 1, 1],
        strides=[1, 1, 1],
        paddings=[0, 0, 0],
        pooling_type="avg",
        exclusive=False,
    )
    total = step.run("squeeze2", mean, axes=[1])
    middle = step.run("scale", total, scale=step.attr("alpha", 1e-4) * n, bias=step.attr("k", 2.0))
    power = step.run("pow", middle, factor=step.attr("beta", 0.75))
    step.give("Out", step.run("elementwise_div", x, power))
    step.give("MidOut", middle)


@reads("multiclass_nms", "multiclass_nms2", "multiclass_nms3")
def _(step: Step) -> None:
    names = (
        *("background_label", "score_threshold", "nms_top_k"),
        *("nms_threshold", "nms_eta", "keep_top_k", "normalized"),
    )
    attrs = {name: step.attr(name) for name in names if name in step.desc.attrs}
    for slot in ("RoisNum",):
        if step.one(slot) is not None:
            raise FormatError(f"its input {slot} is not supported")
    found, index, count = step.run("multiclass_nms3", step.need("BBoxes"), step.need("Scores"), **attrs)
    step.give("Out", found)
    step.give("Index", index)
    step.give("NmsRoisNum", count)


@reads("expand")
def _(step: Step) -> None:
    times = step.numbers(step.attr("expand_times", []), "ExpandTimes", "expand_times_tensor")
    if any(isinstance(t, Variable) for t in times):
        raise FormatError("repetitions that are tensors are not supported; save the model with numbers")
    step.give("Out", step.run("tile", step.need("X"), repeat_times=times))


@reads("isnan", "isinf")
def _(step: Step) -> None:
    step.give("Out", step.run("reduce_any", step.run(f"{step.desc.type}_v2", step.need("X"))))


@reads("grad_add", "minus")
def _(step: Step) -> None:
    name = "elementwise_sub" if step.desc.type == "minus" else "elementwise_add"
    step.give("Out", step.run(name, step.need("X"), step.need("Y")))
