"""Runs a prepared Program over calibration data: thresholds of values, and how much rounding changes them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from engine.core.errors import NotFiniteError
from engine.core.place import CPUPlace
from engine.ops.quantization import linear
from engine.program.passes.quantization.freeze import IntegerWeight
from engine.program.run.executor import Executor
from engine.quantization.calibration import ALGORITHMS, Calibrator, MinMax
from engine.quantization.calibration.data import WHERE, Batches, CalibrationData, Feed
from engine.quantization.options import QuantizeOptions
from engine.quantization.preparing import Prepared
from engine.quantization.weights.integers import AdaptiveRounding, Key

Array = np.ndarray[Any, Any]

Progress: TypeAlias = Callable[[int, int | None], object]
"""Receives the samples read so far, in all passes, and how many there will be; None where that is not known.
"""

_MEASURED = 64  # samples on which noise is measured


@dataclass(frozen=True)
class Calibration:
    """``thresholds`` of values by the name of the Variable, the samples they come from, and the seconds that
    took. ``noise`` is the power of what rounding changes over the power of the value, where it has any;
    ``weights`` are those whose rounding depends on the samples. ``ranges`` are the smallest and the largest
    values, where the algorithm is min_max."""

    thresholds: Mapping[str, float]
    noise: Mapping[str, float]
    samples: int
    seconds: float
    weights: Mapping[Key, IntegerWeight] = field(default_factory=dict)
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)


def calibrate(prepared: Prepared, batches: Batches, progress: Progress | None = None) -> Calibration:
    """Find the thresholds of all values that quantized layers read.

    One batch is in memory at a time, with the values of that batch. What ``progress`` raises ends the
    calibration. Raises as ``CalibrationData``, and NotFiniteError for values of the model that are nan.
    """
    options = prepared.options
    names = activations(prepared)
    made, adaptive = {name: calibrator(options) for name in names}, AdaptiveRounding(prepared)
    passes = max((each.passes for each in made.values()), default=0)
    data = CalibrationData(batches, prepared.inputs, options.samples)
    data.require_passes(options.algo, passes)
    started, done = time.perf_counter(), 0
    cached: list[Feed] = []
    total = None if options.samples is None else options.samples * passes
    for turn in range(passes):
        measured = 0
        for number, feed in enumerate(data.feeds()):
            _collect(prepared, made, feed, turn, number, adaptive)
            if turn == 0 and measured < _MEASURED:
                cached.append(feed)
                measured = data.read
            if progress is not None:
                progress(done + data.read, total)
        done += data.read
    thresholds = {name: float(each.threshold()) for name, each in made.items()}
    weights = {}
    for key, weight in adaptive.weights():
        weights[key] = weight
        if progress is not None:
            progress(done, total)  # what it raises ends this, too
    seconds = time.perf_counter() - started
    ranges = {name: each.range() for name, each in made.items() if isinstance(each, MinMax)}
    noise = noise_of(prepared, thresholds, cached)
    return Calibration(thresholds, noise, data.read, seconds, weights, ranges)


def _collect(
    prepared: Prepared,
    made: Mapping[str, Calibrator],
    feed: Feed,
    turn: int,
    number: int,
    adaptive: AdaptiveRounding,
) -> None:
    """Show the values of one batch to their calibrators and, in the first turn, to the rounding."""
    found = values_at(prepared, feed, list(made))
    for (name, each), values in zip(made.items(), found, strict=True):
        try:
            (each.collect_again if turn else each.collect)(values)
        except NotFiniteError:
            reader = next(e.name for e in prepared.layers if name in e.activations)
            raise NotFiniteError(
                f"{WHERE}, batch {number}: {name!r}, which layer {reader!r} reads, becomes nan or infinite; "
                "train the model again, or skip the layer that computes it"
            ) from None
    if turn == 0:
        adaptive.collect(list(made), found)


def noise_of(prepared: Prepared, thresholds: Mapping[str, float], feeds: Sequence[Feed]) -> dict[str, float]:
    """The power of what rounding changes over the power of the value, by name; not of values that are 0."""
    options, sums = prepared.options, {name: np.zeros(2) for name in thresholds}
    for feed in feeds:
        for name, values in zip(thresholds, values_at(prepared, feed, list(thresholds)), strict=True):
            changed = rounded(values, thresholds[name], options.activation_bits, options.round_type)
            sums[name] += powers(values, changed)
    return {name: float(noise / signal) for name, (noise, signal) in sums.items() if signal}


def calibrator(options: QuantizeOptions) -> Calibrator:
    """What finds the threshold of one value."""
    more = {"hist_percent": options.hist_percent} if options.algo == "hist" else {}
    return ALGORITHMS[options.algo](bits=options.activation_bits, **more)


def activations(prepared: Prepared) -> list[str]:
    """The values that quantized layers read, each once."""
    return list(dict.fromkeys(n for e in prepared.layers if e.quantized for n in e.activations))


def values_at(prepared: Prepared, feed: Feed, names: Sequence[str]) -> list[Array]:
    """The values of Variables of the Program in float for one batch."""
    return Executor(CPUPlace()).run(prepared.program, feed, list(names))


def rounded(values: Array, threshold: float, bits: int, round_type: int) -> Array:
    """What quantization makes of ``values``."""
    scale = np.array([threshold], values.dtype)
    attrs = {"quant_axis": -1, "bit_length": bits}
    integers = linear.quantize_linear.opdef.kernel(np, values, scale, round_type=round_type, **attrs)[0]
    return np.asarray(linear.dequantize_linear.opdef.kernel(np, integers, scale, **attrs))


def powers(values: Array, changed: Array) -> tuple[float, float]:
    """The power of what changed in ``values``, and of the values."""
    exact = values.astype(np.float64)
    return float(np.square(exact - changed).sum()), float(np.square(exact).sum())
