"""Tags of sequences in fluid.layers: values and gradients recorded with Paddle 2.6.2."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from engine import fluid
from engine.core.errors import AbsentError, ArgumentError
from engine.fluid import layers
from engine.nn.initializer import Assign

World = Callable[..., list[Any]]


def scores() -> Any:
    """Scores of three sequences of up to four of three tags, a transition, tags and lengths."""
    rng = np.random.RandomState(0)
    emission, transition = rng.randn(3, 4, 3).astype(np.float32), rng.randn(5, 3).astype(np.float32)
    return emission, transition, rng.randint(0, 3, (3, 4, 1)), np.array([[4], [2], [0]])


# Recorded with Paddle 2.6.2: linear_chain_crf and its gradients, crf_decoding.
LOSSES = [[3.1539917], [0.1134632], [0.0]]
OF_EMISSION = [
    [[0.9080529, -0.9241856, 0.0161326], [-0.852904, 0.8488542, 0.0040496],
     [0.6053697, -0.7935587, 0.1881891], [0.1244288, 0.5405924, -0.6650212]],
    [[-0.0824221, 0.0642453, 0.0181768], [0.0454115, -0.0738375, 0.028426], [0, 0, 0], [0, 0, 0]],
    [[0, 0, 0]] * 4,
]  # fmt: skip
OF_TRANSITION = [
    [0.8256308, -0.8599403, 0.0343094],
    [0.1698402, 0.4667549, -0.6365952],
    [0.1348928, 0.3253099, 0.117894],
    [-0.2670727, 0.1079332, -0.6455052],
    [0.0544859, 0.0888076, 0.0832547],
]
PATH, RIGHT = [[0, 1, 0, 1], [0, 1, 0, 0], [0, 0, 0, 0]], [[0, 0, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0]]


@pytest.mark.parametrize("flat", [False, True])
def test_a_random_field_trains_and_decodes_in_a_program(main: Any, flat: bool) -> None:
    emission, transition, label, length = scores()
    if flat:
        label, length = label[:, :, 0], length[:, 0]
    x, y, n = (
        fluid.data(k, v.shape, str(v.dtype)) for k, v in (("x", emission), ("y", label), ("n", length))
    )
    x.stop_gradient = False
    attr = fluid.ParamAttr(name="crfw", initializer=Assign(transition))
    losses = layers.linear_chain_crf(x, y, attr, n)
    path = layers.crf_decoding(x, fluid.ParamAttr(name="crfw"), length=n)
    right = layers.crf_decoding(x, attr, y, n)
    w = main.global_block().var("crfw")
    gradients = fluid.gradients([losses], [x, w])
    exe = fluid.Executor()
    exe.run(main.startup)
    found = exe.run(main, {"x": emission, "y": label, "n": length}, [losses, *gradients, path, right])
    for value, wanted in zip(found[:3], (LOSSES, OF_EMISSION, OF_TRANSITION), strict=True):
        np.testing.assert_allclose(value, wanted, rtol=1e-5, atol=1e-6)
    assert [value.tolist() for value in found[3:]] == [PATH, RIGHT]
    with pytest.raises(AbsentError, match="no parameter is called 'other'"):
        layers.crf_decoding(x, fluid.ParamAttr(name="other"), length=n)


def test_a_random_field_trains_and_decodes_in_a_guard() -> None:
    emission, transition, label, length = scores()
    with fluid.dygraph.guard():
        x, y, n = map(fluid.dygraph.to_variable, (emission, label, length))
        x.stop_gradient = False
        attr = fluid.ParamAttr(name="crfw", initializer=Assign(transition))
        losses = layers.linear_chain_crf(x, y, attr, n)
        np.testing.assert_allclose(losses.numpy(), LOSSES, rtol=1e-5, atol=1e-6)
        assert layers.crf_decoding(x, attr, length=n).numpy().tolist() == PATH
        again = layers.linear_chain_crf(x, y, attr, n)  # the same parameter
        np.testing.assert_allclose(again.numpy(), LOSSES, rtol=1e-5, atol=1e-6)
        assert [p.name for p in fluid.dygraph.tracer.current().all_parameters()] == ["crfw"]
        layers.reduce_sum(losses).backward()
        np.testing.assert_allclose(x.gradient(), OF_EMISSION, rtol=1e-5, atol=1e-6)


def test_edit_distances(world: World) -> None:
    rng = np.random.RandomState(1)
    found, wanted = rng.randint(0, 4, (3, 5)), rng.randint(0, 4, (3, 4))
    arrays = found, wanted, np.array([5, 3, 0]), np.array([4, 2, 3])
    # Recorded with Paddle 2.6.2.
    for normalized, distances in ((False, [[5.0], [3.0], [3.0]]), (True, [[1.25], [1.5], [1.0]])):
        got, count = world(
            lambda a, b, m, n, by=normalized: layers.edit_distance(a, b, by, None, m, n), arrays
        )
        assert (got.tolist(), got.dtype, count.tolist()) == (distances, np.float32, [3])
    got, _ = world(lambda a, b, m, n: layers.edit_distance(a, b, False, [0, 2], m, n), arrays)
    # Less 0 and 2: [1, 3, 3] and [1]; [1, 3, 1] and []; [] and [3].
    assert got.tolist() == [[2.0], [3.0], [1.0]]


# Recorded with Paddle 2.6.2: precision, recall, F1; chunks found, wanted, right; of all types, then without
# type 1.
CHUNKS = {
    "IOB": ([0.75, 0.6428571, 0.6923077, 12, 14, 9], [0.8, 0.7272727, 0.7619048, 10, 11, 8]),
    "IOE": ([0.7058824, 0.75, 0.7272728, 17, 16, 12], [0.6923077, 0.8181818, 0.75, 13, 11, 9]),
    "IOBES": ([0.7368421, 0.8235294, 0.7777778, 19, 17, 14], [0.6428571, 0.9, 0.75, 14, 10, 9]),
    "plain": ([0.5454546, 0.6, 0.5714285, 11, 10, 6], [0.5, 0.5714286, 0.5333333, 8, 7, 4]),
}


def test_chunks(world: World) -> None:
    rng = np.random.RandomState(1)
    rng.randint(0, 4, (3, 5)), rng.randint(0, 4, (3, 4))
    for scheme, tags in (("IOB", 2), ("IOE", 2), ("IOBES", 4), ("plain", 1)):
        found = rng.randint(0, 3 * tags + 1, (4, 9))
        wanted, changed = found.copy(), rng.rand(4, 9) < 0.25
        wanted[changed] = rng.randint(0, 3 * tags + 1, changed.sum())
        for excluded, recorded in zip((None, [1]), CHUNKS[scheme], strict=True):
            got = world(
                lambda a, b, n, s=scheme, e=excluded: layers.chunk_eval(a, b, s, 3, e, n),
                (found, wanted, np.array([9, 7, 0, 5])),
            )
            assert [value.shape for value in got] == [(1,)] * 6
            np.testing.assert_allclose(np.concatenate(got), recorded, rtol=1e-6)


def test_padded_sequences_need_lengths() -> None:
    with fluid.dygraph.guard():
        x = fluid.dygraph.to_variable(np.zeros((2, 3, 2), np.float32))
        tags = fluid.dygraph.to_variable(np.zeros((2, 3), np.int64))
        for call in (
            lambda: layers.linear_chain_crf(x, tags),
            lambda: layers.crf_decoding(x, "w"),
            lambda: layers.edit_distance(tags, tags),
            lambda: layers.chunk_eval(tags, tags, "IOB", 3),
        ):
            with pytest.raises(ArgumentError, match="is needed for padded sequences"):
                call()


def test_values_that_do_not_fit() -> None:
    with fluid.dygraph.guard():
        tags = fluid.dygraph.to_variable(np.full((1, 2), 9))
        two, none = (fluid.dygraph.to_variable(np.array([n])) for n in (2, 0))
        with pytest.raises(ValueError, match="tag 9 is not one of 3 chunk types of 2 tags"):
            layers.chunk_eval(tags, tags, "IOB", 3, None, two)
        with pytest.raises(ValueError, match="'XX' is unknown"):
            layers.chunk_eval(tags, tags, "XX", 3, None, two)
        with pytest.raises(ValueError, match="row 0 of label is empty"):
            layers.edit_distance(tags, tags, True, None, two, none)
        x = fluid.dygraph.to_variable(np.zeros((1, 2, 3), np.float32))
        with pytest.raises(ValueError, match="label 9 is not one of 3 tags"):
            layers.linear_chain_crf(x, tags, None, two)
        with pytest.raises(ValueError, match="9 is not a length of sequences padded to 2"):
            layers.linear_chain_crf(x, tags, None, fluid.dygraph.to_variable(np.array([9])))
