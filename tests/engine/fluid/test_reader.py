"""PyReader, py_reader and DataLoader.from_generator under fluid's names, in a guard and in Programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import engine
from engine import fluid
from engine.core.errors import ArgumentError, UnsupportedError
from engine.fluid.values.variable import Variable


def samples() -> Iterator[Any]:
    for i in range(4):
        yield np.full((4,), i, np.float32), i


def lists() -> Iterator[Any]:
    return fluid.io.batch(samples, 2)()


def arrays() -> Iterator[Any]:
    for rows in lists():
        yield np.stack([row[0] for row in rows]), np.array([[row[1]] for row in rows])


@pytest.fixture
def program() -> Iterator[fluid.Executor]:
    engine.enable_static()
    with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.unique_name.guard():
        yield fluid.Executor(fluid.CPUPlace())
    engine.disable_static()


GIVEN = {
    "decorate_sample_generator": lambda r: r.decorate_sample_generator(samples, batch_size=2),
    "decorate_sample_list_generator": lambda r: r.decorate_sample_list_generator(lists),
    "decorate_batch_generator": lambda r: r.decorate_batch_generator(arrays),
    "decorate_paddle_reader": lambda r: r.decorate_paddle_reader(lists),
    "decorate_tensor_provider": lambda r: r.decorate_tensor_provider(arrays),
}


@pytest.mark.parametrize("how", GIVEN)
def test_a_py_reader_feeds_its_program_epoch_by_epoch(how: str, program: fluid.Executor) -> None:
    reader = fluid.layers.py_reader(
        capacity=8,
        shapes=[[-1, 4], [-1, 1]],
        dtypes=["float32", "int64"],
        name="train",
        lod_levels=[0, 0],
        use_double_buffer=True,
    )
    assert fluid.layers.double_buffer(reader) is reader
    image, label = fluid.layers.read_file(reader)
    assert (image.shape, label.shape, label.dtype) == ((-1, 4), (-1, 1), engine.int64)
    total = fluid.layers.reduce_sum(image) + fluid.layers.cast(fluid.layers.reduce_sum(label), "float32")
    GIVEN[how](reader)
    for _ in range(2):
        sums = []
        reader.start()
        try:
            while True:
                sums.append(program.run(fetch_list=[total])[0].item())
        except fluid.core.EOFException:
            reader.reset()
        assert sums == [5, 25]


def test_a_reader_of_variables_that_are_there(program: fluid.Executor) -> None:
    image = fluid.layers.data("picture", [2, 2])
    reader = fluid.layers.create_py_reader_by_data(capacity=2, feed_list=[image])
    assert fluid.layers.read_file(reader) is image
    reader.decorate_sample_list_generator(lambda: iter([[(np.arange(4),)]]))  # four numbers for [2, 2]
    reader.start()
    assert program.run(fetch_list=[image])[0].tolist() == [[[0, 1], [2, 3]]]
    reader.reset()


def test_an_iterable_reader_gives_feeds(program: fluid.Executor) -> None:
    image, label = fluid.layers.data("picture", [4]), fluid.layers.data("label", [1], dtype="int64")
    reader = fluid.io.PyReader(feed_list=[image, label], capacity=2, iterable=True)
    reader.decorate_sample_list_generator(lists, places=fluid.cpu_places(1))
    got = [program.run(feed=feed, fetch_list=[label])[0].ravel().tolist() for feed in reader()]
    assert got == [[0, 1], [2, 3]]


def test_batches_in_a_guard_are_variables_of_fluid() -> None:
    with fluid.dygraph.guard():
        for loader in (
            fluid.io.PyReader(capacity=2, return_list=True).decorate_batch_generator(arrays),
            fluid.io.DataLoader.from_generator(capacity=2).set_batch_generator(arrays, fluid.CPUPlace()),
        ):
            for image, label in loader():
                assert isinstance(image, Variable)
                assert isinstance(label, Variable)
                label.trainable = False  # any attribute can be set, as in fluid
                assert fluid.layers.reduce_sum(image).shape == [1]
        [[number]] = list(loader.set_batch_generator(lambda: iter([[3.5]])))
        assert number.shape == [1]


def test_missing_reader_features_raise_with_a_replacement() -> None:
    with pytest.raises(UnsupportedError, match="from_generator"):
        fluid.io.DataLoader.from_dataset(None, None)
    with pytest.raises(ArgumentError, match="1 dtypes and 2 lod_levels"):
        fluid.layers.py_reader(2, [[-1, 1]], ["int64"], lod_levels=[1, 0])
    with pytest.raises(ArgumentError, match="1 shapes, 2 dtypes"):
        fluid.layers.py_reader(2, [[-1, 1]], ["int64", "int64"])


def test_a_feeder_decorates_a_reader(program: fluid.Executor) -> None:
    feeder = fluid.DataFeeder([fluid.layers.data("x", [4]), fluid.layers.data("y", [1], dtype="int64")], None)
    assert [fed["y"].tolist() for fed in feeder.decorate_reader(lists, False)()] == [[[0], [1]], [[2], [3]]]
    groups = list(feeder.decorate_reader(lists, True, num_places=2)())
    assert [[fed["y"].shape for fed in group] for group in groups] == [[(2, 1), (2, 1)]]
    assert len(list(feeder.decorate_reader(lists, True, num_places=3, drop_last=False)())) == 1
    with pytest.raises(ArgumentError, match=r"'x' .* shapes"):
        feeder.feed([(np.ones(4), 1), (np.ones(3), 1)])
