"""How Paddle 2.6.2 writes each operator: slots that stay empty, attributes, results that only it has.

Data, read by ``describe``. What is not listed here is written as the operator is defined.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine.core.dtype import as_dtype, uint8
from engine.core.operator import Operator
from engine.core.spec import Spec

Value = Callable[[Operator], Any]
Extra = Callable[[Any], Spec]


class Form:
    """The differences between an operator's definition and Paddle's OpDesc.

    ``empty`` input slots are written as ``[]``; ``attrs`` are written beside the operator's own, constants or
    functions of the operator; ``drop`` of its own are not, ``rename`` and ``floats`` (whole numbers written
    as floating ones) change them. ``extra`` results have a Variable that nothing computes; ``order`` is that
    in which the results' names are made; ``stopped`` results never have a gradient.
    """

    __slots__ = ("attrs", "drop", "empty", "extra", "floats", "order", "rename", "stopped", "type")

    def __init__(
        self,
        type: str | None = None,
        empty: str = "",
        attrs: Mapping[str, Any] | None = None,
        drop: str = "",
        rename: Mapping[str, str] | None = None,
        floats: str = "",
        extra: Mapping[str, Extra] | None = None,
        order: str = "",
        stopped: str = "",
    ) -> None:
        self.type = type
        self.empty = tuple(empty.split())
        self.attrs = dict(attrs or {})
        self.drop = frozenset(drop.split())
        self.rename = dict(rename or {})
        self.floats = frozenset(floats.split())
        self.extra = dict(extra or {})
        self.order = tuple(order.split())
        self.stopped = frozenset(stopped.split())


def number(dtype: Any) -> int:
    """Paddle's VarType number of a dtype; -1 for none."""
    return -1 if dtype is None else as_dtype(dtype).number


def _xshape(inputs: Any) -> Spec:
    """A 0 and the shape that x had, which is all that Paddle's gradient needs."""
    x = inputs[0].spec
    return Spec((0, *x.shape), x.dtype)


def _like_x(inputs: Any) -> Spec:
    spec = inputs[0].spec
    return Spec(spec.shape, spec.dtype)


_MKLDNN = {"mkldnn_data_type": "float32", "use_mkldnn": False}
_SHAPE_LISTS = "ShapeTensor ShapeTensorList"
_REDUCE: dict[str, Any] = {"in_dtype": -1, "out_dtype": -1}
_RENAMED = {"axis": "dim", "keepdim": "keep_dim"}


def _reduce(**more: Any) -> Form:
    return Form(attrs=_REDUCE, rename=_RENAMED, **more)


def _dims(operator: Operator) -> list[int]:
    return list(operator.attrs["axis"] or ())


def _values(kind: str) -> Value:
    kinds = {"bool": "bool", "int32": "int32", "int64": "int64", "float32": "fp32", "float64": "fp64"}

    def found(operator: Operator) -> list[Any]:
        dtype = as_dtype(operator.attrs["dtype"]).name
        return list(operator.attrs["values"]) if kinds.get(dtype) == kind else []

    return found


_COMPARE = Form(attrs={"axis": -1, "force_cpu": False}, drop="axis")
_POOL = {"use_cudnn": True}

FORMS: dict[str, Form] = {
    **dict.fromkeys(
        ("equal", "not_equal", "less_than", "less_equal", "greater_than", "greater_equal"), _COMPARE
    ),
    "scale": Form(empty="ScaleTensor", floats="scale bias"),
    "cast": Form(
        attrs={"in_dtype": lambda o: number(o.inputs[0].dtype), "use_mkldnn": False},
    ),
    "clip": Form(empty="Max Min", floats="min max"),
    "sum": Form(attrs=_MKLDNN),
    "pow": Form(empty="FactorTensor", floats="factor"),
    "reduce_sum": _reduce(),
    "reduce_mean": _reduce(),
    "reduce_max": _reduce(),
    "reduce_min": _reduce(),
    "reduce_prod": _reduce(),
    "reduce_all": _reduce(empty="AxisTensor AxisTensorList"),
    "reduce_any": _reduce(empty="AxisTensor AxisTensorList"),
    "reshape2": Form(
        empty="Shape ShapeTensor", attrs={**_MKLDNN, "use_quantizer": False}, extra={"XShape": _xshape}
    ),
    "flatten_contiguous_range": Form(extra={"XShape": _xshape}),
    "transpose2": Form(extra={"XShape": _xshape}),
    "squeeze2": Form(extra={"XShape": _xshape}),
    "unsqueeze2": Form(empty="AxesTensor AxesTensorList", extra={"XShape": _xshape}),
    "concat": Form(empty="AxisTensor"),
    "stack": Form(),
    "split": Form(
        empty="AxisTensor SectionsTensorList",
        attrs={"num": lambda o: _even(o.attrs["sections"]), "sections": lambda o: _uneven(o), **_MKLDNN},
        drop="sections",
    ),
    "expand_v2": Form(empty="Shape expand_shapes_tensor"),
    "tile": Form(empty="RepeatTimes repeat_times_tensor"),
    "gather": Form(empty="Axis"),
    "top_k_v2": Form(empty="K", stopped="Indices"),
    "one_hot_v2": Form(empty="depth_tensor", attrs={"allow_out_of_range": False, "dtype": 5}),
    "fill_constant": Form(
        empty=f"{_SHAPE_LISTS} ValueTensor",
        attrs={"force_cpu": False, "place_type": -1, "str_value": lambda o: _text(o)},
        floats="value",
        stopped="Out",
    ),
    "fill_any_like": Form(
        attrs={"dtype": lambda o: number(o.attrs["dtype"] or o.inputs[0].dtype)}, drop="dtype",
        floats="value", stopped="Out",
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
        empty="Seed", drop="axis seed", floats="dropout_prob",
        extra={}, order="Out Mask", stopped="Mask",
    ),
    "softmax_with_cross_entropy": Form(attrs={"use_softmax": True}),
    "conv2d": Form(),
    "pool2d": Form(attrs=_POOL),
    "batch_norm": Form(
        empty="MomentumTensor", order="SavedMean SavedVariance Y ReserveSpace",
        extra={"ReserveSpace": lambda inputs: Spec((-1,), inputs[0].dtype)},
        stopped="SavedMean SavedVariance ReserveSpace",
    ),
    "layer_norm": Form(order="Mean Variance Y", stopped="Mean Variance"),
    "sgd": Form(empty="MasterParam", attrs={"multi_precision": False}),
}

MASK = Spec((), uint8)  # Paddle's masks are bytes


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
