"""Layers of a model that gives no list of scores are quantized, but the cost of each is unknown."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine import nn, static
from engine.core.errors import ArgumentError
from engine.jit.api import to_static
from engine.quantization.calibration.thresholds import calibrate
from engine.quantization.options import QuantizeOptions
from engine.quantization.preparing import prepare
from engine.training.quantize.choices import Choices
from engine.training.quantize.data import Labelled
from engine.training.quantize.layers import chosen_layers

SAMPLES = np.random.default_rng(0).normal(size=(6, 2, 3)).astype(np.float32)
TESTED = Labelled(SAMPLES, np.zeros(6, np.int64), np.arange(6))


def chosen(**choices: Any) -> Any:
    net = nn.Linear(3, 3)
    net.eval()
    spec = static.InputSpec([None, 2, 3], "float32", "x")
    concrete = to_static(net, input_spec=[spec]).forward.concrete_program
    prepared = prepare(
        concrete.main_program, QuantizeOptions(), inputs=concrete.inputs, outputs=concrete.outputs
    )
    return chosen_layers(
        prepared, calibrate(prepared, [SAMPLES]), lambda: net, TESTED, Choices(**choices), lambda event: None
    )


def test_all_layers_are_quantized_and_nothing_is_known_of_each() -> None:
    found, drops = chosen()
    assert [layer.quantized for layer in found.layers] == [True]
    assert drops == {}


def test_a_target_is_refused() -> None:
    with pytest.raises(ArgumentError, match="needs a model that gives a score for each class"):
        chosen(target_drop=1.0)
