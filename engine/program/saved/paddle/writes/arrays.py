"""Arrays whose sizes are values, lists that grow, and parts along an axis."""

from __future__ import annotations

from typing import Any

from engine.core.operators.operator import Operator
from engine.core.values.dtype import as_dtype
from engine.core.values.spec import Spec
from engine.program.saved.paddle.writes.generic import write_generic
from engine.program.saved.paddle.writes.rows import writes
from engine.program.saved.paddle.writes.writing import UnwritableError, Writing, only
from engine.program.text.describe import form_of

_END = 2147483647


def _sizes(w: Writing, full: Any, dims: Any, places: Any) -> list[str]:
    """A Variable of one element for each size: the given ones at ``places``, constants elsewhere."""
    given = {p: w.reshape(w.cast(d, "int32"), [1]) for p, d in zip(places, dims, strict=True)}
    return [given[n] if n in given else w.constant([size], "int32") for n, size in enumerate(full)]


def _open(full: Any) -> list[int]:
    return [n for n, size in enumerate(full) if size == -1]


@writes("reshape2_dims")
def _(w: Writing, o: Operator) -> None:
    (x, dims), out = o.inputs, only(o)
    shadow = w.new(Spec((0, *x.spec.shape), x.dtype), "xshape")
    names = _sizes(w, o.attrs["shape"], dims, o.attrs["places"])
    shape = [-1 if n in o.attrs["places"] else d for n, d in enumerate(o.attrs["shape"])]
    w.put("reshape2", {"X": x, "ShapeTensor": names}, {"Out": w.declare(out), "XShape": shadow}, shape=shape)


@writes("expand_v2_dims")
def _(w: Writing, o: Operator) -> None:
    x, dims = o.inputs
    names = _sizes(w, o.attrs["shape"], dims, o.attrs["places"])
    shape = [-1] * len(names)
    w.put("expand_v2", {"X": x, "expand_shapes_tensor": names}, {"Out": w.declare(only(o))}, shape=shape)


@writes("tile_dims")
def _(w: Writing, o: Operator) -> None:
    (x, dims), times = o.inputs, o.attrs["repeat_times"]
    names = _sizes(w, times, dims, _open(times))
    w.put(
        "tile",
        {"X": x, "repeat_times_tensor": names},
        {"Out": w.declare(only(o))},
        repeat_times=[-1] * len(names),
    )


@writes("fill_constant", "uniform_random", "gaussian_random", "randint")
def _(w: Writing, o: Operator) -> None:
    dims = next((v for i, v in o.opdef.named_inputs(o.inputs) if i.is_list), None)
    if not dims:
        write_generic(w, o)
        return
    shape = o.attrs["shape"]
    write_generic(w, o, inputs={"ShapeTensorList": _sizes(w, shape, dims, _open(shape))})


@writes("range_of")
def _(w: Writing, o: Operator) -> None:
    dtype = as_dtype(o.attrs["dtype"])
    slots = zip(("Start", "End", "Step"), o.inputs, strict=True)
    given = {slot: w.reshape(w.cast(v, dtype), [1]) for slot, v in slots}
    w.put("range", given, {"Out": w.declare(only(o))})


@writes("linspace_of")
def _(w: Writing, o: Operator) -> None:
    dtype = as_dtype(o.attrs["dtype"])
    start, stop, num = o.inputs
    work = dtype if dtype.is_floating_point else as_dtype("float64")
    given = {n: w.reshape(w.cast(v, work), [1]) for n, v in (("Start", start), ("Stop", stop))}
    given["Num"] = w.reshape(w.cast(num, "int32"), [1])
    made = w.emit("linspace", given, only(o).spec.with_dtype(work), dtype=work.number)
    w.give(only(o), w.cast(made, dtype))


@writes("reshape_as")
def _(w: Writing, o: Operator) -> None:
    (x, y), out = o.inputs, only(o)
    shadow = w.new(Spec((0, *x.spec.shape), x.dtype), "xshape")
    shape = list(out.spec.shape)
    w.put(
        "reshape2", {"X": x, "Shape": w.shape_of(y)}, {"Out": w.declare(out), "XShape": shadow}, shape=shape
    )


@writes("sum_to_like")
def _(w: Writing, o: Operator) -> None:
    x, y = o.inputs
    if not (x.spec.known and y.spec.known):
        raise UnwritableError("which axes it sums is known only when it runs")
    extra = x.ndim - y.ndim
    axes = [n for n, d in enumerate(x.spec.shape) if n < extra or (y.spec.shape[n - extra] == 1 and d != 1)]
    value = w.name(x)
    if axes:
        value = w.emit("reduce_sum", {"X": x}, y.spec, dim=axes, keep_dim=False, reduce_all=False)
    w.give(only(o), w.reshape(value, list(y.spec.shape)))


@writes("tile_like")
def _(w: Writing, o: Operator) -> None:
    x, like = o.inputs
    if not (x.spec.known and like.spec.known) or 0 in x.spec.shape:
        raise UnwritableError("how often it repeats is known only when it runs")
    have = (1,) * (like.ndim - x.ndim) + tuple(x.spec.shape)
    times = [a // b for a, b in zip(like.spec.shape, have, strict=True)]
    w.put("tile", {"X": x}, {"Out": w.declare(only(o))}, repeat_times=times)


# -- lists --------------------------------------------------------------------------------------------------
@writes("array_append")
def _(w: Writing, o: Operator) -> None:
    array, x = o.inputs
    row = w.unsqueeze(x, [0])
    if array.spec.shape[0] == 0:
        w.give(only(o), row)
        return
    w.put("concat", {"X": [_fitting(w, array, x), row]}, {"Out": w.declare(only(o))}, axis=0)


def _fitting(w: Writing, array: Any, x: Any) -> str:
    """A list whose elements have the shape of x: one without elements may have any other."""
    shape = w.shape_of(x)
    length = w.cut(w.shape_of(array), 0, 0, 1)
    wanted = w.concat([length, shape], 0, Spec((x.ndim + 1,), "int32"))
    made = w.new(array.spec, "list")
    shadow = w.new(Spec((0, *array.spec.shape), array.dtype), "xshape")
    w.put("reshape2", {"X": array, "Shape": wanted}, {"Out": made, "XShape": shadow}, shape=[-1])
    return made


@writes("write_to_array")
def _(w: Writing, o: Operator) -> None:
    array, x, i = o.inputs
    row = w.unsqueeze(x, [0])
    if array.spec.shape[0] == 0:
        w.give(only(o), row)
        return
    at = w.reshape(w.cast(i, "int64"), [1])
    fitting = _fitting(w, array, x)
    parts = []
    for start, end in ((w.constant([0], "int64"), at), (w.scale(at, bias=1.0), w.constant([_END], "int64"))):
        parts.append(
            w.emit(
                "slice",
                {"Input": fitting, "StartsTensorList": [start], "EndsTensorList": [end]},
                array.spec.with_shape([-1, *x.spec.shape]),
                axes=[0],
                starts=[-1],
                ends=[-1],
                infer_flags=[-1],
                decrease_axis=[],
            )
        )
    w.put("concat", {"X": [parts[0], row, parts[1]]}, {"Out": w.declare(only(o))}, axis=0)


# -- along an axis ------------------------------------------------------------------------------------------
@writes("repeat_interleave_with_tensor_index")
def _(w: Writing, o: Operator) -> None:
    x, repeats = o.inputs
    w.put(
        "repeat_interleave",
        {"X": x, "RepeatsTensor": repeats},
        {"Out": w.declare(only(o))},
        Repeats=0,
        dim=o.attrs["dim"],
    )


@writes("take_along_axis")
def _(w: Writing, o: Operator) -> None:
    x, indices = o.inputs
    if o.attrs["broadcast"]:
        raise UnwritableError("Paddle's take_along_axis does not broadcast")
    axis = o.attrs["axis"] % max(x.ndim, 1)
    w.put("take_along_axis", {"Input": x, "Index": indices}, {"Result": w.declare(only(o))}, Axis=axis)


@writes("put_along_axis")
def _(w: Writing, o: Operator) -> None:
    x, indices, values = o.inputs
    if o.attrs["broadcast"]:
        raise UnwritableError("Paddle's put_along_axis does not broadcast")
    if values.spec.shape != indices.spec.shape:
        values = w.emit(
            "expand_as_v2", {"X": values, "Y": indices}, values.spec.with_shape(indices.spec.shape)
        )
    w.put(
        "put_along_axis",
        {"Input": x, "Index": indices, "Value": values},
        {"Result": w.declare(only(o))},
        Axis=o.attrs["axis"],
        Reduce=o.attrs["reduce"],
        Include_self=o.attrs["include_self"],
    )


@writes("unique")
def _(w: Writing, o: Operator) -> None:
    write_generic(w, o, is_sorted=True)


@writes("where", "atan2", "nextafter", "elementwise_heaviside", "elementwise_fmax", "elementwise_fmin")
def _(w: Writing, o: Operator) -> None:
    """Paddle's have operands of one shape."""
    write_generic(w, o, inputs=spread_inputs(w, o))


def spread_inputs(w: Writing, o: Operator) -> dict[str, str]:
    """The inputs in the shape that they broadcast to, by slot; none where all have one shape."""
    if len({v.spec.shape for v in o.inputs}) == 1:
        return {}
    out, form = only(o), form_of(o)
    total = w.cast(o.inputs[0], "float32")
    for value in o.inputs[1:]:
        total = w.binary("add", total, w.cast(value, "float32"), out.spec.with_dtype("float32"))
    target = w.shape_of(total)
    return {
        form.slots_in.get(declared.slot, declared.slot): w.emit(
            "expand_v2", {"X": v, "Shape": target}, v.spec.with_shape(out.spec.shape), shape=[-1]
        )
        for declared, v in o.opdef.named_inputs(o.inputs)
    }
