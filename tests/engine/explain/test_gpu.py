"""Models on a GPU (the stand-in for CuPy) are explained with the values of the CPU."""

from __future__ import annotations

import numpy as np

from engine import explain
from engine.core.place import place_guard
from tests.cupy_stand_in.module import installed
from tests.engine.explain.nets import convolutions, spec


def test_values_are_those_of_the_cpu() -> None:
    x = np.random.default_rng(0).standard_normal((1, 2, 8, 8)).astype(np.float32)
    methods = ("saliency", "integrated_gradients", "occlusion")
    on_cpu = explain.of_layer(convolutions(), spec())
    wanted = {method: getattr(on_cpu, method)([x], target=1).values for method in methods}
    with installed(), place_guard("gpu"):
        subject = explain.of_layer(convolutions(), spec())
        for method in methods:
            values = getattr(subject, method)([x], target=1).values
            assert isinstance(values, np.ndarray)
            np.testing.assert_allclose(values, wanted[method], rtol=1e-4, atol=1e-5)
        names = [each.variable for each in subject.activations([x])]
        found = subject.activations([x], names)
        assert all(isinstance(each.channels, np.ndarray) for each in found if len(each.shape) > 2)
        assert isinstance(subject.values(names[0]), np.ndarray)
