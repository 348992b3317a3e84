"""Losses with parameters, sequences and values that are counted, of fluid.layers, against NumPy by hand."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from engine import fluid
from engine.core.errors import ArgumentError
from engine.fluid import layers

RNG = np.random.default_rng(11)
World = Callable[..., list[Any]]


def drawn(*shape: int) -> Any:
    return RNG.normal(size=shape).astype(np.float32)


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def shortened(tokens: Any, blank: int = 0) -> list[int]:
    """Tokens without repetitions, then without blanks."""
    return [int(t) for t, _ in itertools.groupby(tokens) if t != blank]


def run(main: Any, fetch: list[Any], **feed: Any) -> list[Any]:
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(main.startup)
    return list(exe.run(main, feed, fetch))


def test_ctc_sums_all_alignments(world: World) -> None:
    logits, labels = drawn(4, 2, 3), np.array([[1, 2], [2, 0]], np.int32)
    steps, counts = np.array([4, 3]), np.array([2, 1])
    (found,) = world(lambda x, y, m, n: layers.warpctc(x, y, 0, False, m, n), (logits, labels, steps, counts))
    shares = softmax(logits.astype(np.float64))
    expected = []
    for n, (step, count) in enumerate(zip(steps, counts, strict=True)):
        total = sum(
            np.prod([shares[t, n, token] for t, token in enumerate(path)])
            for path in itertools.product(range(3), repeat=int(step))
            if shortened(path) == labels[n, :count].tolist()
        )
        expected.append([-np.log(total)])
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_sequences_without_lengths_are_refused() -> None:
    with fluid.dygraph.guard():
        x = fluid.dygraph.to_variable(drawn(4, 2, 3))
        with pytest.raises(ArgumentError, match="warpctc: input_length and label_length"):
            layers.warpctc(x, x, 0, False, False)
        with pytest.raises(ArgumentError, match="ctc_greedy_decoder: input_length"):
            layers.ctc_greedy_decoder(x, 0)


@pytest.mark.parametrize("column", [True, False])
def test_greedy_decoding(world: World, column: bool) -> None:
    tokens = np.array([[1, 1, 0, 1, 2], [0, 3, 3, 1, 1], [0, 0, 0, 0, 0], [3, 2, 2, 2, 1]])
    lengths = np.array([5, 4, 5, 3])
    given = np.eye(4, dtype=np.float32)[tokens], lengths[:, None] if column else lengths
    found, counts = world(lambda x, n: layers.ctc_greedy_decoder(x, 0, n, 9), given)
    rows = [shortened(row[:n]) for row, n in zip(tokens, lengths, strict=True)]
    assert found.tolist() == [[*row, *[9] * (5 - len(row))] for row in rows]
    assert counts.tolist() == [[len(row)] for row in rows]


def test_values_in_the_order_of_their_first_places(world: World) -> None:
    given = np.array([3, 1, 3, 2, 1, 3])
    found = world(layers.unique_with_counts, (given,))
    assert [v.tolist() for v in found] == [[3, 1, 2], [0, 1, 0, 2, 1, 0], [3, 2, 1]]
    assert [v.dtype for v in found] == [np.int64, np.int32, np.int32]
    values, which = world(lambda x: layers.unique(x, "int64"), (given.astype(np.float32),))
    assert np.array_equal(values[which], given)
    assert which.dtype == np.int64


def test_parts_triangles_and_means(world: World) -> None:
    def made(x: Any, numbers: Any) -> Any:
        return [
            layers.shard_index(numbers, 20, 2, 1, -7),
            layers.triu(x, 1),
            layers.mse_loss(x, x * 3.0),
            layers.resize_linear(layers.unsqueeze(x, [0]), [7]),
        ]

    x = drawn(3, 4)
    found = world(made, (x, np.array([[3], [12], [19]])))
    assert found[0].tolist() == [[-7], [2], [9]]
    assert np.array_equal(found[1], np.triu(x, 1))
    np.testing.assert_allclose(found[2], [((2 * x.astype(np.float64)) ** 2).mean()], rtol=1e-5)
    places = np.linspace(0, 3, 7)
    expected = [[np.interp(places, range(4), row) for row in x]]
    np.testing.assert_allclose(found[3], expected, rtol=1e-4, atol=1e-6)


def test_mean_intersection_over_union(world: World) -> None:
    found, wanted = np.array([[0, 1, 1], [3, 2, 0]]), np.array([[0, 1, 2], [2, 2, 1]])
    mean, wrong, right = world(lambda x, y: layers.mean_iou(x, y, 5), (found, wanted))
    assert right.tolist() == [1, 1, 1, 0, 0]
    assert wrong.tolist() == [1, 2, 2, 1, 0]
    assert mean == pytest.approx([(1 / 2 + 1 / 3 + 1 / 3 + 0) / 4])


def test_an_array_as_one_tensor(main: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    x = layers.data("x", [2, 3], False)
    first = layers.fill_constant([1], "int64", 0)
    array = layers.array_write(x, first)
    layers.array_write(x * 2.0, layers.fill_constant([1], "int64", 1), array)
    joined = layers.tensor_array_to_tensor(array, axis=1)
    stacked = layers.tensor_array_to_tensor(array, axis=0, use_stack=True)
    value = drawn(2, 3)
    one, sizes, other, ones = run(main, [*joined, *stacked], x=value)
    assert np.array_equal(one, np.concatenate([value, value * 2], 1))
    assert np.array_equal(other, np.stack([value, value * 2]))
    assert (sizes.tolist(), ones.tolist(), sizes.dtype) == ([3, 3], [1, 1], np.int32)


def test_elements_of_a_list_may_differ_in_size() -> None:
    with fluid.dygraph.guard():
        items = [fluid.dygraph.to_variable(np.ones((2, n), np.float32)) for n in (1, 3)]
        out, sizes = layers.tensor_array_to_tensor(items)
        assert out.shape == [2, 4]
        assert sizes.numpy().tolist() == [1, 3]


def test_classes_as_leaves_of_a_tree(main: Any) -> None:
    x, label = drawn(3, 4), np.array([[0], [5], [3]])
    loss = layers.hsigmoid(layers.data("x", [4]), layers.data("y", [1], dtype="int64"), 6)
    weights = main.global_block().all_parameters()
    assert [tuple(w.shape) for w in weights] == [(5, 4), (5, 1)]
    found, weight, bias = run(main, [loss, *weights], x=x, y=label)
    expected = []
    for row, leaf in zip(x, label.ravel() + 6, strict=True):
        total = 0.0
        for level in range(int(leaf).bit_length() - 1):
            node, bit = (leaf >> (level + 1)) - 1, leaf >> level & 1
            score = weight[node] @ row + bias[node, 0]
            total += np.log1p(np.exp(score)) - bit * score
        expected.append([total])
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    with pytest.raises(ArgumentError, match="path_table and path_code"):
        layers.hsigmoid(layers.data("x", [4]), layers.data("y", [1], dtype="int64"), 6, is_custom=True)


def test_centres_of_classes_move_towards_their_rows(main: Any) -> None:
    x, label = drawn(4, 2), np.array([[1], [0], [1], [1]])
    given, classes = layers.data("x", [2]), layers.data("y", [1], dtype="int64")
    given.stop_gradient = False
    first = fluid.ParamAttr(name="centres", initializer=fluid.initializer.Constant(0.5))
    loss = layers.center_loss(given, classes, 3, 0.2, first)
    still = layers.center_loss(given, classes, 3, 0.2, fluid.ParamAttr(name="centres"), False)
    (slope,) = fluid.backward.gradients([layers.reduce_sum(loss)], [given])
    found, kept, gradient, centres = run(main, [loss, still, slope, "centres"], x=x, y=label)
    apart = x - 0.5
    np.testing.assert_allclose(found, 0.5 * (apart**2).sum(1, keepdims=True), rtol=1e-5)
    np.testing.assert_allclose(gradient, apart, rtol=1e-5)
    ones = label == np.arange(3)
    moved = 0.5 + 0.2 * (ones.T @ apart) / (ones.sum(0)[:, None] + 1)
    np.testing.assert_allclose(centres, moved, rtol=1e-5)
    assert kept.shape == (4, 1)


def test_a_normalization_with_its_activation(main: Any) -> None:
    x = layers.data("x", [2, 3, 3])
    attr = {"param_attr": fluid.ParamAttr(name="s"), "bias_attr": fluid.ParamAttr(name="b")}
    plain = layers.batch_norm(x, **attr)
    out = [
        layers.inplace_abn(x, act, act_alpha=0.3, **attr) for act in (None, "identity", "leaky_relu", "elu")
    ]
    with pytest.raises(ArgumentError, match="only support act as"):
        layers.inplace_abn(x, "relu")
    base, none, same, leaky, elu = run(main, [plain, *out], x=drawn(2, 2, 3, 3))
    assert np.array_equal(base, none)
    assert np.array_equal(base, same)
    np.testing.assert_allclose(leaky, np.where(base > 0, base, 0.3 * base), rtol=1e-6)
    np.testing.assert_allclose(elu, np.where(base > 0, base, 0.3 * np.expm1(base)), rtol=1e-4, atol=1e-6)


def test_an_assertion_stops_the_program(main: Any) -> None:
    from engine.core.errors import EngineError

    x = layers.data("x", [1], False)
    layers.Assert(layers.reduce_all(x > layers.zeros([1], "float32")), [x])
    out = x * 2.0
    assert run(main, [out], x=np.ones(1, np.float32))[0].tolist() == [2.0]
    with pytest.raises(EngineError, match="-1"):
        run(main, [out], x=-np.ones(1, np.float32))
