"""``LoDTensor``, functions that make some, and feeders of sequences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import engine
from engine import fluid
from engine.core.errors import ArgumentError, DTypeError

PLACE = fluid.CPUPlace()


@pytest.fixture
def program() -> Iterator[Any]:
    engine.enable_static()
    try:
        main, startup = fluid.Program(), fluid.Program()
        with fluid.program_guard(main, startup), fluid.unique_name.guard():
            yield main
    finally:
        engine.disable_static()


def test_lengths_and_offsets_say_the_same() -> None:
    value = fluid.LoDTensor()
    value.set(np.ones((5, 2), np.float32), PLACE)
    value.set_lod([[0, 2, 5]])
    assert value.shape() == [5, 2]
    assert value.recursive_sequence_lengths() == [[2, 3]]
    value.set_recursive_sequence_lengths([[1, 1], [4, 1]])
    assert value.lod() == [[0, 1, 2], [0, 4, 5]]
    assert value.has_valid_recursive_sequence_lengths()
    assert "lod=[[0, 1, 2], [0, 4, 5]]" in repr(value)
    value.set(np.ones((3, 2), np.float32), PLACE)
    assert not value.has_valid_recursive_sequence_lengths()


@pytest.mark.parametrize("lod", [[[1, 5]], [[0, 6]], [[0, 3, 2, 5]], [[]], [[0, 1], [0, 2, 5]]])
def test_offsets_that_do_not_fit_are_refused(lod: list[list[int]]) -> None:
    value = fluid.LoDTensor()
    value.set(np.ones((5, 2), np.float32), PLACE)
    with pytest.raises(ArgumentError, match="LoDTensor"):
        value.set_lod(lod)


def test_a_list_of_sequences_becomes_rows_of_one_number() -> None:
    made = fluid.create_lod_tensor([[1, 2], [3, 4, 5]], [[2, 3]], PLACE)
    assert (made.shape(), made.lod()) == ([5, 1], [[0, 2, 5]])
    assert np.array(made).dtype == np.int64
    with pytest.raises(AssertionError, match="data and recursive_seq_lens do not match"):
        fluid.create_lod_tensor([[1, 2], [3]], [[2, 3]], PLACE)
    with pytest.raises(DTypeError, match="data should be either a LoDTensor"):
        fluid.create_lod_tensor((1, 2), [[2]], PLACE)
    again = fluid.create_lod_tensor(made, [[4, 1]], PLACE)
    assert again.recursive_sequence_lengths() == [[4, 1]]


def test_random_integers_have_the_rows_that_the_lengths_ask_for() -> None:
    made = fluid.create_random_int_lodtensor([[2, 3]], [4], PLACE, 1, 2)
    assert (made.shape(), made.lod()) == ([5, 4], [[0, 2, 5]])
    assert set(np.array(made).ravel().tolist()) <= {1, 2}


def test_a_feeder_gathers_sequences(program: Any) -> None:
    words = fluid.layers.data("words", [1], dtype="int64", lod_level=1)
    vectors = fluid.layers.data("vectors", [2], lod_level=2)
    label = fluid.layers.data("label", [1], dtype="int64")
    feeder = fluid.DataFeeder([words, vectors, label], PLACE)
    fed = feeder.feed([([1, 2], [[[1, 2]], [[3, 4], [5, 6]]], 0), ([3], [[[7, 8]]], 1)])
    assert np.array(fed["words"]).tolist() == [[1], [2], [3]]
    assert fed["words"].recursive_sequence_lengths() == [[2, 1]]
    assert np.array(fed["vectors"]).tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]]
    assert fed["vectors"].recursive_sequence_lengths() == [[2, 1], [1, 2, 1]]
    assert isinstance(fed["label"], np.ndarray)
    empty = feeder.feed([([], [], 0)])
    assert (empty["words"].shape(), empty["words"].lod()) == ([0, 1], [[0, 0]])


@pytest.mark.parametrize("iterable", [True, False])
def test_loaders_feed_sequences(program: Any, iterable: bool) -> None:
    words = fluid.layers.data("words", [1], dtype="int64", lod_level=1)
    label = fluid.layers.data("label", [1], dtype="int64")
    total = fluid.layers.sequence_pool(fluid.layers.cast(words, "float32"), "sum")
    loader = fluid.io.DataLoader.from_generator([words, label], 4, iterable=iterable)
    samples = [[([1, 2], 0), ([3], 1)], [([4], 0), ([5, 6, 7], 1)]]
    loader.set_sample_list_generator(lambda: iter(samples), places=PLACE)
    executor = fluid.Executor(PLACE)
    if iterable:
        found = [executor.run(program, batch, [total])[0].ravel().tolist() for batch in loader()]
    else:
        loader.start()
        found = [executor.run(program, fetch_list=[total])[0].ravel().tolist() for _ in samples]
    assert found == [[3.0, 3.0], [4.0, 18.0]]


def test_sentiment_is_learned_from_sequences(program: Any) -> None:
    """A network of the book: an LSTM over words, pooled; a sentence is positive if it has word 1."""
    words = fluid.layers.data("words", [1], dtype="int64", lod_level=1)
    label = fluid.layers.data("label", [1], dtype="int64")
    embedded = fluid.layers.embedding(words, [20, 8], is_sparse=True)
    lstm, _ = fluid.layers.dynamic_lstm(fluid.layers.fc(embedded, 32), 32)
    gru = fluid.layers.dynamic_gru(fluid.layers.fc(embedded, 24), 8, is_reverse=True)
    conv = fluid.nets.sequence_conv_pool(embedded, 8, 3, act="tanh", pool_type="sqrt")
    parts = [fluid.layers.sequence_pool(lstm, "max"), fluid.layers.sequence_last_step(gru), conv]
    prediction = fluid.layers.fc(parts, 2, act="softmax")
    loss = fluid.layers.mean(fluid.layers.cross_entropy(prediction, label))
    accuracy = fluid.layers.accuracy(prediction, label)
    fluid.optimizer.Adam(0.02).minimize(loss)
    rng = np.random.default_rng(3)
    sentences = [rng.integers(2, 20, rng.integers(1, 9)).tolist() for _ in range(64)]
    for sentence in sentences[::2]:
        sentence[rng.integers(len(sentence))] = 1
    rows = [(sentence, int(1 in sentence)) for sentence in sentences]
    feeder, executor = fluid.DataFeeder([words, label], PLACE), fluid.Executor(PLACE)
    executor.run(fluid.default_startup_program())
    for _ in range(30):
        value, right = executor.run(program, feeder.feed(rows), [loss, accuracy])
    assert float(value) < 0.1
    assert float(right) == 1.0
