"""Quantization after training as Paddle's classes offer it: calibrated with data, or of the weights alone."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from glob import escape
from typing import Any

from engine.core.errors import ArgumentError, DTypeError, UnsupportedError
from engine.files.plain import StrPath
from engine.program.graph.program import Program
from engine.program.graph.variable import Variable
from engine.program.passes.clone import clone
from engine.program.passes.quantization.old_format import to_old_format
from engine.program.passes.quantization.selection import select
from engine.program.run.executor import Executor
from engine.program.run.scope import Scope
from engine.quantization.calibration.data import Batches
from engine.quantization.options import QuantizeOptions
from engine.quantization.post_training import Quantized, find_ranges, quantize_program
from engine.static.compiled import CompiledProgram, program_of
from engine.static.helper import require_executor
from engine.static.inference_files import model_at
from engine.static.quantization.batches import calibration_feeds
from engine.static.quantization.choices import (
    ACTIVATION_TYPES,
    ALGORITHMS,
    FULL,
    ROUNDS,
    WEIGHT_TYPES,
    in_name_scope,
    one_of,
    op_types,
)

__all__ = ["PostTrainingQuantization", "PostTrainingQuantizationProgram"]

_PRODUCTS = ("conv2d", "depthwise_conv2d", "conv2d_transpose", "mul", "matmul", "matmul_v2")


class _Quantization:
    """What both classes share: the choices, the data, and what is made of them."""

    def __init__(
        self,
        where: str,
        program: Program,
        feeds: Sequence[str],
        fetches: Sequence[str],
        scope: Scope | None,
        choices: dict[str, Any],
    ) -> None:
        self._where = where
        self._float, self._scope = program, scope
        self._feed_list, self._fetch_list = list(feeds), list(fetches)
        self._old_format = None if choices["onnx_format"] else choices["activation_quantize_type"]
        self._options = _options(where, program, choices)
        block = program.global_block()
        self._feeds = calibration_feeds(
            where,
            [block.var(name) for name in self._feed_list],
            **{
                k: choices[k]
                for k in ("sample_generator", "batch_generator", "data_loader", "batch_size", "batch_nums")
            },
        )
        self._quantized: Quantized | None = None

    def quantize(self) -> Program:
        """Calibrate, and return the quantized Program, which holds its parameters itself.

        With ``algo`` min_max it stays in float; see ``engine.quantization.post_training.find_ranges``. Raises
        as ``engine.quantization.post_training.quantize_program``.
        """
        if self._options.algo == "min_max":
            self._quantized = find_ranges(
                self._float,
                self._feeds,
                self._options,
                inputs=self._feed_list,
                outputs=self._fetch_list,
                scope=self._scope,
            )
            return self._quantized.program
        self._quantized = quantize_program(
            self._float,
            self._feeds,
            self._options,
            inputs=self._feed_list,
            outputs=self._fetch_list,
            scope=self._scope,
        )
        if self._old_format is not None:
            program = clone(self._quantized.program)
            to_old_format(program, self._old_format)
            self._quantized = replace(self._quantized, program=program)
        return self._quantized.program

    def save_quantized_model(
        self, save_model_path: str, model_filename: str | None = None, params_filename: str | None = None
    ) -> None:
        """Write the inference files of the quantized Program into the folder ``save_model_path``.

        They are called ``model``, or ``model_filename`` without its ending; ``params_filename`` is accepted:
        the files of a model have one name. Raises ArgumentError before ``quantize()``, SaveError where
        writing fails.
        """
        if self._quantized is None:
            raise ArgumentError(f"{self._where}: there is no quantized model yet; call quantize() first")
        self._quantized.save(model_prefix(save_model_path, model_filename or "model"))


class PostTrainingQuantization(_Quantization):
    """Quantizes a model in inference files, calibrated with data.

    ``model_dir`` is their folder and ``model_filename`` the name of the ``.pdmodel`` in it (``__model__`` by
    default), or ``model_dir`` is their prefix. Its parameters are put into ``scope`` (a new one by default:
    those of the global scope stay as they are). The data is given by one of ``sample_generator``,
    ``batch_generator``, ``data_loader``, see ``batches.calibration_feeds``.

    ``algo``: KL, hist, avg, mse, emd, abs_max, ptf, or min_max, which only finds ranges. KL is Paddle's,
    which counts zeros and cuts too much off behind a ReLU: hist and mse lose less accuracy.
    ``skip_tensor_list``: names of Variables; the operators that read them stay in float. ``deploy_backend``:
    None, tensorrt, mkldnn or arm adds operators that are quantized. ``is_use_cache_file``, ``cache_dir``,
    ``learning_rate`` change nothing, ``activation_quantize_type`` nothing in onnx format.

    Raises ArgumentError and DTypeError for choices that are not possible, AbsentError and FormatError for
    files that can't be read.

    Differs from Paddle: batch norms are always folded into convolutions first (``optimize_model``); weights
    and values may have different bits; thresholds of results that no product reads are not stored; bins of KL
    and hist begin at 0 (Paddle's begin at the smallest absolute value, which its threshold then lacks: of
    values from 0.3 to 1 it is 0.70, here 1.00).
    """

    def __init__(
        self,
        executor: Executor,
        model_dir: str,
        scope: Scope | None = None,
        model_filename: str | None = None,
        params_filename: str | None = None,
        batch_generator: Batches | None = None,
        sample_generator: Batches | None = None,
        data_loader: Batches | None = None,
        batch_size: int = 10,
        batch_nums: int | None = None,
        algo: str = "KL",
        hist_percent: float = 0.99999,
        quantizable_op_type: Sequence[str] | None = [],
        round_type: str = "round",
        learning_rate: float = 0.001,
        is_full_quantize: bool = False,
        bias_correction: bool = False,
        activation_bits: int = 8,
        weight_bits: int = 8,
        activation_quantize_type: str = "range_abs_max",
        weight_quantize_type: str = "channel_wise_abs_max",
        onnx_format: bool = False,
        freeze_model: bool = True,
        optimize_model: bool = False,
        is_use_cache_file: bool = False,
        skip_tensor_list: Sequence[str] | None = None,
        same_scale_tensor_list: Sequence[Sequence[str]] | None = None,
        cache_dir: StrPath | None = None,
        scale_dict: Mapping[str, Any] | None = None,
        return_graph: bool = False,
        deploy_backend: str | None = None,
    ) -> None:
        choices = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        where = "PostTrainingQuantization"
        _require(where, choices)
        held = Scope() if scope is None else scope
        program = model_at(model_prefix(model_dir, model_filename), held)
        super().__init__(where, program, list(program.inputs), list(program.outputs), held, choices)


class PostTrainingQuantizationProgram(_Quantization):
    """Quantizes a Program, whose parameters are in ``scope``, calibrated with data.

    ``feed_list`` and ``fetch_list`` are Variables or their names. The rest is as in
    ``PostTrainingQuantization``.
    """

    def __init__(
        self,
        executor: Executor,
        program: Program | CompiledProgram,
        feed_list: Sequence[str | Variable] | None = None,
        fetch_list: Sequence[str | Variable] | None = None,
        scope: Scope | None = None,
        batch_generator: Batches | None = None,
        sample_generator: Batches | None = None,
        data_loader: Batches | None = None,
        batch_size: int = 10,
        batch_nums: int | None = None,
        algo: str = "KL",
        hist_percent: float = 0.99999,
        quantizable_op_type: Sequence[str] | None = ["conv2d", "depthwise_conv2d", "mul"],
        round_type: str = "round",
        learning_rate: float = 0.001,
        is_full_quantize: bool = False,
        bias_correction: bool = False,
        activation_bits: int = 8,
        weight_bits: int = 8,
        activation_quantize_type: str = "range_abs_max",
        weight_quantize_type: str = "channel_wise_abs_max",
        onnx_format: bool = False,
        freeze_model: bool = True,
        optimize_model: bool = False,
        is_use_cache_file: bool = False,
        skip_tensor_list: Sequence[str] | None = None,
        same_scale_tensor_list: Sequence[Sequence[str]] | None = None,
        cache_dir: StrPath | None = None,
        scale_dict: Mapping[str, Any] | None = None,
        return_graph: bool = True,
    ) -> None:
        choices = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        where = "PostTrainingQuantizationProgram"
        _require(where, choices)
        plain = program_of(where, program)
        names = [
            [v if isinstance(v, str) else v.name for v in given] if given else list(own)
            for given, own in ((feed_list, plain.inputs), (fetch_list, plain.outputs))
        ]
        for what, found in zip(("feed_list", "fetch_list"), names, strict=True):
            if not found:
                raise ArgumentError(f"{where}: the Program does not say what is fed and fetched; pass {what}")
        super().__init__(where, plain, names[0], names[1], scope, choices)


def model_prefix(folder: StrPath, file_name: str | None) -> str:
    """The prefix of inference files in a folder, or ``folder`` where that is a prefix itself."""
    if not isinstance(folder, (str, os.PathLike)):
        raise DTypeError(f"quantization: a folder must be a string: got {type(folder).__name__}")
    path = os.fspath(folder)
    if file_name is None and not os.path.isdir(path):
        return path
    name = "__model__" if file_name is None else file_name
    return os.path.join(path, name.removesuffix(".pdmodel"))


def _require(where: str, choices: dict[str, Any]) -> None:
    """Raise for choices that are not possible, before anything is read."""
    if choices["executor"] is None:
        raise ArgumentError(f"{where}: executor is None; pass paddle.static.Executor()")
    require_executor(where, choices["executor"])
    one_of(where, "algo", choices["algo"], ALGORITHMS)
    one_of(where, "round_type", choices["round_type"], ROUNDS)
    one_of(where, "activation_quantize_type", choices["activation_quantize_type"], ACTIVATION_TYPES)
    one_of(where, "weight_quantize_type", choices["weight_quantize_type"], WEIGHT_TYPES)
    if choices["activation_quantize_type"] == "abs_max" and not choices["onnx_format"]:
        raise UnsupportedError(
            f"{where}: activation_quantize_type='abs_max' is not possible in the old format: thresholds are "
            "those of the calibration; use 'range_abs_max'"
        )
    for name, why in (
        ("same_scale_tensor_list", "each value has its own threshold; leave it out"),
        ("scale_dict", "pass calibration data, or use paddle.static.quantization.quant_aware with it"),
    ):
        if choices[name] is not None:
            raise UnsupportedError(f"{where}: {name} is not possible: {why}")


def _options(where: str, program: Program, choices: dict[str, Any]) -> QuantizeOptions:
    wanted = choices["quantizable_op_type"] or _PRODUCTS
    types = op_types(where, FULL if choices["is_full_quantize"] else wanted, choices.get("deploy_backend"))
    return QuantizeOptions(
        algo=ALGORITHMS[choices["algo"]],
        weight_bits=choices["weight_bits"],
        activation_bits=choices["activation_bits"],
        weight_type=choices["weight_quantize_type"],
        hist_percent=choices["hist_percent"],
        bias_correction=choices["bias_correction"],
        rounding="adaptive" if choices["round_type"] == "adaround" else "nearest",
        op_types=types,
        skip=_skipped(program, types, choices["skip_tensor_list"] or ()),
    )


def _skipped(program: Program, types: Sequence[str], tensors: Sequence[str]) -> tuple[str, ...]:
    """The layers that stay in float: they read one of ``tensors``, or were made in a scope ``skip_quant``."""
    operators = program.global_block().ops
    return tuple(
        escape(layer.name)
        for layer in select(program, types)
        if layer.quantized
        and (
            not {layer.weight, *layer.activations}.isdisjoint(tensors)
            or in_name_scope(operators[layer.position], ["skip_quant"])
        )
    )
