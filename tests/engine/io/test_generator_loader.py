"""DataLoader.from_generator: what its batches are, in both modes, and how its thread lives and ends."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import engine
from engine.core.errors import (
    ArgumentError,
    ConditionError,
    EOFException,
    ModeError,
    ProgramError,
    ShapeError,
)
from engine.io import DataLoader
from engine.io.reading_ahead import ReadAhead


def samples() -> Iterator[Any]:
    for i in range(3):
        yield np.full((2,), i, np.float32), np.array([i], np.int64)


def batches() -> Iterator[Any]:
    """One array filled again and again, as generators that save memory do."""
    kept = np.zeros((2, 2), np.float32)
    for i in range(3):
        kept[:] = i
        yield kept, np.full((2, 1), i, np.int64)


def shown(batch: list[Any]) -> list[Any]:
    return [(tensor.shape, tensor.dtype.name, tensor.numpy().ravel().tolist()) for tensor in batch]


def test_samples_become_batches() -> None:
    loader = DataLoader.from_generator(capacity=2, return_list=True)
    loader.set_sample_generator(samples, batch_size=2, drop_last=False)
    expected = [
        [([2, 2], "float32", [0, 0, 1, 1]), ([2, 1], "int64", [0, 1])],
        [([1, 2], "float32", [2, 2]), ([1, 1], "int64", [2])],
    ]
    assert [shown(batch) for batch in loader()] == expected
    assert [shown(batch) for batch in loader] == expected
    assert [shown(b) for b in loader.set_sample_generator(samples, 2)] == expected[:1]


def test_lists_of_samples_and_whole_batches() -> None:
    """Shapes and dtypes as Paddle 2.6.2 gives them; a number of a sample has no dimension of its own."""
    loader = DataLoader.from_generator(capacity=2)
    loader.set_sample_list_generator(lambda: iter([[(1, 1.5), (2, 2.5)]]))
    assert [shown(b) for b in loader] == [[([2], "int64", [1, 2]), ([2], "float64", [1.5, 2.5])]]
    loader.set_batch_generator(batches)
    assert [b[0].numpy()[0, 0] for b in loader] == [0, 1, 2]
    loader.set_batch_generator(lambda: iter([[engine.ones([2]), [1, 2, 3]]]))
    assert [shown(b) for b in loader] == [[([2], "float32", [1, 1]), ([3], "int64", [1, 2, 3])]]


def test_an_exception_of_the_generator_follows_the_batches_before_it() -> None:
    def broken() -> Iterator[Any]:
        yield (np.ones(2),)
        raise KeyError("page 7")

    loop = iter(DataLoader.from_generator(capacity=4).set_batch_generator(broken))
    assert next(loop)[0].shape == [2]
    with pytest.raises(KeyError, match="page 7") as caught:
        next(loop)
    assert "broken" in [entry.name for entry in caught.traceback]


def test_no_more_than_the_capacity_is_read_ahead() -> None:
    made, full = [], threading.Event()

    def counted() -> Iterator[int]:
        for i in range(10):
            made.append(i)
            if i == 3:
                full.set()
            yield i

    ahead = ReadAhead(counted, 3)
    assert full.wait(10)
    assert made == [0, 1, 2, 3]  # three wait in the queue, the fourth for a place in it
    assert list(ahead) == list(range(10))
    ahead._thread.join(10)
    assert not ahead._thread.is_alive()


def test_a_loop_left_early_ends_its_thread_and_the_generator() -> None:
    ended = threading.Event()

    def endless() -> Iterator[Any]:
        try:
            while True:
                yield (np.ones(2),)
        finally:
            ended.set()

    loader = DataLoader.from_generator(capacity=2).set_batch_generator(endless)
    before = threading.active_count()
    for _ in loader:
        break
    assert ended.wait(10)
    iterator = iter(loader)
    ended.clear()
    del iterator  # never asked for a batch
    assert ended.wait(10)
    for thread in threading.enumerate():
        if thread.name == "reading ahead":
            thread.join(10)
    assert threading.active_count() <= before


def test_modes_hold_in_the_thread_too() -> None:
    def graded() -> Iterator[Any]:
        yield (np.array(engine.is_grad_enabled()),)

    loader = DataLoader.from_generator(capacity=1).set_batch_generator(graded)
    with engine.no_grad():
        assert [b[0].item() for b in loader] == [False]
    assert [b[0].item() for b in loader] == [True]


@pytest.mark.parametrize("capacity", [None, 0, -1, 2.5, True])
def test_a_capacity_is_needed(capacity: Any) -> None:
    with pytest.raises(ConditionError, match="capacity"):
        DataLoader.from_generator(capacity=capacity)


def test_invalid_generators_are_refused_in_one_line() -> None:
    loader = DataLoader.from_generator(capacity=2)
    with pytest.raises(ConditionError, match="no generator yet"):
        iter(loader)
    with pytest.raises(ModeError, match="iterable"):
        loader.start()
    with pytest.raises(ShapeError, match="pad them"):
        list(loader.set_batch_generator(lambda: iter([[[[1, 2], [3]]]])))
    with pytest.raises(ArgumentError, match="batch_size"):
        loader.set_sample_generator(samples, 0)
    with pytest.raises(ArgumentError, match="one place"):
        loader.set_batch_generator(batches, places=[engine.CPUPlace(), engine.CPUPlace()])
    with pytest.warns(UserWarning, match="looped over"):
        loader = DataLoader.from_generator(capacity=2, iterable=False)
    assert loader.iterable


@pytest.fixture
def program() -> Iterator[Any]:
    engine.enable_static()
    main = engine.static.Program()
    with engine.static.program_guard(main, engine.static.Program()):
        x = engine.static.data("x", [None, 2], "float32")
        y = engine.static.data("y", [None, 1], "int64")
        yield x, y, engine.static.Executor()
    engine.disable_static()


def test_in_static_mode_a_batch_is_what_an_executor_is_fed(program: Any) -> None:
    x, y, executor = program
    total = x.sum() + y.sum().astype("float32")
    loader = DataLoader.from_generator([x, y], capacity=2)
    loader.set_sample_generator(samples, 2, drop_last=False, places=engine.CPUPlace())
    assert [sorted(batch[0]) for batch in loader()] == [["x", "y"]] * 2
    assert [float(executor.run(feed=b, fetch_list=[total])[0]) for b in loader()] == [3, 6]
    loader.set_sample_list_generator(
        lambda: iter([[([1.0, 2.0], 3)] * 2])
    )  # the Variables' dtypes and shapes
    [[fed]] = list(loader)
    assert (fed["x"].dtype, fed["y"].shape) == (engine.float32, [2, 1])
    listed = DataLoader.from_generator([x, y], capacity=2, return_list=True)
    assert [[t.shape for t in b[0]] for b in listed.set_batch_generator(batches)] == [[[2, 2], [2, 1]]] * 3
    with pytest.raises(ConditionError, match="feed_list"):
        DataLoader.from_generator(capacity=2)
    with pytest.raises(ArgumentError, match="1 fields: feed_list has 2"):
        list(loader.set_batch_generator(lambda: iter([[np.ones((2, 2), np.float32)]])))


def test_several_places_get_a_batch_each(program: Any) -> None:
    x, y, executor = program
    places = [engine.CPUPlace(), engine.CPUPlace()]
    loader = DataLoader.from_generator([x, y], capacity=2).set_batch_generator(batches, places)
    assert [[fed["y"].numpy()[0, 0] for fed in group] for group in loader] == [[0, 1]]
    program = engine.static.CompiledProgram(x.block.program).with_data_parallel()
    [joined] = [executor.run(program, feed=group, fetch_list=[y])[0] for group in loader]
    assert joined.tolist() == [[0], [0], [1], [1]]  # one process has one device
    with pytest.raises(ArgumentError, match="different names"):
        executor.run(program, feed=[{"x": np.ones((1, 2))}, {"y": np.ones((1, 1))}], fetch_list=[y])
    loader = DataLoader.from_generator([x, y], capacity=2, drop_last=False)
    assert [len(group) for group in loader.set_batch_generator(batches, places)] == [2, 1]


def test_one_that_is_not_iterable_belongs_to_its_program(program: Any) -> None:
    x, y, executor = program
    loader = DataLoader.from_generator([x, y], capacity=2, iterable=False)
    loader.set_sample_generator(samples, 2, drop_last=False)
    total = x.sum() + y.sum().astype("float32")
    main = engine.static.default_main_program()
    with pytest.raises(ProgramError, match=r"not been started; call its start\(\)"):
        executor.run(fetch_list=[total])
    for program in (main, main.clone(for_test=True)):
        loader.start()
        assert [float(executor.run(program, fetch_list=[total.name])[0]) for _ in range(2)] == [3, 6]
        for _ in range(2):
            with pytest.raises(EOFException, match="There is no next data"):
                executor.run(program, fetch_list=[total.name])
        loader.reset()
    loader.start()
    with pytest.raises(ProgramError, match="call reset"):
        loader.start()
    loader.reset()
    fed = {"x": np.ones((1, 2), np.float32), "y": np.ones((1, 1), np.int64)}
    assert float(executor.run(feed=fed, fetch_list=[total])[0]) == 3  # what is given in full is not read
    with pytest.raises(ModeError, match="start"):
        iter(loader)
