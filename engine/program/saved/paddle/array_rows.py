"""OpDescs of shapes, slices and constants, whose sizes may be attributes or tensors."""

from __future__ import annotations

import math
from typing import Any

from engine.core.errors import FormatError
from engine.core.values.dtype import as_dtype
from engine.program.graph.program import Variable
from engine.program.saved.paddle.generic import DTYPES, opdef_of, refuse_unread
from engine.program.saved.paddle.reading import Step
from engine.program.saved.paddle.rows import reads

_ENDLESS = 2147483647
_ALL: list[Any] = ["slice", None, None, None]


def dtype_of(step: Step, name: str = "dtype", default: int = 5) -> str:
    """The data type that an attribute gives by its number."""
    number = step.attr(name, default)
    if number not in DTYPES:
        raise FormatError(f"attribute {name} is the unknown data type {number!r:.40}")
    return DTYPES[number]


@reads("reshape2", "reshape")
def _(step: Step) -> None:
    x, sizes = step.need("X"), step.numbers(step.attr("shape", []), "Shape", "ShapeTensor")
    step.give("Out", reshaped(step, x, sizes))


@reads("view_shape")
def _(step: Step) -> None:
    step.give("out", reshaped(step, step.need("input"), step.attr("dims", [])))


def reshaped(step: Step, x: Variable, sizes: list[int | Variable]) -> Any:
    """x in another shape; one size that only a run knows follows from the others."""
    later = [n for n, d in enumerate(sizes) if isinstance(d, Variable)]
    shape = [-1 if isinstance(d, Variable) else d for d in sizes]
    if shape.count(-1) <= 1:
        return step.run("reshape2", x, shape=shape)
    return step.run("reshape2_dims", x, [sizes[n] for n in later], shape=shape, places=later)


@reads("transpose")
def _(step: Step) -> None:
    step.give("Out", step.run("transpose2", step.need("X"), axis=step.attr("axis")))


@reads("flatten2")
def _(step: Step) -> None:
    x, axis = step.need("X"), step.attr("axis", 1)
    if axis == 0:
        step.give("Out", step.run("reshape2", x, shape=[1, -1]))
        return
    if axis > 1:
        x = step.run("flatten_contiguous_range", x, start_axis=0, stop_axis=axis - 1)
    if x.ndim == 1:
        x = step.run("unsqueeze2", x, axes=[1])
    step.give("Out", step.run("flatten_contiguous_range", x, start_axis=1, stop_axis=-1))


@reads("slice", "strided_slice")
def _(step: Step) -> None:
    x, axes = step.need("Input"), step.attr("axes", [])
    starts = step.numbers(step.attr("starts", []), "StartsTensor", "StartsTensorList")
    ends = step.numbers(step.attr("ends", []), "EndsTensor", "EndsTensorList")
    steps = step.numbers(step.attr("strides", [1] * len(axes)), "StridesTensor", "StridesTensorList")
    for n, by in enumerate(steps):  # -1 backwards: up to the first element
        if len(steps) == len(ends) and isinstance(by, int) and by < 0 and _is(ends[n], -1):
            ends[n] = -_ENDLESS
    values: list[Variable] = []
    index = slices(x.ndim, axes, starts, ends, steps, step.attr("decrease_axis", []), values)
    found = step.run("getitem", x, values, index=index) if values else step.run("slice_view", x, index=index)
    step.give("Out", found)


def slices(
    ndim: int,
    axes: list[int],
    starts: list[Any],
    ends: list[Any],
    steps: list[Any],
    dropped: list[int],
    values: list[Variable],
) -> list[Any]:
    """The index that bounds along axes stand for; Variables among them are added to ``values``."""
    if not len(axes) == len(starts) == len(ends) == len(steps):
        raise FormatError(
            f"{len(axes)} axes with {len(starts)} starts, {len(ends)} ends and {len(steps)} strides"
        )

    def bound(value: Any) -> Any:
        if not isinstance(value, Variable):
            return value
        values.append(value)
        return ["number", len(values) - 1]

    index: list[Any] = [_ALL] * ndim
    dropped = [axis + ndim if axis < 0 else axis for axis in dropped]
    for axis, start, end, by in zip(axes, starts, ends, steps, strict=True):
        place = axis + ndim if axis < 0 else axis
        if not 0 <= place < ndim:
            raise FormatError(f"axis {axis} of {ndim} dimensions")
        if place in dropped:
            index[place] = bound(start)
            continue
        forward = isinstance(by, Variable) or by > 0
        first = None if _is(start, 0) and forward else bound(start)
        last = None if not isinstance(end, Variable) and end >= _ENDLESS and forward else bound(end)
        index[place] = ["slice", first, last, None if _is(by, 1) else bound(by)]
    return index


def _is(value: Any, number: int) -> bool:
    """Whether a bound is a known number; comparing a Variable would build an operator."""
    return not isinstance(value, Variable) and bool(value == number)


@reads("set_value")
def _(step: Step) -> None:
    x, axes = step.need("Input"), step.attr("axes", [])
    starts = step.numbers(step.attr("starts", []), "", "StartsTensorList")
    ends = step.numbers(step.attr("ends", []), "", "EndsTensorList")
    steps = step.numbers(step.attr("steps", [1] * len(axes)), "", "StepsTensorList")
    values: list[Variable] = []
    index = slices(x.ndim, axes, starts, ends, steps, step.attr("decrease_axes", []), values)
    for place in sorted(step.attr("none_axes", [])):
        index.insert(place, None)
    value = step.one("ValueTensor")
    if value is None:
        given = list(step.attr("values", []))
        for name in ("bool_values", "int32_values", "int64_values", "fp32_values", "fp64_values"):
            given = given or step.attr(name, [])
        value = step.run("assign_value", shape=step.attr("shape", [1]), values=given, dtype=x.dtype.name)
    if value.dtype is not x.dtype:
        value = step.run("cast", value, out_dtype=x.dtype.name)
    step.give("Out", step.run("set_value", x, value, values, index=index))


@reads("split")
def _(step: Step) -> None:
    x, sections = step.need("X"), step.attr("sections", [])
    axis: Any = step.numbers([step.attr("axis", 0)], "AxisTensor")[0]
    lengths: list[Any] = step.numbers(sections, "", "SectionsTensorList")
    number = step.attr("num", 0)
    if number or not any(isinstance(v, Variable) for v in (axis, *lengths)):
        if not number and -1 in lengths and x.shape[axis] >= 0:
            lengths[lengths.index(-1)] = x.shape[axis] - sum(lengths) - 1
        step.give("Out", list(step.run("split", x, axis=axis, sections=number or lengths)))
        return
    if isinstance(axis, Variable):
        raise FormatError("an axis that only a run knows, with lengths, is not supported")
    step.give("Out", _parts(step, x, axis + x.ndim if axis < 0 else axis, lengths))


def _parts(step: Step, x: Variable, axis: int, lengths: list[Any]) -> list[Any]:
    """Parts of x whose lengths a run knows, one slice after another."""
    found = []
    start: Any = 0
    for n, length in enumerate(lengths):
        values: list[Variable] = []
        end: Any = _ENDLESS
        if n + 1 < len(lengths):
            end = _sum(step, start, length)
        index = slices(x.ndim, [axis], [start], [end], [1], [], values)
        found.append(step.run("getitem", x, values, index=index))
        start = end
    return found


def _sum(step: Step, a: Any, b: Any) -> Any:
    """a + b, of integers and Variables of one element."""
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    if isinstance(a, int):
        a, b = b, a
    if isinstance(b, int):
        return step.run("scale", a, bias=b)
    both = [step.run("cast", step.run("reshape2", v, shape=[]), out_dtype="int64") for v in (a, b)]
    return step.run("elementwise_add", *both)


@reads("unbind")
def _(step: Step) -> None:
    count = len(step.desc.outputs.get("Out", []))
    step.give("Out", list(step.run("unstack", step.need("X"), axis=step.attr("axis", 0), num=count)))


@reads("expand_v2")
def _(step: Step) -> None:
    sizes = step.numbers(step.attr("shape", []), "Shape", "expand_shapes_tensor")
    step.give("Out", expanded(step, step.need("X"), sizes))


def expanded(step: Step, x: Variable, sizes: list[int | Variable]) -> Any:
    """x repeated along dimensions of size 1, to sizes of which a run knows some."""
    later = [n for n, d in enumerate(sizes) if isinstance(d, Variable)]
    shape = [-1 if isinstance(d, Variable) else d for d in sizes]
    if not later:
        return step.run("expand_v2", x, shape=shape)
    return step.run("expand_v2_dims", x, [sizes[n] for n in later], shape=shape, places=later)


@reads("expand_as_v2")
def _(step: Step) -> None:
    like = step.one("Y")
    sizes = step.attr("target_shape", []) if like is None else sizes_of(step, like)
    step.give("Out", expanded(step, step.need("X"), sizes))


def sizes_of(step: Step, x: Variable) -> list[int | Variable]:
    """The dimensions of x, with Variables for those that a run knows."""
    return list(x.shape) if x.spec.known else step.elements(step.run("shape", x))


@reads("tile")
def _(step: Step) -> None:
    x = step.need("X")
    times = step.numbers(step.attr("repeat_times", []), "RepeatTimes", "repeat_times_tensor")
    later = [t for t in times if isinstance(t, Variable)]
    shown = [-1 if isinstance(t, Variable) else t for t in times]
    step.give(
        "Out",
        step.run("tile_dims", x, later, repeat_times=shown)
        if later
        else step.run("tile", x, repeat_times=shown),
    )


@reads("fill_constant")
def _(step: Step) -> None:
    dtype = dtype_of(step)
    sizes = step.numbers(step.attr("shape", []), "ShapeTensor", "ShapeTensorList")
    given = step.one("ValueTensor")
    known = None if given is None else step.known(given)
    if given is not None and known is None:
        value = step.run("reshape2", step.run("cast", given, out_dtype=dtype), shape=[1] * len(sizes))
        step.give("Out", expanded(step, value, sizes))
        return
    number = step.attr("str_value") or step.attr("value", 0.0)
    number = known.reshape(-1)[0].item() if known is not None else number
    step.give("Out", filled(step, sizes, constant(number, dtype), dtype))


def constant(value: float | str, dtype: str) -> float:
    """A number, perhaps as text, as one of a data type."""
    kind = as_dtype(dtype)
    if kind.is_complex:
        raise FormatError("constants of complex numbers are not supported")
    try:
        number = int(value) if isinstance(value, str) and kind.is_integer else float(value)
    except ValueError:
        try:
            number = float(value)
        except ValueError as cause:
            raise FormatError(f"its value is {value!r:.40}, which is not a number") from cause
    if kind.name == "bool":
        return bool(number)
    if kind.is_integer:
        if not math.isfinite(number):
            raise FormatError(f"its value is {value!r:.40}, which is not an integer")
        return int(number)
    return float(number)


def filled(step: Step, sizes: list[int | Variable], value: float, dtype: str) -> Any:
    """A tensor of one value."""
    later = [d for d in sizes if isinstance(d, Variable)]
    shape = [-1 if isinstance(d, Variable) else d for d in sizes]
    if any(d < 0 for d, size in zip(shape, sizes, strict=True) if not isinstance(size, Variable)):
        raise FormatError(f"its shape {shape} has a negative size")
    return step.run("fill_constant", later or None, shape=shape, value=value, dtype=dtype)


@reads("fill", "empty")
def _(step: Step) -> None:
    sizes = step.numbers(step.attr("shape", []), "ShapeTensor", "ShapeTensorList")
    values = step.attr("value", [0.0])
    if not isinstance(values, list) or len(set(values)) != 1:
        raise FormatError("a constant of several values is not supported")
    dtype = dtype_of(step)
    step.give("Out", filled(step, sizes, constant(values[0], dtype), dtype))


@reads("fill_zeros_like", "fill_any")
def _(step: Step) -> None:
    x, value = step.need("X"), step.attr("value", 0.0)
    step.give("Out", step.run("fill_any_like", x, value=constant(value, x.dtype.name)))


@reads("assign_value")
def _(step: Step) -> None:
    dtype = dtype_of(step)
    kinds = {"bool": "bool", "int32": "int32", "int64": "int64", "float32": "fp32", "float64": "fp64"}
    if dtype not in kinds:
        raise FormatError(f"constants of {dtype} are not supported")
    values = step.attr(f"{kinds[dtype]}_values", [])
    if dtype == "bool":
        values = [bool(v) for v in values]
    step.give("Out", step.run("assign_value", shape=step.attr("shape", []), values=values, dtype=dtype))


@reads("uniform_random", "gaussian_random", "randint", "truncated_gaussian_random")
def _(step: Step) -> None:
    name = step.desc.type
    opdef = opdef_of(name)
    assert opdef is not None, "all three are operators of ours"
    sizes = step.numbers(step.attr("shape", []), "ShapeTensor", "ShapeTensorList")
    names = [n for n in opdef.attributes if n in step.desc.attrs and n not in ("shape", "dtype")]
    attrs = {n: step.attr(n) for n in names} | {"dtype": dtype_of(step)}
    shape = [-1 if isinstance(d, Variable) else d for d in sizes]
    later = [d for d in sizes if isinstance(d, Variable)]
    step.give("Out", step.run(name, *([later or None] if opdef.inputs else []), shape=shape, **attrs))


@reads("range")
def _(step: Step) -> None:
    bounds = [step.need(slot) for slot in ("Start", "End", "Step")]
    known = [value for value in map(step.known, bounds) if value is not None]
    dtype = as_dtype(dtype_of(step)) if "dtype" in step.desc.attrs else bounds[0].dtype
    if len(known) == len(bounds):
        first, last, by = (value.reshape(-1)[0].item() for value in known)
        step.give("Out", step.run("range", start=first, end=last, step=by, dtype=dtype.name))
    else:
        step.give("Out", step.run("range_of", *bounds, dtype=dtype.name))


@reads("linspace")
def _(step: Step) -> None:
    bounds = [step.need(slot) for slot in ("Start", "Stop", "Num")]
    step.give("Out", step.run("linspace_of", *bounds, dtype=dtype_of(step)))


@reads("eye")
def _(step: Step) -> None:
    rows, columns = step.attr("num_rows", 0), step.attr("num_columns", -1)
    columns = rows if columns < 0 else columns
    least, dtype = min(rows, columns), dtype_of(step)
    found = step.run("fill_constant", None, shape=[least], value=constant(1, dtype), dtype=dtype)
    found = step.run("diag_v2", found)
    if rows != columns:
        found = step.run("pad", found, paddings=[0, rows - least, 0, columns - least])
    step.give("Out", found)


@reads("logspace")
def _(step: Step) -> None:
    bounds = [step.need(slot) for slot in ("Start", "Stop", "Num")]
    dtype = dtype_of(step)
    powers = step.run("linspace_of", *bounds, dtype=dtype)
    base = step.run("cast", step.need("Base"), out_dtype=dtype)
    step.give("Out", step.run("elementwise_pow", base, powers))


@reads("index_put")
def _(step: Step) -> None:
    x, indices, value = step.need("x"), step.many("indices"), step.need("value")
    if step.attr("accumulate", False):
        raise FormatError("values that are added up are not supported")
    index = [["tensor", n] for n in range(len(indices))]
    step.give("out", step.run("set_value", x, value, indices, index=index))


@reads("repeat_interleave")
def _(step: Step) -> None:
    x, times, axis = step.need("X"), step.one("RepeatsTensor"), step.attr("dim", 0)
    if times is not None:
        found = step.run("repeat_interleave_with_tensor_index", x, times, dim=axis)
    else:
        found = step.run("repeat_interleave", x, repeats=step.attr("Repeats", 1), axis=axis)
    step.give("Out", found)


@reads("size")
def _(step: Step) -> None:
    x = step.need("Input")
    if x.spec.known:
        found = step.run("fill_constant", None, shape=[], value=math.prod(x.shape), dtype="int64")
    else:
        found = step.run("reduce_prod", step.run("cast", step.run("shape", x), out_dtype="int64"))
    step.give("Out", found)


@reads("broadcast_tensors")
def _(step: Step) -> None:
    xs = step.many("X")
    total = xs[0]
    for x in xs[1:]:
        total = step.run("elementwise_add", total, x)
    sizes = sizes_of(step, total)
    step.give("Out", [expanded(step, x, sizes) for x in xs])


@reads("crop_tensor")
def _(step: Step) -> None:
    x = step.need("X")
    sizes: list[Any] = step.numbers(step.attr("shape", []), "Shape", "ShapeTensor")
    offsets: list[Any] = step.numbers(step.attr("offsets", []) or [0] * x.ndim, "Offsets", "OffsetsTensor")
    if any(isinstance(v, Variable) for v in (*sizes, *offsets)):
        raise FormatError("sizes that are tensors are not supported; save the model with numbers")
    ends = [_ENDLESS if size == -1 else first + size for first, size in zip(offsets, sizes, strict=True)]
    index = slices(x.ndim, list(range(x.ndim)), offsets, ends, [1] * x.ndim, [], [])
    step.give("Out", step.run("slice_view", x, index=index))


@reads("pad2d")
def _(step: Step) -> None:
    refuse_unread(step) if step.desc.inputs.get("Paddings") else None
    x, (top, bottom, left, right) = step.need("X"), step.attr("paddings", [0, 0, 0, 0])
    channels_last = step.attr("data_format", "NCHW") == "NHWC"
    depth = 1 if channels_last else 2
    mode = {"edge": "replicate"}.get(step.attr("mode", "constant"), step.attr("mode", "constant"))
    padded = step.run(
        "pad3d",
        step.run("unsqueeze2", x, axes=[depth]),
        paddings=[left, right, top, bottom, 0, 0],
        mode=mode,
        value=step.attr("pad_value", 0.0),
        data_format="NDHWC" if channels_last else "NCDHW",
    )
    step.give("Out", step.run("squeeze2", padded, axes=[depth]))
