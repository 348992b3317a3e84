"""The pass that reduces gradients over processes, in one process."""

from __future__ import annotations

import numpy as np
import pytest

import engine as paddle
from engine import static
from engine.program.graph.check import check
from engine.program.passes import all_reduce_gradients as module
from engine.program.passes.all_reduce_gradients import all_reduce_gradients
from engine.program.saved.serialize import from_plain, to_plain


@pytest.fixture(autouse=True)
def _static():
    paddle.enable_static()
    yield
    paddle.disable_static()


def built(optimizer=None):
    main, startup = static.Program(), static.Program()
    with paddle.utils.unique_name.guard(), static.program_guard(main, startup):
        hidden = static.nn.fc(static.data("x", [None, 3]), 4, activation="tanh")
        loss = static.nn.fc(hidden, 1).mean()
        (optimizer or paddle.optimizer.SGD(0.1)).minimize(loss)
    return main, startup, loss


def types(program):
    return [o.type for o in program.global_block().ops]


def run(main, startup, loss, steps=3):
    x = np.random.RandomState(0).standard_normal((5, 3)).astype("float32")
    paddle.seed(1)
    executor = static.Executor()
    with static.scope_guard(static.Scope()):
        executor.run(startup)
        return [executor.run(main, {"x": x}, [loss, "fc_0.w_0", "fc_0.w_0@GRAD"]) for _ in range(steps)]


@pytest.mark.parametrize("fuse", [True, False])
@pytest.mark.parametrize("mean", [True, False])
def test_gradients_are_reduced_between_backward_and_updates(fuse, mean):
    main, startup, loss = built(paddle.optimizer.Momentum(0.1, grad_clip=paddle.nn.ClipGradByGlobalNorm(0.1)))
    before = run(main, startup, loss)
    made = main.clone()
    all_reduce_gradients(made, 3, mean, fuse)
    check(made)
    found = types(made)
    single = "c_allreduce_avg" if mean else "c_allreduce_sum"
    kinds = ["c_allreduce_coalesced"] if fuse else [single] * 4
    assert [t for t in found if t.startswith("c_")] == kinds
    # The bias of the first layer is the last to get a gradient; the clip reads them first.
    backward = max(n for n, t in enumerate(found) if t.endswith("_grad"))
    reduced = [n for n, t in enumerate(found) if t.startswith("c_")]
    assert backward < reduced[0]
    assert reduced[-1] < found.index("squared_l2_norm")
    for one, other in zip(
        before, run(made, startup, loss), strict=True
    ):  # alone the mean is the value itself
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)
    assert not [t for t in types(made.clone(for_test=True)) if t.startswith("c_")]
    assert not [t for t in types(main) if t.startswith("c_")]
    again = from_plain(to_plain(made), training=True, own=True)
    assert types(again) == found


def test_it_is_written_as_a_change_in_place():
    main, _, _ = built()
    all_reduce_gradients(main, fuse=False)
    (line,) = [line for line in str(main).splitlines() if "c_allreduce" in line and "fc_1.b_0" in line]
    assert line.strip().startswith(
        "{Out=['fc_1.b_0@GRAD']} = c_allreduce_avg(inputs={X=['fc_1.b_0@GRAD']}, op_device = , "
        "op_namescope = /, op_role = 1, op_role_var = ['fc_1.b_0', 'fc_1.b_0@GRAD'], ring_id = 0, "
    )


def test_it_is_done_once():
    main, _, _ = built()
    all_reduce_gradients(main)
    before = types(main)
    all_reduce_gradients(main)
    assert types(main) == before


def test_messages_have_a_largest_size_and_one_dtype(monkeypatch):
    monkeypatch.setattr(module, "LARGEST", 40)
    main, _, _ = built()
    all_reduce_gradients(main)
    sizes = [
        [v.spec.size * v.dtype.itemsize for v in o.inputs[0]]
        for o in main.global_block().ops
        if o.type == "c_allreduce_coalesced"
    ]
    assert all(sum(group) <= 40 or len(group) == 1 for group in sizes)
    assert sorted(size for group in sizes for size in group) == [4, 16, 16, 48]
    assert 1 < len(sizes) < 4


def test_a_gradient_that_something_reads_early_is_reduced_before():
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        w = static.create_parameter([2], "float32")
        x = static.data("x", [2])
        ((_, first),) = static.append_backward((w * x).sum())
        v = static.create_parameter([2], "float32")
        static.append_backward((v * first * x).sum())
    all_reduce_gradients(main)
    check(main)
    found = types(main)
    places = [n for n, t in enumerate(found) if t == "c_allreduce_coalesced"]
    assert len(places) == 2
    reader = next(
        n
        for n, o in enumerate(main.global_block().ops)
        if f"{w.name}@GRAD" in o.input_arg_names and not o.type.startswith("c_")
    )
    assert places[0] < reader < places[1]
