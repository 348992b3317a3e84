"""``WeightQuantization``: the weights of a model in files become integers; no data is needed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NoReturn

import numpy as np

from engine.core.errors import UnsupportedError
from engine.program.graph.program import Program
from engine.program.passes.clone import clone
from engine.program.passes.quantization.freeze import IntegerWeight, to_values
from engine.program.passes.quantization.insert import new_weight, rename
from engine.program.passes.rewriter import Rewriter
from engine.program.run.scope import Scope
from engine.quantization.options import QuantizeOptions
from engine.quantization.post_training import quantize_weights
from engine.static.inference_files import model_at, save_inference_model
from engine.static.quantization.choices import WEIGHT_TYPES, one_of, op_types
from engine.static.quantization.post_training import model_prefix

__all__ = ["WeightQuantization"]


class WeightQuantization:
    """The model in the folder ``model_dir``, with weights of integers: a quarter of the size at 8 bits.

    ``model_filename`` as of ``PostTrainingQuantization``; ``params_filename`` is accepted.
    """

    def __init__(
        self, model_dir: str, model_filename: str | None = None, params_filename: str | None = None
    ) -> None:
        self._prefix = model_prefix(model_dir, model_filename)

    def quantize_weight_to_int(
        self,
        save_model_dir: str,
        save_model_filename: str | None = None,
        save_params_filename: str | None = None,
        quantizable_op_type: Sequence[str] = ["conv2d", "mul"],
        weight_bits: int = 8,
        weight_quantize_type: str = "channel_wise_abs_max",
        generate_test_model: bool = False,
        threshold_rate: float = 0.0,
    ) -> None:
        """Write the model with weights of 2 to 16 bits into the folder ``quantized_model`` of
        ``save_model_dir``; with ``generate_test_model`` also one whose weights are floats again, into
        ``test_model``.

        Raises ArgumentError for choices that are not possible, AbsentError and FormatError for files that
        can't be read, SaveError where writing fails.

        Differs from Paddle: the quantized model runs as any other does, and other products than conv2d,
        depthwise_conv2d and mul are possible.
        """
        where = "quantize_weight_to_int"
        one_of(where, "weight_quantize_type", weight_quantize_type, WEIGHT_TYPES)
        if threshold_rate:
            raise UnsupportedError(
                f"{where}: threshold_rate {threshold_rate!r}: weights are not cut off; use "
                "weight_quantize_type='channel_wise_abs_max', which needs no threshold"
            )
        options = QuantizeOptions(
            weight_bits=weight_bits,
            weight_type=weight_quantize_type,
            op_types=op_types(where, quantizable_op_type),
        )
        scope = Scope()
        found = quantize_weights(model_at(self._prefix, scope), options, scope=scope)
        name = save_model_filename or "model"
        found.save(model_prefix(os.path.join(save_model_dir, "quantized_model"), name))
        if generate_test_model:
            program = _in_float(found.program)
            block = program.global_block()
            save_inference_model(
                model_prefix(os.path.join(save_model_dir, "test_model"), name),
                [block.var(n) for n in program.inputs],
                [block.var(n) for n in program.outputs],
                None,
                program=program,
            )

    def convert_weight_to_fp16(self, save_model_dir: str) -> NoReturn:
        """Refused: UnsupportedError names what to use."""
        raise UnsupportedError(
            "convert_weight_to_fp16: a model whose files say another dtype than its Program is not possible; "
            "use paddle.amp.decorate(level='O2') before the model is saved"
        )


def _in_float(program: Program) -> Program:
    """A copy whose weights are the values that their integers stand for."""
    made = clone(program)
    block, rewriter = made.global_block(), Rewriter(made)
    for operator in list(block.ops):
        if operator.opdef.name != "dequantize_linear" or not operator.inputs[0].persistable:
            continue
        integers, scale = operator.inputs[:2]
        axis = operator.attrs["quant_axis"]
        values = to_values(
            IntegerWeight(
                integers.tensor.numpy(),
                scale.tensor.numpy(),
                None if axis < 0 else axis,
                operator.attrs["bit_length"],
            ),
            np.float32 if scale.dtype.name == "float32" else np.float64,
        )
        name = integers.name
        for held in [v for v in operator.inputs if v is not None]:
            block.vars.pop(held.name, None)
        weight = new_weight(block, f"{name}.float", values)
        rewriter.replace(operator.outputs[0], weight)
        rewriter.erase([operator])
        rename(weight, name)
        weight.tensor.name = name
    made.changed()
    return made
