"""Training in a guard keeps nothing from step to step."""

from __future__ import annotations

import gc
import os

from engine import fluid
from engine.core.operators.operator import Leaf, Operator
from engine.eager.tensor import Tensor
from engine.fluid.dygraph import tracer as tracers
from tests.engine.fluid.networks.test_mnist import BATCHES, MNIST, adam, outputs
from tests.engine.fluid.networks.training import seeded

TIMES = 1000 if "MODEL_STUDIO_LONG" in os.environ else 40


def alive() -> dict[str, int]:
    """How many Tensors, operators and leaves of the tape, and hooks there are."""
    gc.collect()
    found = dict.fromkeys(("Tensor", "Operator", "Leaf", "_Kept"), 0)
    for each in gc.get_objects():
        if isinstance(each, (Tensor, Operator, Leaf, tracers._GradientHook)):
            found["Tensor" if isinstance(each, Tensor) else type(each).__name__] += 1
    return found


def test_as_many_tensors_live_after_many_steps_as_after_a_few() -> None:
    with fluid.dygraph.guard():
        seeded()
        net = MNIST("mnist")
        optimizer = adam(net)

        def step(batch: dict[str, object]) -> float:
            variables = {name: fluid.dygraph.to_variable(value) for name, value in batch.items()}
            loss, _, _ = outputs(net, **variables)
            loss.backward()
            optimizer.minimize(loss)
            net.clear_gradients()
            return float(loss.numpy())

        for batch in BATCHES:
            step(batch)
        before = alive()
        assert before["Tensor"] > len(net.parameters())
        for n in range(TIMES):
            step(BATCHES[n % len(BATCHES)])
        assert alive() == before
        tracer = tracers.current()
        assert tracer is not None
        assert len(tracer._parameters) == len(net.parameters())
