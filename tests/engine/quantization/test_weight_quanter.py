"""WeightQuanter rounds as freezing does, and lets gradients pass."""

from __future__ import annotations

import numpy as np
import pytest

import engine
from engine import nn
from engine.program.passes.quantization.freeze import IntegerWeight, to_integers, to_values
from engine.quantization.weight_quanter import WeightQuanter


@pytest.mark.parametrize("channel_wise", [True, False])
@pytest.mark.parametrize("bits", [2, 3, 8])
def test_weights_in_training_are_those_that_are_frozen(channel_wise: bool, bits: int) -> None:
    engine.seed(0)
    for layer, axis in ((nn.Conv2D(2, 3, 3), 0), (nn.Linear(5, 4), 1)):
        quanter = WeightQuanter(bits, channel_wise)._instance(layer)
        weight = layer.weight.numpy()
        chosen = axis if channel_wise else None
        others = tuple(n for n in range(weight.ndim) if n != axis)
        thresholds = np.abs(weight).max(axis=others) if channel_wise else np.abs(weight).max().reshape(1)
        np.testing.assert_array_equal(quanter.scales().numpy(), thresholds)
        integers = to_integers(weight, thresholds, chosen, bits, round_type=1)
        frozen = to_values(IntegerWeight(integers, thresholds, chosen, bits))
        np.testing.assert_array_equal(quanter(layer.weight).numpy(), frozen)
        assert len(np.unique(integers)) <= 2**bits - 1
        assert quanter.quant_axis() == (axis if channel_wise else -1)


def test_gradients_pass_straight_through_to_the_layers_own_weight() -> None:
    layer = nn.Linear(3, 2)
    quanter = WeightQuanter(4)._instance(layer)
    assert list(quanter.parameters()) == []
    (quanter(layer.weight) * engine.to_tensor([[1.0, 2.0]])).sum().backward()
    np.testing.assert_array_equal(layer.weight.grad.numpy(), [[1, 2]] * 3)
