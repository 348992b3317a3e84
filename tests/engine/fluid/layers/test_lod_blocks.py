"""Sequences of uneven lengths in the blocks of loops and branches, and in arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine import fluid
from engine.core.errors import ArgumentError
from engine.fluid import layers

X = np.arange(12, dtype=np.float32).reshape(6, 2)
LENGTHS = [3, 1, 2]


def tensor(array: Any, *levels: list[int]) -> Any:
    return fluid.create_lod_tensor(np.asarray(array), list(levels), fluid.CPUPlace())


def run(main: Any, fetch: list[Any], **feed: Any) -> list[Any]:
    executor = fluid.Executor(fluid.CPUPlace())
    executor.run(main.startup)
    return list(executor.run(main, feed, fetch, return_numpy=False))


def number(value: int) -> Any:
    return layers.fill_constant([1], "int64", value)


# Steps of searches: words, scores and lengths; the sentences, their scores and lengths, recorded with
# Paddle 2.6.2 (its operators write_to_array and beam_search_decode, beam_size 2 and 3, end_id 9).
ONE, TWO = [[1, 1], [1, 1]], [[1, 1], [2, 2]]
SEARCHES: list[Any] = [
    (
        [
            ([0, 1], [0.0, 0.0], ONE),
            ([3, 4, 5, 9], [-0.1, -0.2, -0.3, -0.4], TWO),
            ([9, 6, 7, 9], [-0.5, -0.3, -0.6, -0.4], [[2, 2], [1, 1, 1, 1]]),
            ([9, 8, 8, 9], [-0.5, -0.7, -0.65, -0.4], [[2, 2], [1, 1, 2, 0]]),
        ],
        [0, 3, 9, 0, 4, 6, 8, 1, 5, 7, 9, 1, 5, 7, 8],
        [0, -0.1, -0.5, 0, -0.2, -0.3, -0.7, 0, -0.3, -0.6, -0.4, 0, -0.3, -0.6, -0.65],
        [[2, 2], [3, 4, 4, 4]],
    ),
    (
        [
            ([0, 1], [0.0, 0.0], ONE),
            ([3, 4, 5, 9], [-0.1, -0.2, -0.3, -0.4], TWO),
            ([9, 9, 7, 6], [-0.5, -0.3, -0.6, -0.4], [[2, 2], [1, 1, 2, 0]]),
            ([8, 9], [-0.65, -0.6], [[2, 2], [0, 0, 2, 0]]),
        ],
        [0, 4, 9, 0, 3, 9, 1, 5, 7, 9, 1, 5, 7, 8],
        [0, -0.2, -0.3, 0, -0.1, -0.5, 0, -0.3, -0.6, -0.6, 0, -0.3, -0.6, -0.65],
        [[2, 2], [3, 3, 4, 4]],
    ),
    (
        [([7], [0.0], [[1], [1]]), ([3, 4, 5], [-0.2, -0.1, -0.3], [[1], [3]])],
        [7, 4, 7, 3, 7, 5],
        [0, -0.1, 0, -0.2, 0, -0.3],
        [[3], [2, 2, 2]],
    ),
]


@pytest.mark.parametrize("case", range(len(SEARCHES)))
def test_sentences_of_a_beam_search(main: Any, case: int) -> None:
    steps, words, scores, lengths = SEARCHES[case]
    ids_array, scores_array, feed = layers.create_array("int64"), layers.create_array("float32"), {}
    for n, (names, totals, levels) in enumerate(steps):
        ids = layers.data(f"i{n}", [1], dtype="int64", lod_level=2)
        layers.array_write(ids, number(n), ids_array)
        layers.array_write(layers.data(f"s{n}", [1], lod_level=2), number(n), scores_array)
        feed[f"i{n}"] = tensor(np.array(names)[:, None], *levels)
        feed[f"s{n}"] = tensor(np.array(totals, np.float32)[:, None], *levels)
    found = layers.beam_search_decode(ids_array, scores_array, 3 if case == 2 else 2, 9)
    ids, totals = run(main, list(found), **feed)
    assert np.array(ids).tolist() == words
    np.testing.assert_allclose(np.array(totals), scores, rtol=1e-6)
    assert ids.recursive_sequence_lengths() == lengths
    assert totals.recursive_sequence_lengths() == lengths


VOCABULARY, END, MOST = 6, 1, 4
TABLE = np.random.default_rng(4).uniform(0.05, 1.0, (VOCABULARY, VOCABULARY)).astype(np.float32)
TABLE /= TABLE.sum(1, keepdims=True)


def best_sentences(first: int, beam: int) -> list[Any]:
    """A search over Python lists: the words and the scores of each sentence, the best one first."""
    found = [([first], [0.0])]
    for _ in range(MOST):
        candidates = []
        for words, scores in found:
            if words[-1] == END and len(words) > 1:
                candidates.append((words, scores))
                continue
            for word in np.argsort(-TABLE[words[-1]])[:beam].tolist():
                total = scores[-1] + float(np.log(TABLE[words[-1], word]))
                candidates.append(([*words, word], [*scores, total]))
        found = sorted(candidates, key=lambda each: -each[1][-1])[:beam]
        if all(words[-1] == END for words, _ in found):
            break
    return found


def test_a_loop_that_decodes(main: Any) -> None:
    """The loop of the machine translation script of 1.5, with a table in place of the network."""
    beam = 2
    counter, most = layers.zeros([1], "int64", force_cpu=True), number(MOST)
    states, ids_array = layers.create_array("float32"), layers.create_array("int64")
    scores_array = layers.create_array("float32")
    init_ids = layers.data("ids", [1], dtype="int64", lod_level=2)
    init_scores = layers.data("scores", [1], lod_level=2)
    layers.array_write(layers.data("state", [1]), counter, states)
    layers.array_write(init_ids, counter, ids_array)
    layers.array_write(init_scores, counter, scores_array)
    cond = layers.less_than(counter, most)
    loop = layers.While(cond=cond)
    with loop.block():
        pre_ids, pre_state = layers.array_read(ids_array, counter), layers.array_read(states, counter)
        pre_score = layers.array_read(scores_array, counter)
        state = layers.sequence_expand(pre_state, pre_score)
        own = fluid.ParamAttr(initializer=fluid.initializer.NumpyArrayInitializer(TABLE))
        chances = layers.embedding(pre_ids, [VOCABULARY, VOCABULARY], param_attr=own)
        with_lod = layers.lod_reset(chances, y=pre_score)
        tops, places = layers.topk(with_lod, k=beam)
        totals = layers.elementwise_add(layers.log(tops), layers.reshape(pre_score, [-1]), axis=0)
        ids, scores = layers.beam_search(pre_ids, pre_score, places, totals, beam, end_id=END, level=0)
        layers.increment(counter, value=1, in_place=True)
        layers.array_write(state + 1.0, counter, states)
        layers.array_write(ids, counter, ids_array)
        layers.array_write(scores, counter, scores_array)
        rest = layers.less_than(counter, most)
        layers.logical_and(rest, layers.logical_not(layers.is_empty(ids)), out=cond)
    words, totals = layers.beam_search_decode(ids_array, scores_array, beam, END)
    length = layers.array_length(ids_array)
    starts = [3, 5, 0]
    feed = {
        "ids": tensor(np.array(starts)[:, None], [1, 1, 1], [1, 1, 1]),
        "scores": tensor(np.zeros((3, 1), np.float32), [1, 1, 1], [1, 1, 1]),
        "state": np.zeros((3, 1), np.float32),
    }
    found, values, steps = run(main, [words, totals, length], **feed)
    wanted = [sentence for first in starts for sentence in best_sentences(first, beam)]
    assert np.array(found).tolist() == [word for own, _ in wanted for word in own]
    np.testing.assert_allclose(np.array(values), [v for _, own in wanted for v in own], rtol=1e-4, atol=1e-6)
    assert found.recursive_sequence_lengths() == [[beam] * 3, [len(own) for own, _ in wanted]]
    assert 2 <= int(np.array(steps).item()) <= MOST + 1


def test_an_array_of_elements_with_different_numbers_of_rows(main: Any) -> None:
    one, two = layers.data("one", [2]), layers.data("two", [2])
    one.stop_gradient = two.stop_gradient = False
    array = layers.array_write(one, number(0))
    layers.array_write(two, number(1), array)
    layers.array_write(two * 2.0, number(2), array)
    layers.array_write(one * 3.0, number(1), array)  # in place of an element
    joined, sizes = layers.tensor_array_to_tensor(array, axis=0)
    read = layers.array_read(array, number(2))
    loss = layers.reduce_sum(joined * joined)
    slopes = fluid.gradients(loss, [one, two])
    ones, twos = np.ones((1, 2), np.float32), np.ones((3, 2), np.float32)
    found = [np.array(v) for v in run(main, [joined, sizes, read, *slopes], one=ones, two=twos)]
    assert found[0].tolist() == [[1, 1], [3, 3], [2, 2], [2, 2], [2, 2]]
    assert found[1].tolist() == [1, 1, 3]
    assert found[2].tolist() == [[2, 2]] * 3
    assert (found[3].tolist(), found[4].tolist()) == ([[20, 20]], [[8, 8]] * 3)


def test_elements_of_equal_rows_are_stacked(main: Any) -> None:
    x = layers.data("x", [2])
    array = layers.array_write(x, number(0))
    layers.array_write(x + 1.0, number(1), array)
    stacked, _ = layers.tensor_array_to_tensor(array, axis=0, use_stack=True)
    joined, sizes = layers.tensor_array_to_tensor(array, axis=1)
    found = [np.array(v) for v in run(main, [stacked, joined, sizes], x=X[:2])]
    np.testing.assert_array_equal(found[0], [X[:2], X[:2] + 1])
    np.testing.assert_array_equal(found[1], np.concatenate([X[:2], X[:2] + 1], 1))
    assert found[2].tolist() == [2, 2]


def test_sequences_of_the_outer_block_within_a_loop(main: Any) -> None:
    x = layers.data("x", [2], lod_level=1)
    doubled = x * 2.0
    i, most = number(0), number(3)
    total = layers.fill_constant([3, 2], "float32", 0.0)
    cond = layers.less_than(i, most)
    loop = layers.While(cond)
    with loop.block():
        layers.assign(total + layers.sequence_pool(layers.relu(doubled) + 1.0, "sum"), total)
        layers.increment(i)
        layers.less_than(i, most, cond=cond)
    (found,) = run(main, [total], x=tensor(X, LENGTHS))
    parts = np.split(2 * X + 1, np.cumsum(LENGTHS)[:-1])
    np.testing.assert_allclose(np.array(found), [3 * part.sum(0) for part in parts])


def test_sequences_go_through_one_of_two_blocks(main: Any) -> None:
    x, flag = layers.data("x", [2], lod_level=1), layers.data("flag", [1])
    branches = layers.IfElse(layers.greater_than(flag, layers.fill_constant([1], "float32", 0.0)))
    with branches.true_block():
        own = branches.input(x)
        branches.output(layers.sequence_pool(own, "sum"), own * 10.0)
    with branches.false_block():
        own = branches.input(x)
        branches.output(layers.sequence_pool(own, "max"), own)
    pooled, rows = branches()
    feed = {"x": tensor(X, LENGTHS), "flag": np.array([[1], [-1], [1]], np.float32)}
    found, whole = run(main, [pooled, rows], **feed)
    np.testing.assert_allclose(np.array(found), [X[:3].sum(0), X[3], X[4:].sum(0)])
    np.testing.assert_allclose(np.array(whole), X * np.array([[10]] * 3 + [[1]] + [[10]] * 2))
    assert whole.recursive_sequence_lengths() == [LENGTHS]


@pytest.mark.parametrize("scalar", [True, False])
def test_a_block_under_a_condition(main: Any, scalar: bool) -> None:
    x = layers.data("x", [-1, 2], append_batch_size=False)
    flag = layers.data("flag", [1], append_batch_size=False, dtype="bool")
    out = layers.fill_constant([1], "float32", -1.0)
    block = layers.ConditionalBlock([flag] if scalar else [x], is_scalar_condition=scalar)
    with block.block():
        layers.assign(layers.fill_constant([1], "float32", 5.0), out)
    for wanted in (True, False):
        rows = 2 if wanted else 0
        (found,) = run(main, [out], x=np.ones((rows, 2), np.float32), flag=np.array([wanted]))
        assert np.array(found).tolist() == [5.0 if wanted else -1.0]


def test_an_element_without_the_lengths_of_the_array(main: Any) -> None:
    x = layers.data("x", [2], lod_level=1)
    array = layers.array_write(x, number(0))
    with pytest.raises(ArgumentError, match=r"with 1 levels of lengths, x 'z' has 0; use layers\.lod_reset"):
        layers.array_write(layers.data("z", [2]), number(1), array)
