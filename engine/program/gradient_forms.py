"""How Paddle 2.6.2 writes gradient operators: which inputs and outputs of the forward one they read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engine.core.operator import Operator
from engine.program.describe import describe, form_of, says_name
from engine.program.program import Variable

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
    **dict.fromkeys(("floor", "ceil", "round", "tril_triu", "erf", "pixel_shuffle", "scale", "assign"), ""),
    **dict.fromkeys(("elu", "silu", "logsumexp", "cumprod", "p_norm", "pool2d"), "X Out"),
    **dict.fromkeys(("reduce_max", "reduce_min", "reduce_prod", "frobenius_norm"), "X Out"),
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


def note_gradient(
    operator: Operator, forward: Operator, incoming: Sequence[Any], results: Mapping[int, Variable]
) -> None:
    """Let the text of a gradient operator be Paddle's. ``results`` by position among the forward's inputs."""
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
            inputs.setdefault(slot, []).append(says_name(gradient))
    outputs: dict[str, list[str]] = {}
    position = 0
    for declared, value in opdef.named_inputs(forward.inputs):
        count = 0 if value is None else len(value) if isinstance(value, (list, tuple)) else 1
        own = [results.get(n) for n in range(position, position + count)]
        position += count
        if declared.slot in form.without or declared.name not in opdef.rule_of or value is None:
            continue
        if any(v is not None for v in own):
            outputs[f"{declared.slot}@GRAD"] = [_EMPTY if v is None else says_name(v) for v in own]
        else:
            outputs[f"{declared.slot}@GRAD"] = []
    attrs: dict[str, Any] = {k: v for k, v in shown.attrs.items() if k not in ("op_role", "op_role_var")}
    operator.notes = {
        "type": f"{shown.type}_grad",
        "inputs": inputs,
        "outputs": outputs,
        "own": attrs,
    }
