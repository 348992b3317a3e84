"""``quant_aware`` and ``convert``: training with quantization, and what is saved of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine import static
from engine.core.errors import ArgumentError, DTypeError, UnsupportedError
from engine.program.graph.check import check
from engine.static.quantization import convert, quant_aware
from tests.engine.static.quantization.networks import Built, answers, random_images, trained


def feed() -> dict[str, Any]:
    images, labels = random_images()
    return {"image": images, "label": labels}


def steps(net: Built, program: Any, count: int) -> list[float]:
    return [
        float(net.executor.run(program, feed=feed(), fetch_list=[net.loss.name])[0]) for _ in range(count)
    ]


CONFIG = {"quantize_op_types": ["conv2d", "depthwise_conv2d", "conv2d_transpose", "mul"]}


def test_trained_converted_and_saved_it_answers_the_same(tmp_path: Path) -> None:
    net = trained(2)
    train = quant_aware(net.program, net.executor.place, CONFIG)
    test = quant_aware(net.test, net.executor.place, CONFIG, for_test=True)
    assert isinstance(train, static.CompiledProgram)
    losses = steps(net, train, 12)
    assert losses[-1] < losses[0] / 2
    (expected,) = net.executor.run(test, feed=feed(), fetch_list=[net.out.name])
    converted, int8 = convert(test, net.executor.place, CONFIG, save_int8=True)
    for program in (converted, int8):
        check(program)
        (seen,) = net.executor.run(program, feed=feed(), fetch_list=[net.out.name])
        np.testing.assert_array_equal(seen, expected)
    out = converted.global_block().var(net.out.name)
    static.save_inference_model(str(tmp_path / "int8"), [net.image], [out], net.executor, program=int8)
    np.testing.assert_array_equal(answers(tmp_path / "int8"), expected)
    # What was converted holds its own values: training may continue.
    steps(net, train, 1)
    (seen,) = net.executor.run(converted, feed=feed(), fetch_list=[net.out.name])
    np.testing.assert_array_equal(seen, expected)


def test_the_old_format_keeps_integers_in_floats(scope: static.Scope) -> None:
    net = trained(2)
    config = {**CONFIG, "onnx_format": False}
    steps(net, quant_aware(net.program, None, config), 3)
    test = quant_aware(net.test, None, config, for_test=True)
    (expected,) = net.executor.run(test, feed=feed(), fetch_list=[net.out.name])
    converted, int8 = convert(test, None, config, save_int8=True)
    check(converted)
    (seen,) = net.executor.run(converted, feed=feed(), fetch_list=[net.out.name])
    np.testing.assert_allclose(seen, expected, atol=0.02)
    types = {op.type for op in converted.global_block().ops}
    assert {"fake_quantize_moving_average_abs_max", "fake_channel_wise_dequantize_max_abs"} <= types
    dtypes = [p.global_block().var("fc_0.w_0").dtype.name for p in (converted, int8)]
    assert dtypes == ["float32", "int8"]


def test_a_test_program_after_training_keeps_the_thresholds(scope: static.Scope) -> None:
    net = trained(1)
    steps(net, quant_aware(net.program, None), 2)
    before = scope.find_var("image@scale").get_tensor().numpy()
    assert before > 0.01
    quant_aware(net.test, None, for_test=True)
    np.testing.assert_array_equal(scope.find_var("image@scale").get_tensor().numpy(), before)


def test_name_scopes_and_types_choose(scope: static.Scope) -> None:
    with static.program_guard(program := static.Program()):
        x = static.data("x", [None, 4])
        with static.name_scope("skip_quant"):
            x = static.nn.fc(x, 4)
        with static.name_scope("head"):
            x = static.nn.fc(x, 4)
        engine.nn.functional.relu(static.nn.fc(x, 4))

    def weights(**config: Any) -> list[str]:
        made = quant_aware(program, None, config or None, for_test=True)
        return [
            op.input("X")[0]
            for op in made.global_block().ops
            if op.type == "quantize_linear"
            and op.input("X")[0].startswith("fc")
            and op.input("X")[0].endswith("w_0")
        ]

    assert weights() == ["fc_1.w_0", "fc_2.w_0"]
    assert weights(not_quant_pattern="head") == ["fc_0.w_0", "fc_2.w_0"]
    assert weights(not_quant_pattern=[]) == ["fc_0.w_0", "fc_1.w_0", "fc_2.w_0"]
    full = quant_aware(program, None, {"is_full_quantize": True}, for_test=True)
    assert "fc_2.tmp_1.quantized.dequantized" in full.global_block().vars


def test_first_thresholds_can_be_given(scope: static.Scope) -> None:
    net = trained(1)
    made, given, kind, operators = quant_aware(
        net.test, None, for_test=True, scale_dict={"image": 2.5}, return_scale_dict=True
    )
    assert (given, kind, operators) == ({"image": 2.5}, None, None)
    assert scope.find_var("image@scale").get_tensor().numpy().tolist() == [2.5]
    assert isinstance(made, static.Program)


@pytest.mark.parametrize(
    ("config", "error", "said"),
    [
        ([], DTypeError, "config must be a dict: got list; its keys are weight_quantize_type"),
        ({"bits": 8}, ArgumentError, "config has 'bits': its keys are"),
        ({"weight_bits": 17}, ArgumentError, r"config\['weight_bits'\] must be 2 to 16: got 17"),
        ({"weight_bits": True}, DTypeError, r"config\['weight_bits'\] is True: bool is not a int"),
        ({"moving_rate": 1}, DTypeError, r"config\['moving_rate'\] is 1: int is not a float"),
        ({"dtype": "uint8"}, ArgumentError, "dtype is 'uint8': choose from int8"),
        ({"weight_quantize_type": "x"}, ArgumentError, "weight_quantize_type is 'x': choose from abs_max, "),
        ({"quantize_op_types": ["gru"]}, ArgumentError, "an operator to quantize is 'gru'"),
        ({"quantize_op_types": ["concat"]}, ArgumentError, "has nothing to quantize: no concat with weights"),
        ({"quant_post_first": True}, UnsupportedError, "quant_post_first is not possible; pass first"),
    ],
)
def test_wrong_configs(config: Any, error: type[Exception], said: str) -> None:
    net = trained(0)
    with pytest.raises(error, match=said):
        quant_aware(net.test, None, config, for_test=True)


def test_unsupported_options_and_operators_are_reported() -> None:
    net = trained(0)
    with pytest.raises(UnsupportedError, match="act_preprocess_func is not possible for Programs"):
        quant_aware(net.program, None, act_preprocess_func=abs)
    made = quant_aware(net.program, None, return_program=True)
    with pytest.raises(ArgumentError, match="quantized already"):
        quant_aware(made, None)
    with pytest.raises(ArgumentError, match=r"no weights in training: pass what quant_aware"):
        convert(net.test, None)
    with static.program_guard(program := static.Program()):
        x = static.data("x", [2, 4])
        static.nn.cond(x.sum() > 0, lambda: static.nn.fc(x, 2), lambda: static.nn.fc(x, 2))
    with pytest.raises(ArgumentError, match=r"control flow \(conditional_block\)"):
        quant_aware(program, None)
