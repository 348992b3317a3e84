"""``PostTrainingQuantization``, ``WeightQuantization`` and paddleslim's functions over them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine import slim, static
from engine.core.errors import AbsentError, ArgumentError, DTypeError, EngineError, UnsupportedError
from engine.program.graph.check import check
from engine.static import quantization
from engine.static.inference_files import model_at
from tests.engine.static.quantization.networks import Built, answers, built, random_images, saved


def loader() -> Iterator[list[Any]]:
    images, _ = random_images()
    yield from ([part] for part in np.split(images, 3))


def samples() -> Iterator[tuple[Any, int]]:
    images, labels = random_images()
    yield from zip(images.reshape(-1, 64), labels[:, 0].tolist(), strict=True)


def stored(prefix: Path) -> dict[str, Any]:
    scope = static.Scope()
    program = model_at(str(prefix), scope)
    check(program)
    persistables = {
        v.name: scope.find_var(v.name) for v in program.global_block().vars.values() if v.persistable
    }
    return {name: found.get_tensor().numpy() for name, found in persistables.items()}


@pytest.mark.parametrize(
    "source",
    [
        {"data_loader": loader},
        {"batch_generator": loader},
        {"sample_generator": samples, "batch_size": 8},
    ],
    ids=lambda source: next(iter(source)),
)
def test_three_sources_of_data_give_the_same_model(tmp_path: Path, source: dict[str, Any]) -> None:
    saved(tmp_path)
    slim.quant.quant_post_static(
        static.Executor(),
        str(tmp_path),
        str(tmp_path / "out"),
        model_filename="float.pdmodel",
        params_filename="float.pdiparams",
        algo="abs_max",
        **source,
    )
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [
        "model.pdiparams",
        "model.pdiparams.info",
        "model.pdmodel",
    ]
    weights = stored(tmp_path / "out" / "model")
    integers = {name for name, array in weights.items() if array.dtype == np.int8}
    assert integers == {"conv2d_0.w_0", "conv2d_1.w_0", "conv2d_transpose_0.w_0", "fc_0.w_0", "fc_1.w_0"}
    assert weights["image@scale"] == np.abs(random_images()[0]).max()
    np.testing.assert_allclose(answers(tmp_path / "out" / "model"), answers(tmp_path / "float"), atol=0.03)


def test_the_global_scope_keeps_its_values(tmp_path: Path, scope: static.Scope) -> None:
    saved(tmp_path)
    before = scope.find_var("fc_0.w_0").get_tensor().numpy()
    quantized = quantization.PostTrainingQuantization(
        static.Executor(), str(tmp_path / "float"), data_loader=loader, onnx_format=True, algo="avg"
    )
    with pytest.raises(ArgumentError, match=r"call quantize\(\) first"):
        quantized.save_quantized_model(str(tmp_path))
    program = quantized.quantize()
    assert program.global_block().var("fc_0.w_0").dtype.name == "int8"
    quantized.save_quantized_model(str(tmp_path / "out"), "int.pdmodel", "int.pdiparams")
    assert (tmp_path / "out" / "int.pdmodel").exists()
    np.testing.assert_array_equal(scope.find_var("fc_0.w_0").get_tensor().numpy(), before)


def test_a_program_in_memory_is_quantized(scope: static.Scope) -> None:
    net = built()
    quantized = quantization.PostTrainingQuantizationProgram(
        net.executor,
        net.test,
        feed_list=[net.image],
        fetch_list=[net.out],
        data_loader=loader,
        onnx_format=True,
        algo="hist",
        quantizable_op_type=["mul"],
        weight_bits=4,
        activation_bits=16,
    ).quantize()
    kinds = [op.type for op in quantized.global_block().ops]
    assert kinds.count("quantize_linear") == 2
    (exact,) = net.executor.run(net.test, feed=feed(net), fetch_list=[net.out])
    (rough,) = net.executor.run(quantized, feed={"image": random_images()[0]}, fetch_list=quantized.outputs)
    assert 0 < np.abs(exact - rough).max() < 0.1
    assert int(np.abs(quantized.global_block().var("fc_0.w_0").tensor.numpy()).max()) == 7


def feed(net: Built) -> dict[str, Any]:
    images, labels = random_images()
    return {net.image.name: images, net.label.name: labels}


@pytest.mark.parametrize(
    ("options", "quantized"),
    [
        ({}, {"conv2d_0.w_0", "conv2d_1.w_0", "conv2d_transpose_0.w_0", "fc_0.w_0", "fc_1.w_0"}),
        ({"skip_tensor_list": ["fc_1.w_0", "image"]}, {"conv2d_1.w_0", "conv2d_transpose_0.w_0", "fc_0.w_0"}),
        ({"quantizable_op_type": ["depthwise_conv2d"]}, {"conv2d_1.w_0"}),
    ],
)
def test_quant_post_quantizes_the_listed_operators(
    tmp_path: Path, options: dict[str, Any], quantized: set[str]
) -> None:
    saved(tmp_path)
    slim.quant.quant_post(
        static.Executor(),
        str(tmp_path / "float"),
        str(tmp_path / "out"),
        data_loader=loader,
        algo="abs_max",
        **options,
    )
    weights = stored(tmp_path / "out" / "model")
    assert {name for name, array in weights.items() if array.dtype == np.int8} == quantized


@pytest.mark.parametrize(
    ("options", "more"),
    [({"is_full_quantize": True}, {"relu", "softmax"}), ({"deploy_backend": "TensorRT"}, {"relu"})],
)
def test_more_than_products(tmp_path: Path, options: dict[str, Any], more: set[str]) -> None:
    saved(tmp_path)
    program = quantization.PostTrainingQuantization(
        static.Executor(),
        str(tmp_path / "float"),
        data_loader=loader,
        onnx_format=True,
        algo="abs_max",
        **options,
    ).quantize()
    pairs = {op.output("Y")[0] for op in program.global_block().ops if op.type == "dequantize_linear"}
    read = {op.type for op in program.global_block().ops if pairs & set(op.input_arg_names)}
    assert more <= read


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"executor": None}, ArgumentError, r"executor is None; pass paddle\.static\.Executor\(\)"),
        ({"executor": 3}, DTypeError, "executor must be an Executor: got int"),
        ({"algo": "best"}, ArgumentError, "algo is 'best': choose from KL, hist"),
        ({"weight_bits": 1}, ArgumentError, "weight_bits must be 2 to 16: got 1"),
        ({"weight_quantize_type": "mean"}, ArgumentError, "weight_quantize_type is 'mean'"),
        ({"quantizable_op_type": ["conv3d"]}, ArgumentError, "an operator to quantize is 'conv3d'"),
        ({"round_type": "up"}, ArgumentError, "round_type is 'up': choose from round, adaround"),
        (
            {"onnx_format": False, "activation_quantize_type": "abs_max"},
            UnsupportedError,
            "'abs_max' is not possible in the old format",
        ),
        ({"deploy_backend": "npu"}, ArgumentError, "deploy_backend is 'npu'"),
        ({"data_loader": None}, ArgumentError, "needs one of sample_generator"),
        ({"model_dir": "nowhere"}, AbsentError, "nowhere"),
        (
            {"same_scale_tensor_list": [["a", "b"]]},
            UnsupportedError,
            "same_scale_tensor_list is not possible",
        ),
        ({"data_loader": [[np.full((2, 1, 8, 8), np.nan, "float32")]]}, EngineError, "128 of 128 values"),
    ],
)
def test_bad_input_is_reported_and_nothing_is_written(
    tmp_path: Path, options: dict[str, Any], error: type[Exception], said: str
) -> None:
    saved(tmp_path)
    given = {"executor": static.Executor(), "model_dir": str(tmp_path / "float"), "data_loader": loader}
    with pytest.raises(error, match=said):
        quantization.PostTrainingQuantization(**{**given, "onnx_format": True, **options}).quantize()
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "float.pdiparams",
        "float.pdiparams.info",
        "float.pdmodel",
    ]


@pytest.mark.parametrize(("bits", "dtype"), [(8, np.int8), (16, np.int16)])
def test_weights_alone(tmp_path: Path, bits: int, dtype: Any) -> None:
    saved(tmp_path)
    slim.quant.quant_post_dynamic(
        str(tmp_path),
        str(tmp_path / "out"),
        "float.pdmodel",
        "float.pdiparams",
        "weights.pdmodel",
        weight_bits=bits,
        generate_test_model=True,
    )
    folder = tmp_path / "out"
    weights = stored(folder / "quantized_model" / "weights")
    assert {n for n, a in weights.items() if a.dtype == dtype} == {"conv2d_0.w_0", "fc_0.w_0", "fc_1.w_0"}
    floats = stored(folder / "test_model" / "weights")
    assert {a.dtype for a in floats.values()} == {np.dtype("float32")}
    found = answers(folder / "quantized_model" / "weights")
    np.testing.assert_allclose(found, answers(folder / "test_model" / "weights"), atol=1e-6)
    np.testing.assert_allclose(found, answers(tmp_path / "float"), atol=0.02 if bits == 8 else 1e-4)
    assert len(np.unique(floats["fc_0.w_0"][:, 0])) <= 2**bits


def test_weights_cut_off_or_of_16_bit_floats_are_refused(tmp_path: Path) -> None:
    saved(tmp_path)
    weights = quantization.WeightQuantization(str(tmp_path / "float"))
    with pytest.raises(UnsupportedError, match=r"threshold_rate 0\.1: weights are not cut off"):
        weights.quantize_weight_to_int(str(tmp_path / "out"), threshold_rate=0.1)
    with pytest.raises(UnsupportedError, match=r"paddle\.amp\.decorate"):
        weights.convert_weight_to_fp16(str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", ["range_abs_max", "moving_average_abs_max"])
def test_the_old_format_is_saved_and_answers_the_same(tmp_path: Path, kind: str) -> None:
    saved(tmp_path)
    for name, onnx in (("new", True), ("old", False)):
        slim.quant.quant_post_static(
            static.Executor(),
            str(tmp_path / "float"),
            str(tmp_path / name),
            data_loader=loader,
            algo="mse",
            onnx_format=onnx,
            activation_quantize_type=kind,
        )
    np.testing.assert_allclose(
        answers(tmp_path / "old" / "model"), answers(tmp_path / "new" / "model"), atol=0.01
    )
    scope = static.Scope()
    types = {op.type for op in model_at(str(tmp_path / "old" / "model"), scope).global_block().ops}
    assert f"fake_quantize_{kind}" in types
    assert not {"quantize_linear", "dequantize_linear"} & types
    weight = scope.find_var("fc_0.w_0").get_tensor().numpy()
    assert weight.dtype == np.float32
    np.testing.assert_array_equal(weight, np.round(weight))


def test_min_max_finds_ranges_and_leaves_the_model_in_float(tmp_path: Path) -> None:
    """As in Paddle 2.6.2, where no operator is added and each answer is that of the float model."""
    saved(tmp_path)
    made = quantization.PostTrainingQuantization(
        static.Executor(), str(tmp_path / "float"), data_loader=loader, onnx_format=True, algo="min_max"
    )
    program = made.quantize()
    made.save_quantized_model(str(tmp_path / "out"))
    types = [op.type for op in program.global_block().ops]
    assert not [name for name in types if "quantize" in name]
    exact, found = (answers(tmp_path / name) for name in ("float", "out/model"))
    np.testing.assert_allclose(found, exact, rtol=1e-5, atol=1e-6)
    images, _ = random_images()
    first = next(op for op in program.global_block().ops if op.type == "conv2d")
    assert (first.attr("image.min"), first.attr("image.max")) == (float(images.min()), float(images.max()))
    (weight,) = first.input("Filter")
    assert len(first.attr(f"{weight}.min")) == 4


RECORDED = {  # answers with Paddle 2.6.2 to the first sample, and the largest distance to float of four
    "KL": ([4.5543094, -10.1070385, -1.0088391], 3.962278),
    "abs_max": ([4.6181245, -10.004067, -0.9903342], 0.1649456),
    "hist": ([4.6169972, -10.001626, -0.99009246], 0.16701221),
    "min_max": ([4.4977775, -9.964843, -0.9883195], 0.0),
}


@pytest.mark.parametrize("onnx_format", [False, True])
@pytest.mark.parametrize("algo", RECORDED)
def test_answers_are_those_recorded_with_paddle(tmp_path: Path, algo: str, onnx_format: bool) -> None:
    first, second = (np.random.default_rng(n).normal(size=s).astype("float32") for n, s in enumerate(SIZES))
    data = [np.random.default_rng(5 + n).normal(size=8).astype("float32") for n in range(40)]
    x = static.data("x", [None, 8])
    attrs = [engine.ParamAttr(initializer=engine.nn.initializer.Assign(each)) for each in (first, second)]
    hidden = static.nn.fc(x, 16, weight_attr=attrs[0], activation="relu")
    out = static.nn.fc(hidden, 3, weight_attr=attrs[1])
    executor = static.Executor()
    executor.run(static.default_startup_program())
    static.save_inference_model(str(tmp_path / "m"), [x], [out], executor)
    feed = {"x": np.stack(data[:4])}
    (exact,) = executor.run(feed=feed, fetch_list=[out])
    made = quantization.PostTrainingQuantization(
        executor,
        str(tmp_path / "m"),
        batch_generator=lambda: ([part] for part in np.split(np.stack(data), 5)),
        algo=algo,
        onnx_format=onnx_format,
    )
    program = made.quantize()
    (found,) = executor.run(program, feed=feed, fetch_list=[program.global_block().var(out.name)])
    wanted, distance = RECORDED[algo]
    np.testing.assert_allclose(found[0], wanted, rtol=1e-5)
    np.testing.assert_allclose(np.abs(found - exact).max(), distance, rtol=1e-5, atol=1e-6)


SIZES = ((8, 16), (16, 3))
