"""PaddleSlim's functions that quantize Programs and models in files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from engine.program.run.executor import Executor
from engine.program.run.scope import Scope
from engine.static.quantization.post_training import PostTrainingQuantization
from engine.static.quantization.quanter import convert, quant_aware
from engine.static.quantization.weights import WeightQuantization

__all__ = [
    "convert",
    "quant_aware",
    "quant_post",
    "quant_post_dynamic",
    "quant_post_only_weight",
    "quant_post_static",
]


def quant_post_static(
    executor: Executor,
    model_dir: str,
    quantize_model_path: str,
    batch_generator: Callable[[], Iterable[Any]] | None = None,
    sample_generator: Callable[[], Iterable[Any]] | None = None,
    data_loader: Iterable[Any] | Callable[[], Iterable[Any]] | None = None,
    model_filename: str | None = None,
    params_filename: str | None = None,
    save_model_filename: str = "model.pdmodel",
    save_params_filename: str = "model.pdiparams",
    batch_size: int = 1,
    batch_nums: int | None = None,
    scope: Scope | None = None,
    algo: str = "hist",
    round_type: str = "round",
    hist_percent: float = 0.9999,
    bias_correction: bool = False,
    quantizable_op_type: Sequence[str] = [
        "conv2d",
        "depthwise_conv2d",
        "conv2d_transpose",
        "mul",
        "matmul",
        "matmul_v2",
    ],
    is_full_quantize: bool = False,
    weight_bits: int = 8,
    activation_bits: int = 8,
    activation_quantize_type: str = "range_abs_max",
    weight_quantize_type: str = "channel_wise_abs_max",
    optimize_model: bool = False,
    onnx_format: bool = True,
    skip_tensor_list: Sequence[str] | None = None,
    deploy_backend: str | None = None,
) -> None:
    """Quantize the model in the folder ``model_dir``, calibrated with data, and write it into the folder
    ``quantize_model_path`` as ``save_model_filename`` without its ending.

    The data is given by one of ``sample_generator``, ``batch_generator`` and ``data_loader``; at most
    ``batch_nums`` batches, of ``batch_size`` samples of a ``sample_generator``, are used. The rest, and what
    is raised, is as in ``paddle.static.quantization.PostTrainingQuantization``. Nothing is written where
    anything fails.

    Differs from Paddle: all three sources of data work.
    """
    quantization = PostTrainingQuantization(
        executor,
        model_dir,
        scope=scope,
        model_filename=model_filename,
        params_filename=params_filename,
        batch_generator=batch_generator,
        sample_generator=sample_generator,
        data_loader=data_loader,
        batch_size=batch_size,
        batch_nums=batch_nums,
        algo=algo,
        hist_percent=hist_percent,
        quantizable_op_type=quantizable_op_type,
        round_type=round_type,
        is_full_quantize=is_full_quantize,
        bias_correction=bias_correction,
        activation_bits=activation_bits,
        weight_bits=weight_bits,
        activation_quantize_type=activation_quantize_type,
        weight_quantize_type=weight_quantize_type,
        onnx_format=onnx_format,
        optimize_model=optimize_model,
        skip_tensor_list=skip_tensor_list,
        deploy_backend=deploy_backend,
    )
    quantization.quantize()
    quantization.save_quantized_model(quantize_model_path, save_model_filename, save_params_filename)


quant_post = quant_post_static


def quant_post_dynamic(
    model_dir: str,
    save_model_dir: str,
    model_filename: str | None = None,
    params_filename: str | None = None,
    save_model_filename: str = "model.pdmodel",
    save_params_filename: str = "model.pdiparams",
    quantizable_op_type: Sequence[str] = ["conv2d", "mul"],
    weight_bits: int = 8,
    generate_test_model: bool = False,
) -> None:
    """Store the weights of the model in ``model_dir`` as integers; values stay in float.

    It is written into the folder ``quantized_model`` of ``save_model_dir``. The rest is as in
    ``paddle.static.quantization.WeightQuantization``.
    """
    WeightQuantization(model_dir, model_filename, params_filename).quantize_weight_to_int(
        save_model_dir,
        save_model_filename,
        save_params_filename,
        quantizable_op_type,
        weight_bits,
        generate_test_model=generate_test_model,
    )


quant_post_only_weight = quant_post_dynamic
