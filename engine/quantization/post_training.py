"""Quantization after training: a Program in float becomes one of integers, calibrated with samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from engine.core.errors import ArgumentError
from engine.jit.export import write_model
from engine.jit.saved.model_files import NATIVE
from engine.jit.translated_layer import FORWARD, TranslatedLayer
from engine.program.graph.program import Program
from engine.program.graph.variable import Variable
from engine.program.passes.clone import clone
from engine.program.passes.quantization.freeze import (
    IntegerWeight,
    freeze_weights,
    to_values,
    weight_key,
)
from engine.program.passes.quantization.insert import insert_pairs
from engine.program.passes.quantization.selection import Layer
from engine.program.run.scope import Scope
from engine.quantization.calibration.data import Batches
from engine.quantization.calibration.thresholds import Calibration, Progress, calibrate, powers
from engine.quantization.calibration.weights import by_channel
from engine.quantization.options import QuantizeOptions
from engine.quantization.preparing import NAMES, Prepared, only, prepare
from engine.quantization.report import LayerReport, Skipped
from engine.quantization.weights.integers import integer_weight

_LEAST = 1e-30  # thresholds up to here are those of values that are 0


@dataclass(frozen=True)
class Quantized:
    """A quantized Program, which holds its parameters itself, and what is known of its layers.

    ``layers`` are all, in order, those in ``skipped`` stay in float. ``thresholds`` are those of the values
    by the name of the Variable; ``samples`` calibrated them in ``seconds``. ``names`` are structured names of
    parameters by the name of their Variable.
    """

    program: Program
    layers: tuple[LayerReport, ...]
    skipped: tuple[Skipped, ...]
    thresholds: Mapping[str, float]
    options: QuantizeOptions
    samples: int
    seconds: float
    names: NAMES

    def layer(self) -> TranslatedLayer:
        """The Program as a Layer that predicts; they share the parameters."""
        variables = {name: {"structured_name": structured} for name, structured in self.names.items()}
        return TranslatedLayer({FORWARD: self.program}, {"variables": variables})

    def save(self, prefix: str, info: object = None, format: str = NATIVE) -> str:
        """Write the model as ``prefix``, in a format of ``jit.save``, and return its save id. Raises as
        ``jit.save``."""
        names = {id(v.tensor): self.names.get(v.name, v.name) for v in self.program.bound()}
        return write_model(
            prefix, clone(self.program), {}, names, {} if info is None else info, format=format
        )


def quantize_program(
    program: Program,
    feed_batches: Batches,
    options: QuantizeOptions | None = None,
    *,
    names: NAMES | None = None,
    inputs: Sequence[str | Variable] | None = None,
    outputs: Sequence[str | Variable] | None = None,
    scope: Scope | None = None,
    progress: Progress | None = None,
) -> Quantized:
    """Quantize what ``program`` predicts: batch norms folded, values calibrated with ``feed_batches``,
    weights stored as integers. Neither the Program nor its parameters change.

    ``feed_batches`` see ``calibration.data.Batches``; ``names`` are structured names of parameters by the
    name of their Variable, after which layers are called. ``inputs`` and ``outputs`` are needed where the
    Program
    does not say them; ``scope`` has the parameters that no Tensor holds.

    Raises as ``prepare`` and ``calibrate``.
    """
    prepared = prepare(
        program, options or QuantizeOptions(), names=names, inputs=inputs, outputs=outputs, scope=scope
    )
    return freeze(prepared, calibrate(prepared, feed_batches, progress))


def find_ranges(
    program: Program,
    feed_batches: Batches,
    options: QuantizeOptions,
    *,
    inputs: Sequence[str | Variable] | None = None,
    outputs: Sequence[str | Variable] | None = None,
    scope: Scope | None = None,
) -> Quantized:
    """What Paddle's min_max does: the Program stays in float, and operators that could be quantized have the
    ranges of their values and weights as attributes ``NAME.min`` and ``NAME.max``. Raises as ``prepare`` and
    ``calibrate``.
    """
    prepared = prepare(program, options, inputs=inputs, outputs=outputs, scope=scope)
    calibration = calibrate(prepared, feed_batches)
    made = freeze(prepared, calibration, layers=(), why="min_max only finds ranges")
    operators = made.program.global_block().ops
    for layer in prepared.layers:
        if layer.quantized:
            found: dict[str, Any] = {"with_quant_attr": True}
            for name in layer.activations:
                found[f"{name}.min"], found[f"{name}.max"] = calibration.ranges[name]
            if layer.weight:
                rows = by_channel(prepared.weight(layer), layer.axis)
                low, high = rows.min(axis=1).tolist(), rows.max(axis=1).tolist()
                one = layer.axis is None
                found[f"{layer.weight}.min"] = low[0] if one else low
                found[f"{layer.weight}.max"] = high[0] if one else high
            operator = operators[layer.position]
            operator.note("attrs", {**(operator.notes or {}).get("attrs", {}), **found})
    return made


def quantize_weights(
    program: Program,
    options: QuantizeOptions | None = None,
    *,
    names: NAMES | None = None,
    inputs: Sequence[str | Variable] | None = None,
    outputs: Sequence[str | Variable] | None = None,
    scope: Scope | None = None,
) -> Quantized:
    """Store the weights of ``program`` as integers and leave all values in float: no data is needed.

    Embeddings are quantized too where ``op_types`` has ``lookup_table_v2``. Raises as ``prepare``.
    """
    options = options or QuantizeOptions()
    if options.rounding != "nearest":
        raise ArgumentError(
            f"quantize: rounding {options.rounding!r} needs calibration data, and there is none; "
            "give batches, or round to nearest"
        )
    prepared = prepare(
        program, options, names=names, inputs=inputs, outputs=outputs, scope=scope, weights_only=True
    )
    return freeze(prepared, Calibration({}, {}, 0, 0.0))


def freeze(
    prepared: Prepared,
    calibration: Calibration,
    layers: Sequence[str] | set[str] | None = None,
    why: str = "left in float",
) -> Quantized:
    """The prepared Program with integers, by thresholds that are known. Of the same preparation many can be
    made: ``layers`` names those that are quantized (None: all that can be), the others say ``why`` not.
    """
    options = prepared.options
    chosen = [_used(layer, calibration) for layer in prepared.layers]
    if layers is not None:
        chosen = only(chosen, layers, why)
    weights = dict(calibration.weights)
    for layer in chosen:
        if layer.quantized and layer.weight and weight_key(layer) not in weights:
            weights[weight_key(layer)] = integer_weight(prepared.weight(layer), layer, options)
    made = clone(prepared.program)
    # Positions are those of the prepared Program: operators that are inserted come after they are looked up.
    operators = list(made.global_block().ops)
    insert_pairs(made, operators, chosen, calibration.thresholds, options.activation_bits, options.round_type)
    freeze_weights(made, operators, chosen, weights)
    return Quantized(
        program=made,
        layers=tuple(_report(prepared, layer, calibration, weights) for layer in chosen),
        skipped=tuple(Skipped(layer.name, layer.why) for layer in chosen if not layer.quantized),
        thresholds=dict(calibration.thresholds),
        options=options,
        samples=calibration.samples,
        seconds=calibration.seconds,
        names=prepared.names,
    )


def _used(layer: Layer, calibration: Calibration) -> Layer:
    """The layer, in float where its values were 0 in all samples: nothing is known of their range."""
    zero = [n for n in layer.activations if layer.quantized and calibration.thresholds[n] <= _LEAST]
    return replace(layer, why=f"{zero[0]} was 0 in all samples") if zero else layer


def _report(
    prepared: Prepared, layer: Layer, calibration: Calibration, weights: Mapping[Any, IntegerWeight]
) -> LayerReport:
    if not layer.quantized:
        return LayerReport(layer.name, layer.op, layer.weight, False)
    noises = [calibration.noise[n] for n in layer.activations if n in calibration.noise]
    weight_noise = None
    if layer.weight:
        exact = prepared.weight(layer)
        noise, signal = powers(exact, to_values(weights[weight_key(layer)], exact.dtype))
        weight_noise = noise / signal if signal else None
    return LayerReport(
        layer.name,
        layer.op,
        layer.weight,
        True,
        threshold=calibration.thresholds[layer.activations[0]] if layer.activations else None,
        noise_to_signal=max(noises) if noises else None,
        weight_noise_to_signal=weight_noise,
    )
