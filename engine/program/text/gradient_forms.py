"""How Paddle 2.6.2 writes gradient operators: which inputs and outputs of the forward one they read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from engine.core.operators.operator import Operator
from engine.program.graph.variable import Variable
from engine.program.text.describe import describe, form_of, shown_name

# Their gradient passes straight through.
STRAIGHT = (
    "fake_quantize_dequantize_abs_max",
    "fake_channel_wise_quantize_dequantize_abs_max",
    "fake_quantize_dequantize_moving_average_abs_max",
    "moving_average_abs_max_scale",
)
# Slots of the forward operator that its gradient reads, where it is not all inputs.
READS: dict[str, str] = {
    **dict.fromkeys(
        (
            "relu",
            "relu6",
            "sigmoid",
            "tanh",
            "exp",
            "sqrt",
            "rsqrt",
            "reciprocal",
            "softmax",
            "log_softmax",
            "selu",
            "hard_sigmoid",
        ),
        "Out",
    ),
    **dict.fromkeys(("reshape2", "transpose2", "squeeze2", "flatten_contiguous_range"), "XShape"),
    **dict.fromkeys(("floor", "ceil", "round", "tril_triu", "erf", "pixel_shuffle", "pad"), ""),
    **dict.fromkeys(("real", "imag", "fft_c2c", "fft_c2r"), ""),
    **dict.fromkeys(("elu", "silu", "logsumexp", "cumprod", "p_norm", "pool2d"), "X Out"),
    **dict.fromkeys(("reduce_max", "reduce_min", "reduce_prod", "frobenius_norm"), "X Out"),
    **dict.fromkeys(STRAIGHT, ""),
    "unsqueeze2": "AxesTensor AxesTensorList XShape",
    "elementwise_div": "X Y Out",
    "dropout": "Mask",
    "concat": "AxisTensor X",
    "top_k_v2": "Indices K X",
    "argsort": "Indices X",
    "softmax_with_cross_entropy": "Label Softmax",
    "max_pool2d_with_index": "Mask X",
    "batch_norm": "Bias MeanOut ReserveSpace SavedMean SavedVariance Scale VarianceOut X",
    "batch_norm is_test": "Bias Mean MeanOut SavedMean SavedVariance Scale Variance VarianceOut X",
    "layer_norm": "Bias Mean Scale Variance X",
    "group_norm": "Bias Mean Scale Variance X Y",
    "instance_norm": "SavedMean SavedVariance Scale X",
}
_EMPTY = "@EMPTY@"
# Gradients that Paddle gives another name than the operator's.
TYPES: dict[str, str] = dict.fromkeys(STRAIGHT, "stright_throuth_estimator_grad")

Written = Callable[[dict[str, Any], list[str], list[str]], dict[str, Any]]


def _scaled(scale: Callable[[dict[str, Any]], float], *empty: str) -> Written:
    def written(attrs: dict[str, Any], given: list[str], results: list[str]) -> dict[str, Any]:
        own = {"bias": 0.0, "bias_after_scale": True, "op_namescope": "", "scale": scale(attrs)}
        inputs = {**{slot: [] for slot in empty}, "X": given}
        return {"type": "scale", "inputs": inputs, "outputs": {"Out": results}, "own": own}

    return written


def _again(type: str, slot: str = "Out", empty: str = "", keep: str = "", scoped: bool = False) -> Written:
    """An operator of that type, with the forward one's attributes that ``keep`` names (all where scoped)."""

    def written(attrs: dict[str, Any], given: list[str], results: list[str]) -> dict[str, Any]:
        own = dict(attrs) if scoped else {k: attrs[k] for k in keep.split()} | {"op_namescope": ""}
        inputs = {**{slot: [] for slot in empty.split()}, "X": given}
        return {"type": type, "inputs": inputs, "outputs": {slot: results}, "own": own}

    return written


def _cast_back(attrs: dict[str, Any], given: list[str], results: list[str]) -> dict[str, Any]:
    notes = _again("cast", keep="in_dtype out_dtype use_mkldnn")(attrs, given, results)
    notes["own"] |= {"in_dtype": attrs["out_dtype"], "out_dtype": attrs["in_dtype"]}
    return notes


# Gradients that Paddle writes as forward operators. Each function takes the forward operator's attributes,
# the names of the incoming gradients and the name of the result.
FORWARD: dict[str, Written] = {
    "scale": _scaled(lambda attrs: attrs["scale"], "ScaleTensor"),
    "sum": _scaled(lambda attrs: 1.0),
    "sign": _scaled(lambda attrs: 0.0),
    "assign": _again("assign"),
    "flip": _again("flip", keep="axis"),
    "cast": _cast_back,
    "unstack": _again("stack", slot="Y", keep="axis"),
    "split": _again("concat", empty="AxisTensor", scoped=True),
}


def note_gradient(
    operator: Operator, forward: Operator, incoming: Sequence[Any], results: Mapping[int, Variable]
) -> None:
    """Give a gradient operator Paddle's text; ``results`` are by position among the forward's inputs."""
    opdef, form = forward.opdef, form_of(forward)
    shown = describe(forward)
    everything = {**shown.outputs, **shown.inputs}
    variant = f"{opdef.name} is_test" if forward.attrs.get("is_test") else opdef.name
    wanted = READS.get(variant, READS.get(opdef.name))
    inputs = {
        slot: names
        for slot, names in (everything if wanted is not None else shown.inputs).items()
        if wanted is None or slot in wanted.split()
    }
    outs = [opdef.outputs[0]] * len(incoming) if opdef.listed else list(opdef.outputs)
    for out, gradient in zip(outs, incoming, strict=True):
        if gradient is not None:
            slot = f"{form.slots.get(out.slot, out.slot)}@GRAD"
            inputs.setdefault(slot, []).append(shown_name(gradient))
    outputs: dict[str, list[str]] = {}
    position = 0
    for declared, value in opdef.named_inputs(forward.inputs):
        count = 0 if value is None else len(value) if isinstance(value, (list, tuple)) else 1
        own = [results.get(n) for n in range(position, position + count)]
        position += count
        if declared.slot in form.without or declared.name not in opdef.rule_of or value is None:
            continue
        if any(v is not None for v in own):
            outputs[f"{declared.slot}@GRAD"] = [_EMPTY if v is None else shown_name(v) for v in own]
        else:
            outputs[f"{declared.slot}@GRAD"] = []
    attrs: dict[str, Any] = {k: v for k, v in shown.attrs.items() if k not in ("op_role", "op_role_var")}
    given = [shown_name(g) for g in incoming if g is not None]
    written = [name for listed in outputs.values() for name in listed if name != _EMPTY]
    if opdef.name in FORWARD and len(given) == len(incoming) and len(written) == 1:
        operator.notes = FORWARD[opdef.name](attrs, given, written)
        return
    operator.notes = {
        "type": TYPES.get(opdef.name, f"{shown.type}_grad"),
        "inputs": inputs,
        "outputs": outputs,
        "own": attrs,
    }
