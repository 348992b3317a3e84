"""Trains a run's network on with quantization (QAT), and takes over the thresholds that it has found."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import Any

from engine.core.errors import ArgumentError
from engine.kernels.choice import settled_as
from engine.kernels.cpu.threads import computing_threads
from engine.nn.layer.common import Linear
from engine.nn.layer.conv import Conv2D
from engine.nn.quant.qat.weighted import WeightedQuantedLayer
from engine.program.passes.quantization.selection import Layer
from engine.quantization import QAT, QuantConfig
from engine.quantization.calibration.data import Batches, CalibrationData
from engine.quantization.calibration.thresholds import Calibration, noise_of
from engine.quantization.preparing import Prepared, only
from engine.quantization.quanters import FakeQuanterWithAbsMaxObserver
from engine.quantization.weight_quanter import WeightQuanter, WeightQuanterLayer
from engine.training.config import TrainingConfig
from engine.training.exporting.normalizing import for_prediction
from engine.training.folder.run_folder import RunFolder
from engine.training.quantize.choices import Choices, Emit, Pace
from engine.training.randomness import seed_everything
from engine.training.setup import build_network, build_parts
from engine.training.stepper import arrays_of
from resources.settings import CONSTANT

RATE_SHARE = 0.1
"""A trained network is adjusted with this share of the learning rate that it was trained with."""
WAY_OF_ROUNDING = WeightQuanterLayer.round_type
_WHY = "training with quantization is for the layers Conv2D and Linear"
_MEASURED = 64


@dataclass(frozen=True)
class Trained:
    """The results of a training with quantization besides the weights: thresholds of inputs by the network's
    layers,
    from so many samples, in so many seconds."""

    thresholds: dict[str, float]
    samples: int
    seconds: float


def train_with_quantization(
    store: RunFolder,
    config: TrainingConfig,
    tree: dict[str, Any],
    prepared: Prepared,
    choices: Choices,
    emit: Emit,
) -> tuple[Any, Trained]:
    """The network of a checkpoint after ``choices.epochs`` epochs with quantization, as it predicts in float.

    Optimizer, loss, batch size and data are the run's; the learning rate is constant, a tenth of the run's
    unless given, and the optimizer begins anew. Layers that ``prepared`` leaves in float train in float.

    Raises:
        ArgumentError: no layer can be trained so, or the loss becomes no finite number.
    """
    changes: dict[str, Any] = {"data": choices.data} if choices.data else {}
    config = config.changed(
        epochs=choices.epochs,
        learning_rate=choices.learning_rate or config.learning_rate * RATE_SHARE,
        schedule=CONSTANT,
        schedule_params={},
        schedule_each="auto",
        workers=1,
        **changes,
    )

    def with_quanters(network: Any) -> Any:
        network.set_state_dict(tree["model"])
        network.train()
        return QAT(_quanters(network, prepared, choices)).quantize(network, inplace=True)

    seed_everything(config.seed)
    parts = build_parts(config, store.source_path, change=with_quanters)
    pace = Pace(emit, "train", "Training with quantization...")
    total, done, begin = config.epochs * len(parts.batches), 0, time.perf_counter()
    with computing_threads(config.threads), settled_as(config.kernels):
        for _ in range(config.epochs):
            for images, labels in parts.batches:
                loss, _ = parts.stepper.train(images, labels)
                done += 1
                if not math.isfinite(loss):
                    raise ArgumentError(
                        f"quantize: the loss is not a finite number in step {done} with learning rate "
                        f"{config.learning_rate:g}: {loss}; give a smaller --lr"
                    )
                pace(done, total)
    seconds = time.perf_counter() - begin
    trained = parts.stepper.network
    thresholds = {
        name: float(layer.activation_quanter.scales())
        for name, layer in trained.named_sublayers()
        if isinstance(layer, WeightedQuantedLayer) and layer.activation_quanter is not None
    }
    in_float, _ = build_network(config, store.source_path)
    state = arrays_of(trained.state_dict())
    in_float.set_state_dict({name: state[name] for name in in_float.state_dict()})
    in_float.eval()
    samples = config.epochs * parts.train_samples
    return for_prediction(in_float, tree["data"]), Trained(thresholds, samples, seconds)


def calibration_of(prepared: Prepared, trained: Trained, batches: Batches) -> tuple[Prepared, Calibration]:
    """The prepared Program of the trained network, and the thresholds of its values; layers that were not
    trained with quantization stay in float. The noise is measured on the first of ``batches``."""
    found = {
        layer.name: trained.thresholds[_once(layer)]
        for layer in prepared.layers
        if layer.quantized and _once(layer) in trained.thresholds
    }
    layers = only(prepared.layers, list(found), _WHY)
    prepared = replace(
        prepared, layers=tuple(layers), options=replace(prepared.options, round_type=WAY_OF_ROUNDING)
    )
    thresholds: dict[str, float] = {}
    for layer in layers:
        for name in layer.activations if layer.quantized else ():
            thresholds[name] = max(thresholds.get(name, 0.0), found[layer.name])
    feeds = list(CalibrationData(batches, prepared.inputs, _MEASURED).feeds())
    noise = noise_of(prepared, thresholds, feeds)
    return prepared, Calibration(thresholds, noise, trained.samples, trained.seconds)


def _quanters(network: Any, prepared: Prepared, choices: Choices) -> QuantConfig:
    """Quanters for the layers of ``network`` that ``prepared`` quantizes."""
    options = choices.options
    named = {name: layer for name, layer in network.named_sublayers() if type(layer) in (Conv2D, Linear)}
    config = QuantConfig(None, None)
    values = FakeQuanterWithAbsMaxObserver(bit_length=options.activation_bits)
    wanted = {_once(each): each.bits for each in prepared.layers if each.quantized}
    if not wanted.keys() & named.keys():
        raise ArgumentError(
            f"quantize: --qat has nothing to train: {_WHY}, and the model has none that is quantized; leave "
            "--qat out"
        )
    for name, bits in wanted.items():
        if name in named:
            weights = WeightQuanter(bits, options.weight_type.startswith("channel_wise"))
            config.add_layer_config(named[name], activation=values, weight=weights)
    return config


def _once(layer: Layer) -> str:
    """The name of a layer, however often the network calls it."""
    return layer.name.partition(":")[0]
