"""The pass that lets batch norms count over several processes, in one process."""

from __future__ import annotations

import numpy as np
import pytest

import engine as paddle
from engine import static
from engine.program.graph.check import check
from engine.program.passes.sync_batch_norms import sync_batch_norms


@pytest.fixture(autouse=True)
def _static():
    paddle.enable_static()
    yield
    paddle.disable_static()


def test_batch_norms_and_their_gradients_are_replaced():
    main, startup = static.Program(), static.Program()
    with paddle.utils.unique_name.guard(), static.program_guard(main, startup):
        x = static.data("x", [None, 3])
        loss = (static.nn.batch_norm(static.nn.fc(x, 4)) * x.sum()).sum()
        paddle.optimizer.SGD(0.1).minimize(loss)
    made = main.clone()
    sync_batch_norms(made, 5)
    check(made)
    types = [[o.type for o in program.global_block().ops] for program in (main, made)]
    assert [t.replace("sync_batch_norm", "batch_norm") for t in types[1]] == types[0]
    assert types[1].count("sync_batch_norm") == types[1].count("sync_batch_norm_grad") == 1
    assert types[0].count("batch_norm") == types[0].count("batch_norm_grad") == 1
    feed = {"x": np.random.RandomState(0).standard_normal((6, 3)).astype("float32")}
    found = []
    for program in (main, made):  # a process alone counts as before
        paddle.seed(0)
        with static.scope_guard(static.Scope()):
            executor = static.Executor()
            executor.run(startup)
            found.append([executor.run(program, feed, [loss, "fc_0.w_0@GRAD"]) for _ in range(2)])
    for one, other in zip(*found, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)
