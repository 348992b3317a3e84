"""How Paddle 2.6.2 writes each operator: slots that stay empty, attributes, results that only it has.

Data, read by ``describe``. Operators that are not listed here are written as they are defined.
"""

from __future__ import annotations

from typing import Any

from engine.core.operators.operator import Operator
from engine.core.values.dtype import DType, as_dtype, uint8
from engine.core.values.spec import Spec
from engine.program.text.form import Form, Value


def number(dtype: DType | str | None) -> int:
    """Paddle's VarType number of a dtype; -1 for none."""
    return -1 if dtype is None else as_dtype(dtype).number


def _xshape(operator: Operator) -> Spec:
    """A zero and the shape of x, which is all that Paddle's gradient reads."""
    x = operator.inputs[0].spec
    return Spec((0, *x.shape), x.dtype)


def _last(operator: Operator) -> int:
    """The last axis as Paddle's callers write it."""
    axis = int(operator.attrs["axis"])
    return -1 if axis == operator.inputs[0].ndim - 1 else axis


def _axis(name: str) -> Value:
    """An axis counted from the front."""

    def found(operator: Operator) -> int:
        axis = int(operator.attrs[name])
        return axis + operator.inputs[0].ndim if axis < 0 else axis

    return found


def _mask(operator: Operator, spec: Spec) -> Spec:
    """Paddle's mask is a byte for each element."""
    return spec.with_dtype(uint8)


def _as_float32(operator: Operator, spec: Spec) -> Spec:
    return spec.with_dtype("float32")


def _as_int64(operator: Operator, spec: Spec) -> Spec:
    return spec.with_dtype("int64")


def _unless_test(operator: Operator, spec: Spec) -> Spec:
    return Spec((), spec.dtype) if operator.attrs["is_test"] else spec


def _reserve(operator: Operator) -> Spec | None:
    return None if operator.attrs["is_test"] else Spec((-1,), operator.inputs[0].dtype)


_ENDLESS = 2147483647


def _slices(operator: Operator) -> dict[str, list[int]]:
    """Ints and slices of an index as Paddle's slice writes them."""
    index = operator.attrs["index"]
    ndim = operator.inputs[0].ndim
    used = sum(1 for item in index if item is not None and item != "...")
    found: dict[str, list[int]] = {
        "axes": [],
        "decrease_axis": [],
        "ends": [],
        "infer_flags": [],
        "starts": [],
    }
    axis = 0
    for item in index:
        if item == "...":
            axis += ndim - used
        elif isinstance(item, (list, tuple)):
            _, start, stop, _ = item
            if start is not None or stop is not None:
                _add(found, axis, start or 0, _ENDLESS if stop is None else stop)
            axis += 1
        elif item is not None:
            _add(found, axis, item, item + 1 if item != -1 else _ENDLESS)
            found["decrease_axis"].append(axis)
            axis += 1
    return found


def _add(found: dict[str, list[int]], axis: int, start: int, end: int) -> None:
    for name, value in (("axes", axis), ("starts", start), ("ends", end), ("infer_flags", 1)):
        found[name].append(value)


def _slice_attr(name: str) -> Value:
    return lambda operator: _slices(operator)[name]


_MKLDNN = {"mkldnn_data_type": "float32", "use_mkldnn": False}
_SHAPE_LISTS = "ShapeTensor ShapeTensorList"
_REDUCE: dict[str, Any] = {"in_dtype": -1, "out_dtype": -1}
_RENAMED = {"axis": "dim", "keepdim": "keep_dim"}
_AXES = {"AxisTensor": "axis", "AxisTensorList": "axis"}
# Paddle's newer operators write their slots in lower case.
_LOWER = Form(slots_in={"X": "x"}, slots={"Out": "out"})


def _reduce(**more: Any) -> Form:
    return Form(attrs=_REDUCE, rename=_RENAMED, **more)


def _values(kind: str) -> Value:
    kinds = {"bool": "bool", "int32": "int32", "int64": "int64", "float32": "fp32", "float64": "fp64"}

    def found(operator: Operator) -> list[Any]:
        dtype = as_dtype(operator.attrs["dtype"]).name
        return list(operator.attrs["values"]) if kinds.get(dtype) == kind else []

    return found


_UPDATE: dict[str, Any] = {"multi_precision": False}
_ADAM = Form(
    empty="Beta1Tensor Beta2Tensor EpsilonTensor MasterParam SkipUpdate",
    attrs={
        **_UPDATE,
        "lazy_mode": False,
        "min_row_size_to_use_multithread": 1000,
        "use_global_beta_pow": False,
    },
)
_COMPARE = Form(attrs={"axis": -1, "force_cpu": False}, drop="axis", stopped="Out")
_POOL: dict[str, Any] = {"use_cudnn": lambda o: not o.attrs["adaptive"]}

FORMS: dict[str, Form] = {
    **dict.fromkeys(
        ("equal", "not_equal", "less_than", "less_equal", "greater_than", "greater_equal"), _COMPARE
    ),
    "scale": Form(empty="ScaleTensor", floats="scale bias", tensors={"ScaleTensor": "scale"}),
    "c_allreduce_sum": Form(empty="Cond"),
    "cast": Form(
        attrs={"in_dtype": lambda o: number(o.inputs[0].dtype), "use_mkldnn": False},
    ),
    "clip": Form(empty="Max Min", floats="min max", tensors={"Max": "max", "Min": "min"}),
    "sum": Form(attrs=_MKLDNN),
    "pow": Form(empty="FactorTensor", floats="factor", tensors={"FactorTensor": "factor"}),
    "reduce_sum": Form(
        attrs={
            **_REDUCE,
            "out_dtype": lambda o: number("int32") if o.inputs[0].dtype.name == "int32" else -1,
            "reduce_all": lambda o: bool(o.attrs["reduce_all"] and o.attrs["axis"]),
        },
        rename=_RENAMED,
    ),
    "kept_mean": Form(
        type="reduce_mean",
        without="Label",
        drop="ignore_index",
        attrs={**_REDUCE, "dim": [], "keep_dim": False, "reduce_all": True},
    ),
    "reduce_mean": _reduce(),
    "reduce_max": _reduce(),
    "reduce_min": _reduce(),
    "reduce_prod": _reduce(),
    "reduce_all": _reduce(empty="AxisTensor AxisTensorList", tensors=_AXES),
    "reduce_any": _reduce(empty="AxisTensor AxisTensorList", tensors=_AXES),
    **dict.fromkeys(("reduce_amax", "reduce_amin"), Form(rename=_RENAMED)),
    "reshape2": Form(
        empty="Shape ShapeTensor", attrs={**_MKLDNN, "use_quantizer": False}, extra={"XShape": _xshape}
    ),
    "flatten_contiguous_range": Form(
        attrs={"start_axis": _axis("start_axis"), "stop_axis": _axis("stop_axis")}, extra={"XShape": _xshape}
    ),
    "transpose2": Form(extra={"XShape": _xshape}),
    "squeeze2": Form(extra={"XShape": _xshape}),
    "unsqueeze2": Form(
        empty="AxesTensor AxesTensorList",
        extra={"XShape": _xshape},
        tensors={"AxesTensor": "axes", "AxesTensorList": "axes"},
    ),
    "concat": Form(empty="AxisTensor", tensors={"AxisTensor": "axis"}),
    "stack": Form(slots={"Out": "Y"}),
    "slice_view": Form(
        type="slice",
        drop="index",
        empty="EndsTensor EndsTensorList StartsTensor StartsTensorList",
        attrs={
            name: _slice_attr(name) for name in ("axes", "decrease_axis", "ends", "infer_flags", "starts")
        },
    ),
    "split": Form(
        empty="AxisTensor SectionsTensorList",
        attrs={
            "axis": _axis("axis"),
            "num": lambda o: _even(o.attrs["sections"]),
            "sections": lambda o: _uneven(o),
            **_MKLDNN,
        },
        drop="sections",
    ),
    "expand_v2": Form(empty="Shape expand_shapes_tensor"),
    "tile": Form(empty="RepeatTimes repeat_times_tensor"),
    "gather": Form(empty="Axis", tensors={"Axis": "axis"}),
    "lookup_table_v2": Form(drop="is_sparse"),
    **dict.fromkeys(("arg_max", "arg_min"), Form(stopped="Out")),
    "top_k_v2": Form(empty="K", stopped="Indices", tensors={"K": "k"}),
    "one_hot_v2": Form(
        empty="depth_tensor",
        attrs={"allow_out_of_range": False, "dtype": 5},
        tensors={"depth_tensor": "depth"},
    ),
    "fill_constant": Form(
        empty=f"{_SHAPE_LISTS} ValueTensor",
        attrs={"force_cpu": False, "place_type": -1, "str_value": lambda o: _text(o)},
        floats="value",
        stopped="Out",
    ),
    "fill_any_like": Form(
        attrs={"dtype": lambda o: number(o.attrs["dtype"] or o.inputs[0].dtype)},
        drop="dtype",
        floats="value",
        stopped="Out",
    ),
    "assign_value": Form(
        attrs={
            **{f"{k}_values": _values(k) for k in ("bool", "int32", "int64", "fp32", "fp64")},
            "shape": lambda o: list(o.attrs["shape"]),
        },
        drop="values shape",
    ),
    "uniform_random": Form(
        empty=_SHAPE_LISTS, attrs={"diag_num": 0, "diag_step": 0, "diag_val": 1.0}, floats="min max"
    ),
    "gaussian_random": Form(empty=_SHAPE_LISTS, floats="mean std"),
    "randint": Form(empty=_SHAPE_LISTS),
    "randperm": Form(drop="seed"),
    "dropout": Form(
        empty="Seed",
        drop="axis seed",
        floats="dropout_prob",
        order="Out Mask",
        stopped="Mask",
        says={"Mask": _mask},
    ),
    "softmax_with_cross_entropy": Form(attrs={"axis": _last, "use_softmax": True}),
    "print_tensor": Form(type="print", drop="names seen"),
    "py_func": Form(drop="specs chosen"),
    "py_layer": Form(drop="rule"),
    "c_gather": Form(drop="everywhere"),
    "alltoall": Form(drop="in_sizes out_sizes"),
    "assign_into": Form(type="assign", without="Target", slots_in={"Value": "X"}),
    "accuracy": Form(says={"Correct": _as_float32, "Total": _as_float32}),
    "auc": Form(empty="InsTagWeight", says={"AUC": _as_int64}),
    "pool2d": Form(attrs=_POOL),
    "batch_norm": Form(
        empty="MomentumTensor",
        order="SavedMean SavedVariance Y ReserveSpace",
        extra={"ReserveSpace": _reserve},
        stopped="SavedMean SavedVariance ReserveSpace",
        says={"SavedMean": _unless_test, "SavedVariance": _unless_test},
    ),
    "sync_batch_norm": Form(
        drop="ring_id", order="SavedMean SavedVariance Y", stopped="SavedMean SavedVariance"
    ),
    "sync_batch_norm_grad": Form(drop="ring_id"),
    "layer_norm": Form(order="Mean Variance Y", stopped="Mean Variance"),
    "group_norm": Form(empty="Bias Scale", order="Mean Variance Y", stopped="Mean Variance"),
    "instance_norm": Form(
        empty="Bias Scale", order="SavedMean SavedVariance Y", stopped="SavedMean SavedVariance"
    ),
    "relu6": Form(drop="threshold"),
    "swish": Form(drop="beta"),
    "share_data": Form(stopped="Out"),
    "shape": Form(stopped="Out"),
    "argsort": Form(stopped="Indices"),
    "pad3d": Form(empty="Paddings"),
    **dict.fromkeys(("quantize_linear", "dequantize_linear"), Form(empty="InAccum InState")),
    **dict.fromkeys(
        (
            "fake_quantize_abs_max",
            "fake_quantize_dequantize_abs_max",
            "fake_channel_wise_quantize_abs_max",
            "fake_channel_wise_quantize_dequantize_abs_max",
        ),
        Form(without="OutScale", always="OutScale", drop="round_type"),
    ),
    **dict.fromkeys(
        ("fake_quantize_moving_average_abs_max", "fake_quantize_dequantize_moving_average_abs_max"),
        Form(empty="InAccum InState", always="OutScale OutState OutAccum", drop="round_type"),
    ),
    "moving_average_abs_max_scale": Form(
        empty="InAccum InState", without="OutScale", always="OutScale OutState OutAccum"
    ),
    "fake_quantize_range_abs_max": Form(
        empty="Iter", without="OutScales", always="OutScale OutScales", drop="round_type"
    ),
    "roll": Form(empty="ShiftsTensor", tensors={"ShiftsTensor": "shifts"}),
    "roll_by": Form(type="roll", attrs={"shifts": []}),
    "bincount": Form(empty="Weights"),
    **dict.fromkeys(
        ("max_pool2d_with_index", "max_pool3d_with_index"), Form(drop="ceil_mode padding_algorithm")
    ),
    **dict.fromkeys((f"elementwise_{name}" for name in ("fmax", "fmin", "heaviside")), Form(drop="axis")),
    "exponential": Form(rename={"lam": "lambda"}),
    "top_p_sampling": Form(slots_in={"X": "x", "Ps": "ps"}, slots={"Out": "out", "Ids": "ids"}),
    "gaussian_inplace": _LOWER,
    "unpool3d": Form(drop="unpooling_type"),
    "warprnnt": Form(
        slots_in={
            "Input": "input",
            "Label": "label",
            "InputLengths": "input_lengths",
            "LabelLengths": "label_lengths",
        },
        slots={"Loss": "loss"},
    ),
    "conv2d_transpose": Form(empty="Bias"),
    **dict.fromkeys(
        [f"{kind}_interp_v2" for kind in ("nearest", "bilinear", "trilinear", "bicubic", "linear")],
        Form(empty="OutSize Scale SizeTensor"),
    ),
    "sigmoid_cross_entropy_with_logits": Form(
        empty="pos_weight",
        attrs={"ignore_index": -100, "normalize": False},
        operands=lambda o: [("", 1.0, o.inputs[0].dtype.name)],
    ),
    "range": Form(
        drop="start end step dtype",
        operands=lambda o: [
            (name.capitalize(), o.attrs[name], o.attrs["dtype"]) for name in ("start", "end", "step")
        ],
    ),
    "frobenius_norm": Form(attrs={"dim": lambda o: o.attrs["dim"] or [0], **_REDUCE}, drop="dim"),
    "addmm": Form(rename={"alpha": "Alpha", "beta": "Beta"}),
    "diag_v2": Form(floats="padding_value", stopped="Out"),
    **dict.fromkeys(
        ("sgd", "momentum", "adagrad", "rmsprop", "adadelta"), Form(empty="MasterParam", attrs=_UPDATE)
    ),
    "adam": _ADAM,
    "adamw": _ADAM,
    "adamax": Form(empty="MasterParam", attrs=_UPDATE, hidden="Beta1PowOut"),
    "lamb": Form(empty="MasterParam SkipUpdate", attrs=_UPDATE),
    **dict.fromkeys(("i0", "i0e", "i1", "i1e", "polygamma"), _LOWER),
    **dict.fromkeys(
        ("cummax", "cummin"), Form(slots_in={"X": "x"}, slots={"Out": "out", "Indices": "indices"})
    ),
    "nextafter": Form(slots_in={"X": "x", "Y": "y"}, slots={"Out": "out"}),
    "view_dtype": Form(slots_in={"Input": "input"}, slots={"Out": "out"}),
    "tensor_unfold": Form(slots_in={"X": "input"}, slots={"Out": "out"}),
    "as_strided": Form(slots_in={"Input": "input"}, slots={"Out": "out"}, rename={"shape": "dims"}),
    **dict.fromkeys(("isclose", "allclose"), Form(slots_in={"X": "Input", "Y": "Other"})),
    "softshrink": Form(rename={"threshold": "lambda"}),
    "take_along_axis": Form(slots={"Out": "Result"}, rename={"axis": "Axis"}, drop="broadcast"),
    "put_along_axis": Form(
        rename={"axis": "Axis", "reduce": "Reduce", "include_self": "Include_self"}, drop="broadcast"
    ),
    "repeat_interleave": Form(rename={"repeats": "Repeats", "axis": "dim"}),
    "tril_indices": Form(slots={"Out": "out"}),
    "triu_indices": Form(slots={"Out": "out"}, rename={"rows": "row", "cols": "col"}),
    "lu": Form(rename={"pivot": "pivots"}),
    "gumbel_softmax": Form(hidden="Soft"),
}


def _even(sections: Any) -> int:
    return sections if isinstance(sections, int) else len(sections) if _equal(sections) else 0


def _equal(sections: Any) -> bool:
    return len(set(sections)) == 1


def _uneven(operator: Operator) -> list[int]:
    sections = operator.attrs["sections"]
    return [] if isinstance(sections, int) or _equal(sections) else list(sections)


def _text(operator: Operator) -> str:
    """The value once more as text, as Paddle's ``full`` writes it; nothing for operands of operators."""
    if operator.notes and operator.notes.get("plain"):
        return ""
    value, dtype = operator.attrs["value"], as_dtype(operator.attrs["dtype"])
    return str(float(value)) if dtype.is_floating_point else str(int(value))
