"""Records what Paddle computes for ``CASES``; run by an interpreter that has Paddle 2.6.2.

``python -m tests.engine.static.nn.record_sequences`` writes ``recorded_sequences.json`` next to this file.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from tests.engine.static.nn.sequence_cases import CASES


def dynamic_lstm(
    input: Any, size: int, h_0: Any = None, c_0: Any = None, use_peepholes: bool = True,
    is_reverse: bool = False, gate_activation: str = "sigmoid", cell_activation: str = "tanh",
    candidate_activation: str = "tanh",
    param_attr: Any = None, bias_attr: Any = None,
) -> Any:  # fmt: skip
    """``fluid.layers.dynamic_lstm`` of Paddle 1.8."""
    from paddle.base.layer_helper import LayerHelper

    helper, size = LayerHelper("lstm"), size // 4
    weight = helper.create_parameter(param_attr, [size, 4 * size], "float32")
    bias = helper.create_parameter(
        bias_attr, [1, (7 if use_peepholes else 4) * size], "float32", is_bias=True
    )
    hidden, cell, gate, before = (helper.create_variable_for_type_inference("float32") for _ in range(4))
    inputs = {"Input": input, "Weight": weight, "Bias": bias}
    inputs |= {slot: value for slot, value in (("H0", h_0), ("C0", c_0)) if value is not None}
    helper.append_op(
        type="lstm", inputs=inputs,
        outputs={"Hidden": hidden, "Cell": cell, "BatchGate": gate, "BatchCellPreAct": before},
        attrs={
            "use_peepholes": use_peepholes, "is_reverse": is_reverse, "gate_activation": gate_activation,
            "cell_activation": cell_activation, "candidate_activation": candidate_activation,
        },
    )  # fmt: skip
    return hidden, cell


def dynamic_gru(
    input: Any, size: int, param_attr: Any = None, bias_attr: Any = None, is_reverse: bool = False,
    gate_activation: str = "sigmoid", candidate_activation: str = "tanh", h_0: Any = None,
    origin_mode: bool = False,
) -> Any:  # fmt: skip
    """``fluid.layers.dynamic_gru`` of Paddle 1.8."""
    from paddle.base.layer_helper import LayerHelper

    helper = LayerHelper("gru")
    weight = helper.create_parameter(param_attr, [size, 3 * size], "float32")
    bias = helper.create_parameter(bias_attr, [1, 3 * size], "float32", is_bias=True)
    hidden, gate, reset, batch = (helper.create_variable_for_type_inference("float32") for _ in range(4))
    inputs = {"Input": input, "Weight": weight, "Bias": bias} | ({} if h_0 is None else {"H0": h_0})
    helper.append_op(
        type="gru", inputs=inputs,
        outputs={"Hidden": hidden, "BatchGate": gate, "BatchResetHiddenPrev": reset, "BatchHidden": batch},
        attrs={
            "is_reverse": is_reverse, "gate_activation": gate_activation, "activation": candidate_activation,
            "origin_mode": origin_mode,
        },
    )  # fmt: skip
    return hidden


def appended(type: str, inputs: Any, outputs: dict[str, str], attrs: Any = None) -> list[Any]:
    """The results of an operator that Paddle 2 has no function for: slot -> dtype."""
    from paddle.base.layer_helper import LayerHelper

    helper = LayerHelper(type)
    made = {slot: helper.create_variable_for_type_inference(dtype) for slot, dtype in outputs.items()}
    given = {slot: value for slot, value in inputs.items() if value is not None}
    helper.append_op(type=type, inputs=given, outputs=made, attrs=attrs or {})
    return list(made.values())


def linear_chain_crf(input: Any, label: Any, param_attr: Any) -> Any:
    from paddle.base.layer_helper import LayerHelper

    weight = LayerHelper("crf").create_parameter(param_attr, [input.shape[1] + 2, input.shape[1]], "float32")
    slots = ("Alpha", "EmissionExps", "TransitionExps", "LogLikelihood")
    inputs = {"Emission": input, "Transition": weight, "Label": label}
    return appended("linear_chain_crf", inputs, dict.fromkeys(slots, "float32"))[-1]


def edit_distance(input: Any, label: Any, normalized: bool = True, ignored_tokens: Any = None) -> Any:
    if ignored_tokens:
        erased = [
            appended("sequence_erase", {"X": each}, {"Out": "int64"}, {"tokens": ignored_tokens})[0]
            for each in (input, label)
        ]
        input, label = erased
    outputs = {"Out": "float32", "SequenceNum": "int64"}
    return appended("edit_distance", {"Hyps": input, "Refs": label}, outputs, {"normalized": normalized})


def chunk_eval(input: Any, label: Any, chunk_scheme: str, num_chunk_types: int) -> Any:
    shares = dict.fromkeys(("Precision", "Recall", "F1-Score"), "float32")
    counts = dict.fromkeys(("NumInferChunks", "NumLabelChunks", "NumCorrectChunks"), "int64")
    attrs = {"chunk_scheme": chunk_scheme, "num_chunk_types": num_chunk_types, "excluded_chunk_types": []}
    return appended("chunk_eval", {"Inference": input, "Label": label}, shares | counts, attrs)


def im2sequence(input: Any, filter_size: int, stride: int, padding: int) -> Any:
    attrs = {"kernels": [filter_size] * 2, "strides": [stride] * 2, "paddings": [padding] * 4}
    return appended("im2sequence", {"X": input}, {"Out": "float32"}, attrs)[0]


def warpctc(input: Any, label: Any, blank: int) -> Any:
    outputs = {"WarpCTCGrad": "float32", "Loss": "float32"}
    attrs = {"blank": blank, "norm_by_times": False}
    return appended("warpctc", {"Logits": input, "Label": label}, outputs, attrs)[-1]


def ctc_greedy_decoder(input: Any, blank: int) -> Any:
    (best,) = appended("top_k_v2", {"X": input}, {"Out": "float32", "Indices": "int64"}, {"k": 1})[1:]
    attrs = {"merge_repeated": True, "blank": blank}
    return appended("ctc_align", {"Input": best}, {"Output": "int64"}, attrs)[0]


class Functions:
    """The functions that a case calls; ``parameters`` has those that ``with_parameters`` made."""

    def __init__(self) -> None:
        self.parameters: list[str] = []

    def with_parameters(self, name: str, arrays: dict[str, Any], *args: Any, **options: Any) -> Any:
        import paddle

        attrs = {
            key: paddle.ParamAttr(key, paddle.nn.initializer.Assign(value)) for key, value in arrays.items()
        }
        self.parameters += list(attrs)
        return getattr(self, name)(*args, **options, **attrs)

    def decoded(self, arrays: dict[str, Any], x: Any, label: Any, compared: Any) -> Any:
        """The tags of ``crf_decoding`` by the parameter of a ``linear_chain_crf``."""
        import paddle

        self.with_parameters("linear_chain_crf", arrays, x, label)
        weight = paddle.static.default_main_program().global_block().var(self.parameters.pop())
        inputs = {"Emission": x, "Transition": weight, "Label": compared}
        return appended("crf_decoding", inputs, {"ViterbiPath": "int64"})[0]

    linear_chain_crf = staticmethod(linear_chain_crf)
    edit_distance = staticmethod(edit_distance)
    chunk_eval = staticmethod(chunk_eval)
    im2sequence = staticmethod(im2sequence)
    warpctc = staticmethod(warpctc)
    ctc_greedy_decoder = staticmethod(ctc_greedy_decoder)
    dynamic_lstm = staticmethod(dynamic_lstm)
    dynamic_gru = staticmethod(dynamic_gru)

    def __getattr__(self, name: str) -> Any:
        import paddle

        return getattr(paddle.static.nn, name)


def shown(value: Any) -> Any:
    array = np.array(value)
    data = array.astype(float).round(7).tolist()
    return {"data": data, "dtype": str(array.dtype), "lengths": value.recursive_sequence_lengths()}


def record(case: str) -> Any:
    import paddle

    main, startup, nn = paddle.static.Program(), paddle.static.Program(), Functions()
    place = paddle.CPUPlace()
    with paddle.static.program_guard(main, startup), paddle.utils.unique_name.guard():
        given, feed = [], {}
        for n, (array, lengths) in enumerate(CASES[case].inputs):
            shape = [None, *array.shape[1:]] if lengths else list(array.shape)
            variable = paddle.static.data(f"x{n}", shape, str(array.dtype), len(lengths))
            variable.stop_gradient = array.dtype.kind != "f"
            feed[variable.name] = paddle.base.create_lod_tensor(array, lengths, place) if lengths else array
            given.append(variable)
        made = CASES[case].build(nn, *given)
        made = list(made) if isinstance(made, (list, tuple)) else [made]
        levels = [each.lod_level for each in made]
        floats = [each for each in made if each.dtype == paddle.float32][: CASES[case].summed]
        wanted = [main.global_block().var(name) for name in nn.parameters]
        wanted = [v for v in given if not v.stop_gradient] + wanted
        gradients = [None] * len(wanted)
        if floats and wanted:
            loss = paddle.add_n([paddle.sum(paddle.square(each)) for each in floats])
            gradients = paddle.static.gradients(loss, wanted)
    executor = paddle.static.Executor(place)
    executor.run(startup)
    known = [each for each in gradients if each is not None]
    found = executor.run(main, feed, [*made, *known], return_numpy=False)
    slopes = iter(found[len(made) :])
    return {
        "outputs": [shown(each) for each in found[: len(made)]],
        "levels": levels,
        "gradients": {
            v.name: None if g is None else np.array(next(slopes)).astype(float).round(7).tolist()
            for v, g in zip(wanted, gradients, strict=True)
        },
    }


def main() -> None:
    import paddle

    paddle.enable_static()
    found = {}
    for case in CASES:
        try:
            found[case] = record(case)
        except Exception as error:
            print(f"{case}: {type(error).__name__}: {str(error).strip()[-300:]}")
    found["version"] = paddle.__version__
    path = Path(__file__).with_name("recorded_sequences.json")
    path.write_text(
        "{\n" + ",\n".join(f'"{k}": {json.dumps(v)}' for k, v in found.items()) + "\n}\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
