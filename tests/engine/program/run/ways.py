"""Ways of running one random network, which have to agree."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import pytest

import engine as paddle
from engine import static
from engine.eager.tensor import Tensor
from engine.kernels.choice import Gate, gate, kernels
from engine.kernels.cpu import cut, fused_elementwise, pool, ranges
from engine.kernels.cpu import threads as counted
from engine.program.passes.pipeline import level
from engine.program.run.fusion import elementwise as of_plans
from engine.utils import unique_name
from tests.engine.program.run.random_networks import RULES, Network, Step, loss_of

Arrays = list[Any]
# Steps, the number of a rule, and batches of values with their labels.
Case = tuple[list[Step], int, list[tuple[Any, Any]]]


@contextmanager
def everything_pays() -> Iterator[None]:
    """Groups, compiled kernels and threads serve arrays of any size."""
    from engine.kernels.fast import elementwise, layout, updates
    from engine.kernels.fast.normalization import batch_norm, norms
    from engine.kernels.fast.reductions import rows, softmax

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(of_plans, "LEAST", 1)
        patch.setattr(fused_elementwise, "LARGE", 1)
        patch.setattr(ranges, "LARGE", 1)
        patch.setattr(cut, "BLOCK", 12)
        patch.setattr(layout, "_SHARD", 16)
        for module in (batch_norm, elementwise, norms, softmax):
            patch.setattr(module, "_LEAST", 1)
        for module in (elementwise, rows, updates):
            patch.setattr(module, "_SHARED", 1)
        yield


class Way(NamedTuple):
    """How a network is run: level of passes, whose kernels, how many threads."""

    passes: int
    choice: str = "numpy"
    threads: int = 1

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Plans that are created within the block take their kernels from the first call on."""
        now = Gate()
        now.open()
        with (
            level.guard(self.passes),
            kernels.guard(self.choice),
            gate.guard(now),
            unique_name.guard(),
            pytest.MonkeyPatch.context() as patch,
            np.errstate(all="ignore"),
        ):
            patch.setattr(counted, "_count", self.threads)
            try:
                yield
            finally:
                pool.dismiss()


PLAIN = Way(0)


def trained(case: Case, way: Way) -> Arrays:
    """The values that an Executor fetches batch after batch while the network trains, and the final state."""
    plan, rule, batches = case
    x0 = batches[0][0]
    main, startup, scope = static.Program(), static.Program(), static.Scope()
    paddle.enable_static()
    try:
        with way.entered(), _dtype(x0), static.program_guard(main, startup), static.scope_guard(scope):
            paddle.seed(5)
            x = static.data("x", [-1, *x0.shape[1:]], str(x0.dtype))
            x.stop_gradient = False
            label = static.data("label", [-1, 1], "int64")
            values = Network(plan, str(x0.dtype))(x)
            loss = loss_of(values[-1], label, rule)
            RULES[rule % len(RULES)](None).minimize(loss)
            block = main.global_block()
            gradients = [f"{name}@GRAD" for name in ("x", *[p.name for p in block.all_parameters()])]
            wanted = [loss, *values[1:], *[name for name in gradients if name in block.vars]]
            executor = static.Executor()
            executor.run(startup)
            made: Arrays = []
            copies: Arrays = []
            for n, (value, labels) in enumerate(batches):
                paddle.seed(n)
                before = value.copy()
                made += executor.run(main, {"x": value, "label": labels}, wanted)
                np.testing.assert_array_equal(value, before, "the user's array changed")
                copies += [each.copy() for each in made[len(copies) :]]
            same(made, copies)  # no run changes values that were fetched before
            names = sorted(v.name for v in block.vars.values() if v.persistable)
            holders = [scope.find_var(name) for name in names]
            made += [np.array(each.get_tensor()) for each in holders if each is not None]
    finally:
        paddle.disable_static()
    return made


def converted(case: Case, way: Way) -> Arrays:
    """The results of a converted network batch after batch in an ordinary loop, and the final state."""
    plan, rule, batches = case
    x0 = batches[0][0]
    with way.entered(), _dtype(x0):
        paddle.seed(5)
        network = Network(plan, str(x0.dtype))
        network(paddle.to_tensor(x0))  # makes the layers
        parameters = network.parameters()
        update = RULES[rule % len(RULES)](parameters)

        def last_and_loss(x: Any, label: Any) -> Any:
            last = network(x)[-1]
            return last, loss_of(last, label, rule)

        run = paddle.jit.to_static(last_and_loss)
        made: Arrays = []
        for n, (value, labels) in enumerate(batches):
            paddle.seed(n)
            x = Tensor(value, stop_gradient=False)
            last, loss = run(x, paddle.to_tensor(labels))
            loss.backward()
            made += [t.numpy() for t in (last, loss)]
            made += [t.grad.numpy() for t in (x, *parameters) if t.grad is not None]
            update.step()
            update.clear_grad()
        made += [t.numpy() for t in network.state_dict().values()]
    return made


@contextmanager
def _dtype(array: Any) -> Iterator[None]:
    paddle.set_default_dtype(str(array.dtype))
    try:
        yield
    finally:
        paddle.set_default_dtype("float32")


def same(found: Arrays, wanted: Arrays) -> None:
    """Raise AssertionError for arrays that differ in a bit other than the sign of zero or the kind of NaN."""
    for got, want in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(got, want)
