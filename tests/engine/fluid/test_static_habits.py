"""What scripts of 1.5 to 1.8 may do with Programs: levels of rows, samples without a batch, one startup."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from engine import fluid
from engine.core.errors import ShapeError
from engine.fluid import layers
from tests.engine.fresh_static import fresh_static


@pytest.fixture(autouse=True)
def _static() -> Iterator[None]:
    with fresh_static():
        yield


def test_arrays_are_fed_where_rows_of_uneven_length_could_be() -> None:
    words = layers.data("words", [1], dtype="int64", lod_level=1)
    rows = layers.embedding(words, size=[5, 2])
    executor = fluid.Executor()
    executor.run(fluid.default_startup_program())
    (found,) = executor.run(feed={"words": np.array([[1], [2], [4]])}, fetch_list=[rows])
    assert (words.lod_level, words.shape, found.shape) == (1, (-1, 1), (3, 2))
    assert fluid.data("others", [None, 1], "int64", lod_level=2).lod_level == 2


def test_a_sample_without_the_batch_is_a_batch_of_one() -> None:
    x = layers.data("x", [4])
    out = layers.reduce_sum(x * 2.0, dim=1)
    executor = fluid.Executor()
    (found,) = executor.run(feed={"x": np.arange(4, dtype=np.float32)}, fetch_list=[out])
    assert found.tolist() == [12.0]
    with pytest.raises(ShapeError, match="feed 'x' has shape"):
        executor.run(feed={"x": np.zeros(3, np.float32)}, fetch_list=[out])
    y = fluid.data("y", [None, 4])
    with pytest.raises(ShapeError, match="feed 'y' has shape"):
        executor.run(feed={"y": np.zeros(4, np.float32)}, fetch_list=[y * 2.0])


@pytest.mark.parametrize("optimizer", [fluid.optimizer.SGD, fluid.optimizer.Adam])
def test_two_programs_with_the_same_names_share_a_startup_program(optimizer: type) -> None:
    startup, programs, losses = fluid.Program(), [], []
    for _ in range(2):
        main = fluid.Program()
        with fluid.program_guard(main, startup), fluid.unique_name.guard():
            loss = layers.mean(layers.fc(layers.data("x", [4]), 2))
            optimizer(0.1).minimize(loss)
        programs.append(main)
        losses.append(loss)
    executor, feed = fluid.Executor(), {"x": np.ones((2, 4), np.float32)}
    executor.run(startup)
    found = [
        float(executor.run(program, feed=feed, fetch_list=[loss])[0])
        for program, loss in zip(programs * 2, losses * 2, strict=True)
    ]
    assert found == sorted(found, reverse=True)  # both train the same parameters
    assert len(set(found)) == 4


def test_counts_of_accuracy_have_one_dimension() -> None:
    x, y = layers.data("x", [4]), layers.data("y", [1], dtype="int64")
    correct, total = layers.create_tensor("int64"), layers.create_tensor("int64")
    share = layers.accuracy(x, y, correct=correct, total=total)
    feed = {"x": np.eye(4, dtype=np.float32), "y": np.zeros((4, 1), np.int64)}
    found = fluid.Executor().run(feed=feed, fetch_list=[share, correct, total])
    assert [v.tolist() for v in found] == [[0.25], [1], [4]]
