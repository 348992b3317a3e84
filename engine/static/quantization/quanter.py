"""Training of Programs with quantization: ``quant_aware`` and ``convert``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, UnsupportedError
from engine.core.place import PlaceLike
from engine.eager.tensor import wrap
from engine.program.graph.program import Program
from engine.program.graph.variable import Variable
from engine.program.passes.clone import clone
from engine.program.passes.quantization.old_format import to_old_format
from engine.program.passes.quantization.selection import quantized_already, with_control_flow
from engine.program.passes.quantization.train import Training, freeze_trained, insert_for_training
from engine.program.run.executor import Executor
from engine.program.run.scope import Scope, global_scope, value_of
from engine.static.compiled import CompiledProgram, program_of
from engine.static.quantization.choices import config_of, in_name_scope

__all__ = ["convert", "quant_aware"]

_FUNCTIONS = ("weight_quantize_func", "act_quantize_func", "weight_preprocess_func", "act_preprocess_func")


def quant_aware(
    program: Program | CompiledProgram,
    place: PlaceLike | None,
    config: dict[str, Any] | None = None,
    scope: Scope | None = None,
    for_test: bool = False,
    weight_quantize_func: Callable[..., Any] | None = None,
    act_quantize_func: Callable[..., Any] | None = None,
    weight_preprocess_func: Callable[..., Any] | None = None,
    act_preprocess_func: Callable[..., Any] | None = None,
    optimizer_func: Callable[..., Any] | None = None,
    executor: Executor | None = None,
    return_program: bool = False,
    calib_config: Mapping[str, Any] = {},
    draw_graph: bool = False,
    return_scale_dict: bool = False,
    scale_dict: Mapping[str, Any] | None = None,
    model_type: str | None = None,
    pattern_ops: object = None,
) -> Any:
    """A copy of ``program`` whose products read their weights and values as quantized.

    ``program`` is one that trains (with its optimizer), or with ``for_test`` one that tests; both see
    the same thresholds, which are in ``scope`` (the global one by default) under the names
    ``VARIABLE@scale``. The copy of a training Program is returned as a CompiledProgram unless
    ``return_program``, with ``return_scale_dict`` in a tuple with ``scale_dict``, ``model_type`` and
    ``pattern_ops``.
    ``scale_dict`` are first thresholds by the name of the value.

    ``config`` has the keys of ``engine.static.quantization.choices.CONFIG``. ``place``, ``optimizer_func``,
    ``executor``, ``window_size`` and ``draw_graph`` are accepted and change nothing.

    Raises DTypeError and ArgumentError for a config that is not right, ArgumentError for a Program with
    control flow, that is quantized already or in which nothing can be quantized; UnsupportedError for
    functions of one's own.

    Differs from Paddle: thresholds of the results of operators, which only its mobile backends read, are not
    collected; old and onnx format train alike.
    """
    where = "quant_aware"
    functions = (weight_quantize_func, act_quantize_func, weight_preprocess_func, act_preprocess_func)
    for name, given in zip(_FUNCTIONS, functions, strict=True):
        if given is not None:
            raise UnsupportedError(
                f"{where}: {name} is not possible for Programs; train a Layer with "
                "paddle.quantization.QAT and quanters of one's own"
            )
    settings = config_of(where, config)
    if settings["quant_post_first"] and for_test:
        raise UnsupportedError(
            f"{where}: quant_post_first is not possible; pass first thresholds as scale_dict, by the "
            "names of the values"
        )
    held, first = global_scope() if scope is None else scope, scale_dict or {}
    made = clone(_plain(where, program))
    patterns = settings["not_quant_pattern"]
    training = Training(
        op_types=tuple(settings["quantize_op_types"]),
        weight_bits=settings["weight_bits"],
        activation_bits=settings["activation_bits"],
        channel_wise=settings["weight_quantize_type"] == "channel_wise_abs_max",
        moving_rate=settings["moving_rate"],
        frozen=for_test or not settings["scale_trainable"],
        skip=lambda operator: in_name_scope(operator, [patterns] if isinstance(patterns, str) else patterns),
    )

    def store(name: str, array: np.ndarray[Any, Any]) -> None:
        known = held.find_var(name)
        if name.removesuffix("@scale") in first:
            array = np.full_like(array, first[name.removesuffix("@scale")])
        elif training.frozen and known is not None and known.tensor is not None:
            return  # those of the training
        held.var(name).store(array)

    if not insert_for_training(made, training, store):
        raise ArgumentError(
            f"{where}: the Program has nothing to quantize: no {', '.join(training.op_types)} with weights; "
            "choose other quantize_op_types"
        )
    found = made if for_test or return_program else CompiledProgram(made)
    return (found, scale_dict, model_type, pattern_ops) if return_scale_dict else found


def convert(
    program: Program | CompiledProgram,
    place: PlaceLike | None,
    config: dict[str, Any] | None = None,
    scope: Scope | None = None,
    save_int8: bool = False,
) -> Any:
    """The Program to save and predict with, of the test Program that ``quant_aware`` made, after training.

    Its weights are integers, and it holds its parameters itself: those in ``scope`` (the global one by
    default) stay as they are. With ``onnx_format`` in the config, the default, weights are int8 (int16 above
    8 bits) and pass through dequantize_linear; else they are integers kept in float32 as in Paddle's old
    format. With ``save_int8`` a tuple: that Program, and one whose weights are int8 in any case.

    Raises ArgumentError for a Program without trained pairs, and as ``quant_aware`` for the config.

    Differs from Paddle: ``save_int8`` is possible in onnx format too.
    """
    where = "convert"
    settings = config_of(where, config)
    held = global_scope() if scope is None else scope
    given = program_of(where, program)
    made = clone(given)
    count = freeze_trained(made, lambda variable: _array(variable, held))
    if not count:
        raise ArgumentError(
            f"{where}: the Program has no weights in training: pass what quant_aware(program, place, "
            "for_test=True) made"
        )
    _own_values(made, held)
    found = made
    if not settings["onnx_format"]:
        found = clone(made)
        to_old_format(found, "moving_average_abs_max")
    return (found, clone(made)) if save_int8 else found


def _plain(where: str, program: Any) -> Program:
    """The Program, which can be quantized."""
    found = program_of(where, program)
    flow, pair = with_control_flow(found), quantized_already(found)
    if flow is not None:
        raise ArgumentError(
            f"{where}: the Program has control flow ({flow.type}), which can't be quantized; quantize one "
            "without branches and loops"
        )
    if pair is not None:
        raise ArgumentError(
            f"{where}: the Program is quantized already (it has {pair.type}); pass the one in float"
        )
    return found


def _array(variable: Variable, scope: Scope) -> np.ndarray[Any, Any]:
    array: np.ndarray[Any, Any] = value_of(variable, scope).numpy()
    return array


def _own_values(program: Program, scope: Scope) -> None:
    """Let a Program hold copies of its parameters."""
    for variable in program.global_block().vars.values():
        if variable.persistable and variable.tensor is None:
            tensor = wrap(_array(variable, scope))
            tensor.name, tensor.persistable = variable.name, True
            program.bind(variable, tensor)
