"""Which layers of a model are quantized: what each costs alone, and those that stay in float for a target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.core.errors import ArgumentError
from engine.quantization.calibration.thresholds import Calibration
from engine.quantization.comparison import share_right
from engine.quantization.post_training import Quantized, freeze
from engine.quantization.preparing import Prepared
from engine.quantization.sensitivity import drops_alone, keep_in_float, worst_first
from engine.training.measuring.metrics import r2_score
from engine.training.quantize.choices import Choices, Emit, report_progress
from engine.training.quantize.data import Labelled

if TYPE_CHECKING:
    from engine.nn import Layer

ALONE = 1_000
"""So many test samples say what each layer costs alone."""
_AT_ONCE = 256


def chosen_layers(
    prepared: Prepared,
    calibration: Calibration,
    before: Callable[[], Any],
    tested: Labelled | None,
    choices: Choices,
    emit: Emit,
) -> tuple[Quantized, dict[str, float]]:
    """The quantized Program, with layers in float for the target, and the points that each layer costs alone.

    Without test samples, or where it is not requested, all layers are quantized and none is measured.
    ``before`` gives the Layer that the target is about: after a training with quantization not the one that
    is quantized.

    Raises:
        ArgumentError: the target is not met, or the model gives no scores.
    """
    whole = freeze(prepared, calibration)
    target = choices.target_drop
    if tested is None or not (choices.sensitivity or target is not None):
        return whole, {}
    if prepared.program.global_block().var(prepared.program.outputs[0]).spec.ndim != 2:
        if target is not None:
            raise ArgumentError(
                "quantize: --target-drop needs a model that gives a score for each class, [samples, "
                "classes]; leave it out"
            )
        return whole, {}
    layers = [each.name for each in whole.layers if each.quantized]
    some = tested.some(ALONE)

    def report(layer: str, done: int, total: int) -> None:
        report_progress(emit, "layers", f"Quantizing {layer} alone...", done, total)

    def measure(samples: Labelled) -> Callable[[frozenset[str]], float]:
        return lambda wanted: accuracy_of(freeze(prepared, calibration, set(wanted)).layer(), samples)

    in_float = _in_float(prepared)
    drops = drops_alone(layers, accuracy_of(in_float, some), measure(some), report)
    if target is None:
        return whole, drops
    noise = {each.name: each.weight_noise_to_signal or 0.0 for each in whole.layers}
    report_progress(emit, "measure", "Measuring the accuracy...")
    float_layers = keep_in_float(
        worst_first(drops, noise),
        accuracy_of(before(), tested),
        target,
        measure(tested),
        lambda layer, done, total: report_progress(
            emit, "measure", f"Keeping {layer} in float...", done, total
        ),
    )
    found = freeze(prepared, calibration, set(layers) - set(float_layers.layers))
    skipped = tuple(
        replace(
            each, why=f"alone it costs {drops[each.layer]:.2f} points; in float for the target of {target:g}"
        )
        if each.layer in float_layers.layers
        else each
        for each in found.skipped
    )
    return replace(found, skipped=skipped), drops


def _in_float(prepared: Prepared) -> Any:
    """The prepared Program in float as a Layer."""
    from engine.jit.translated_layer import FORWARD, TranslatedLayer

    return TranslatedLayer({FORWARD: prepared.program}, {})


def accuracy_of(layer: Layer, tested: Labelled) -> float:
    """The share of samples that ``layer`` answers rightly, or its R² where it predicts numbers."""
    from engine.eager.grad_mode import no_grad
    from engine.tensor.creation import to_tensor

    layer.eval()
    with no_grad():
        answers = [
            layer(to_tensor(tested.values[first : first + _AT_ONCE])).numpy()
            for first in range(0, len(tested.values), _AT_ONCE)
        ]
    found = np.concatenate(answers)
    if tested.targets is not None:
        return r2_score(tested.targets, found)
    return share_right(found.argmax(axis=1), tested.labels)
