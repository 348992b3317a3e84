"""Programs of Paddle 3, ``NAME.json``, as the ProgramDescs of Paddle 2: those without branches and loops.

An operator's operands are numbers of values; sizes that were attributes before 3.0 are values of operators
that make constants. ``OPS`` says for each operator its type in Paddle 2, the slots of its operands and
results (``@name``: a constant operand that was an attribute), and attributes with other names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from engine.core.errors import EngineError, FormatError
from engine.core.program_desc import Attr, AttrType, BlockDesc, OpDesc, ProgramDesc, VarDesc
from engine.core.values.dtype import as_dtype
from resources.json_documents import parse

MAGIC = b'{"base_code":{"magic":"pir"'
MOST_BYTES = 64 << 20
_MOST_OPERATORS = 200_000
_REMEDY = "save the model with the flag FLAGS_enable_pir_api=0, which writes a .pdmodel"


class Op(NamedTuple):
    """How an operator of Paddle 3 is called in Paddle 2."""

    type: str
    inputs: str = "X"
    outputs: str = "Out"
    rename: Mapping[str, str] = {}
    more: Mapping[str, Any] = {}


_CONV = "Input Filter"
_RESIZE = "X OutSize SizeTensor Scale"
_WHOLE = ("@axis", "@k", "@depth")
_NORM = {"data_format": "data_layout"}
OPS: dict[str, Op] = {
    "conv2d": Op("conv2d", _CONV, "Output"),
    "depthwise_conv2d": Op("depthwise_conv2d", _CONV, "Output"),
    "conv3d": Op("conv3d", _CONV, "Output"),
    "pool2d": Op("pool2d", "X @ksize"),
    "batch_norm_": Op(
        "batch_norm",
        "X Mean Variance Scale Bias",
        "Y MeanOut VarianceOut SavedMean SavedVariance",
        _NORM,
    ),
    "layer_norm": Op("layer_norm", "X Scale Bias", "Y Mean Variance"),
    "group_norm": Op("group_norm", "X Scale Bias", "Y Mean Variance", _NORM),
    "matmul": Op("matmul_v2", "X Y", "Out", {"transpose_x": "trans_x", "transpose_y": "trans_y"}),
    **{
        name: Op(f"elementwise_{old}", "X Y")
        for name, old in (
            ("add", "add"),
            ("subtract", "sub"),
            ("multiply", "mul"),
            ("divide", "div"),
            ("maximum", "max"),
            ("minimum", "min"),
            ("elementwise_pow", "pow"),
        )
    },
    **{
        name: Op(name)
        for name in (
            *("relu", "sigmoid", "tanh", "exp", "log", "sqrt", "rsqrt", "square", "abs", "floor", "ceil"),
            *(
                "silu",
                "mish",
                "softsign",
                "gelu",
                "softmax",
                "log_softmax",
                "relu6",
                "elu",
                "selu",
                "softplus",
            ),
            *("assign", "sign", "erf", "sin", "cos"),
        )
    },
    "swish": Op("swish"),
    "mish": Op("mish", rename={"lambda": "threshold"}),
    "hardswish": Op("hard_swish"),
    "hardsigmoid": Op("hard_sigmoid"),
    "leaky_relu": Op("leaky_relu", rename={"negative_slope": "alpha"}),
    "flatten": Op("flatten_contiguous_range"),
    "reshape": Op("reshape2", "X @shape"),
    "transpose": Op("transpose2", rename={"perm": "axis"}),
    "squeeze": Op("squeeze2", "X @axes"),
    "unsqueeze": Op("unsqueeze2", "X @axes"),
    "concat": Op("concat", "X @axis"),
    "mean": Op("reduce_mean", "X @dim", rename={"keepdim": "keep_dim"}),
    "min": Op("reduce_min", "X @dim", rename={"keepdim": "keep_dim"}),
    "sum": Op("reduce_sum", "X @dim", rename={"keepdim": "keep_dim", "dtype": "out_dtype"}),
    "max": Op("reduce_max", "X @dim", rename={"keepdim": "keep_dim"}),
    "scale": Op("scale", "X @scale"),
    "dropout": Op("dropout", "X Seed @dropout_prob", "Out Mask", {"mode": "dropout_implementation"}),
    "embedding": Op("lookup_table_v2", "Ids W"),
    "cast": Op("cast", rename={"dtype": "out_dtype"}),
    "slice": Op("slice", "Input @starts @ends"),
    "clip": Op("clip", "X @min @max"),
    "strided_slice": Op("strided_slice", "Input @starts @ends @strides"),
    "split": Op("split", "X @sections @axis"),
    "split_with_num": Op("split", "X @axis"),
    "stack": Op("stack", "X", "Y"),
    "expand": Op("expand_v2", "X @shape"),
    "tile": Op("tile", "X @repeat_times"),
    "flip": Op("flip"),
    "gather": Op("gather", "X Index @axis"),
    "cumsum": Op("cumsum", "X @axis"),
    "argmax": Op("arg_max", "X @axis"),
    "argmin": Op("arg_min", "X @axis"),
    "topk": Op("top_k_v2", "X @k", "Out Indices"),
    "one_hot": Op("one_hot_v2", "X @depth"),
    "where": Op("where", "Condition X Y"),
    "arange": Op("range", "Start End Step"),
    "tril": Op("tril_triu", more={"lower": True}),
    "triu": Op("tril_triu", more={"lower": False}),
    "hardtanh": Op("brelu"),
    "p_norm": Op("p_norm"),
    "pad3d": Op("pad3d", "X @paddings", rename={"pad_value": "value"}),
    "nearest_interp": Op("nearest_interp_v2", _RESIZE, rename=_NORM),
    "bilinear_interp": Op("bilinear_interp_v2", _RESIZE, rename=_NORM),
    **{
        name: Op(name, "X Y")
        for name in ("equal", "not_equal", "less_than", "less_equal", "greater_than", "greater_equal")
    },
}
_DROPPED = frozenset(("struct_name", "place", "op_callstack", "stop_gradient", "persistable"))


def parse_pir(data: bytes, shown: object) -> ProgramDesc:
    """The Program in the bytes of a ``NAME.json``; ``shown`` names it in messages.

    Raises FormatError: damaged, too large, or with operators that are not in ``OPS``, all of which are named.
    """
    if len(data) > MOST_BYTES:
        raise FormatError(f"{shown}: {len(data)} bytes of a Program; {MOST_BYTES} is the most; {_REMEDY}")
    try:
        tree = parse(data)
        [region] = tree["program"]["regions"]
        [block] = region["blocks"]
        operators = block["ops"]
        if len(operators) > _MOST_OPERATORS:
            raise FormatError(f"it has {len(operators)} operators; {_MOST_OPERATORS} is the most")
        _require_known(operators)
        reader = _Reader()
        for operator in operators:
            reader.read(operator)
    except EngineError as cause:
        raise FormatError(f"{shown}: {cause}; {_REMEDY}") from cause
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError, OverflowError) as cause:
        reason = " ".join(repr(cause).split())[:200]
        raise FormatError(f"{shown}: not a Program that Paddle 3 wrote: {reason}; {_REMEDY}") from cause
    return ProgramDesc([reader.block])


def _require_known(operators: list[dict[str, Any]]) -> None:
    own = ("data", "fetch", "full", "full_int_array", "assign_value_")
    known = {"p", "0.combine", "0.split", *(f"1.{n}" for n in (*own, *OPS))}
    unknown = sorted({str(o["#"]).replace("1.", "pd_op.", 1)[:80] for o in operators if o["#"] not in known})
    if unknown:
        names = ", ".join(map(repr, unknown[:20]))
        raise FormatError(f"operators of Paddle 3 that are not read here: {names}")


class _Reader:
    """One block of OpDescs as its operators are read."""

    def __init__(self) -> None:
        self.block = BlockDesc(0, -1, [], [])
        self._names: dict[int, str] = {}
        self._lists: dict[int, list[int]] = {}
        self._splits: dict[int, OpDesc] = {}
        self._constants: dict[int, Any] = {}
        self._pending: dict[int, OpDesc] = {}  # constants that no operator has read as a value yet

    def read(self, operator: dict[str, Any]) -> None:
        kind = operator["#"]
        if kind == "p":
            self._weight(operator)
            return
        attrs = {a["N"]: _value(a["AT"]) for a in operator["A"] if a["N"] not in _DROPPED}
        inputs = [int(i["%"]) for i in operator["I"]]
        results = [int(o["%"]) for o in operator["O"]]
        if kind == "0.combine":
            self._lists[results[0]] = inputs
        elif kind == "0.split":
            desc = self._splits.pop(inputs[0])
            desc.outputs["Out"] = [self._name(result) for result in results]
            self.block.ops.append(desc)
        elif kind == "1.data":
            self._names[results[0]] = str(attrs["name"])
            self.block.vars.append(_variable(str(attrs["name"]), operator["O"][0]))
            self._append(OpDesc("feed", {}, {"Out": [str(attrs["name"])]}), {"col": self._feeds()})
        elif kind == "1.fetch":
            self._append(OpDesc("fetch", {"X": self._arguments(inputs[0])}), {"col": attrs["col"]})
        elif kind in ("1.full", "1.full_int_array"):
            self._constant(kind, results[0], attrs)
        elif kind == "1.assign_value_":
            self._values(results[0], attrs)
        else:
            self._operator(OPS[kind[2:]], attrs, inputs, results)

    def _feeds(self) -> int:
        return sum(o.type == "feed" for o in self.block.ops)

    def _weight(self, operator: dict[str, Any]) -> None:
        name, result = str(operator["A"][3]), operator["O"]
        self._names[int(result["%"])] = name
        variable = _variable(name, result)
        variable.persistable, variable.is_parameter = True, bool(operator["OA"][2])
        variable.stop_gradient = bool(operator["OA"][1])
        self.block.vars.append(variable)

    def _constant(self, kind: str, result: int, attrs: dict[str, Any]) -> None:
        name = self._name(result)
        dtype = as_dtype(str(attrs["dtype"]))
        if kind == "1.full":
            value, shape = float(attrs["value"]), [int(d) for d in attrs["shape"]]
            desc = OpDesc("fill_constant", {}, {"Out": [name]})
            desc.attrs = _attributes({"shape": shape, "value": value, "dtype": dtype.number})
            self._constants[result] = value
        else:
            values = [int(v) for v in attrs["value"]]
            desc = _array(name, [len(values)], values, dtype.name)
            self._constants[result] = values
        self._pending[result] = desc

    def _values(self, result: int, attrs: dict[str, Any]) -> None:
        dtype = as_dtype(str(attrs["dtype"])).name
        kind = float if dtype.startswith("float") else int
        values = [kind(v) for v in attrs["values"]]
        shape = [int(d) for d in attrs["shape"]]
        self.block.ops.append(_array(self._name(result), shape, values, dtype))

    def _operator(self, op: Op, attrs: dict[str, Any], inputs: list[int], results: list[int]) -> None:
        desc = OpDesc(op.type)
        given = {**op.more, **{op.rename.get(name, name): value for name, value in attrs.items()}}
        for slot, value in zip(op.inputs.split(), inputs, strict=False):
            if not slot.startswith("@"):
                desc.inputs[slot] = self._arguments(value)
                continue
            if value not in self._constants:
                raise FormatError(f"{op.type}: its {slot[1:]} is known only when it runs")
            found = self._constants[value]
            given[slot[1:]] = int(found) if slot in _WHOLE else found
        if op.type == "split":  # its results follow, with the operator that takes the list apart
            desc.attrs = _attributes(given)
            self._splits[results[0]] = desc
            return
        for slot, result in zip(op.outputs.split(), results, strict=False):
            desc.outputs[slot] = [self._name(result)]
        self._append(desc, given)

    def _arguments(self, value: int) -> list[str]:
        if value == 0:  # an absent operand
            return []
        if value in self._lists:
            return [name for each in self._lists[value] for name in self._arguments(each)]
        if value in self._pending:
            self.block.ops.append(self._pending.pop(value))
        return [self._names[value]]

    def _name(self, value: int) -> str:
        return self._names.setdefault(value, f"value_{value}")

    def _append(self, desc: OpDesc, attrs: dict[str, Any]) -> None:
        for name in ("dtype", "out_dtype"):
            if isinstance(attrs.get(name), str):
                attrs[name] = -1 if attrs[name].startswith("Undefined") else as_dtype(attrs[name]).number
        desc.attrs |= _attributes(attrs)
        self.block.ops.append(desc)


def _array(name: str, shape: list[int], values: list[Any], dtype: str) -> OpDesc:
    """The OpDesc of a constant of several values."""
    slot = f"{dtype.replace('float', 'fp')}_values"
    attrs = {"shape": shape, slot: values, "dtype": as_dtype(dtype).number}
    return OpDesc("assign_value", {}, {"Out": [name]}, _attributes(attrs))


def _variable(name: str, result: dict[str, Any]) -> VarDesc:
    kind, shape = result["TT"]["D"][0]["#"], [int(d) for d in result["TT"]["D"][1]]
    dtype = _DTYPES.get(str(kind))
    if dtype is None:
        raise FormatError(f"{name!r:.80} has the unknown type {kind!r:.40}")
    return VarDesc(name, dtype=as_dtype(dtype).number, shape=shape)


_DTYPES = {
    **{f"0.t_f{bits}": f"float{bits}" for bits in (16, 32, 64)},
    **{f"0.t_i{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    "0.t_bool": "bool",
    "0.t_ui8": "uint8",
    "0.t_bf16": "bfloat16",
}


def _value(tree: dict[str, Any]) -> Any:
    """An attribute's value; a number that is one of 32 bits as the shortest decimal that means it."""
    value = tree.get("D")
    if tree["#"] == "0.a_array":
        return [_value(each) for each in value or []]
    if isinstance(value, float) and value == np.float32(value):
        return float(str(np.float32(value)))
    return value


def _attributes(values: dict[str, Any]) -> dict[str, Attr]:
    return {name: Attr(_type(value), value) for name, value in values.items()}


def _type(value: Any) -> AttrType:
    if isinstance(value, list):
        return AttrType.FLOATS if any(isinstance(v, float) for v in value) else AttrType.LONGS
    types = {bool: AttrType.BOOLEAN, int: AttrType.LONG, float: AttrType.FLOAT, str: AttrType.STRING}
    if type(value) not in types:
        raise FormatError(f"an attribute is {value!r:.80}")
    return types[type(value)]
