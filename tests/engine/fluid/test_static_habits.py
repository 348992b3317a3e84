"""What scripts of 1.5 to 1.8 may do with Programs: levels of rows, samples without a batch, one startup."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from engine import fluid
from engine.core.errors import NoValueError, ShapeError
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


def test_a_variable_is_true_where_a_script_asks_whether_there_is_one() -> None:
    x = fluid.layers.data(name="x", shape=[2], dtype="float32")
    mask = None
    assert [bool(value) for value in (x, mask)] == [True, False]
    # The result of a comparison is meant as a condition: 1.x took it for true, whatever it was.
    with pytest.raises(NoValueError, match=r"bool\(\)"):
        bool(x > 0)


def test_code_of_paddle_2_gets_an_error_instead() -> None:
    x = fluid.layers.data(name="x", shape=[2], dtype="float32")
    with pytest.raises(NoValueError, match=r"bool\(\)"):
        eval(compile("bool(x)", "paddle2.py", "eval"), {"x": x})


def test_weights_decay_by_operators_of_the_script() -> None:
    program, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(program, startup):
        x = fluid.layers.data(name="x", shape=[2], dtype="float32")
        loss = fluid.layers.mean(fluid.layers.fc(x, 1, param_attr="weight", bias_attr=False))
        with program._lr_schedule_guard():
            rate = fluid.layers.create_global_var([1], 0.5, "float32", persistable=True, name="rate")
        before = {p.name: p * 1.0 for p in program.global_block().all_parameters()}
        _, pairs = fluid.optimizer.SGD(learning_rate=rate).minimize(loss)
        for parameter, gradient in pairs:
            with program._optimized_guard([parameter, gradient]), fluid.name_scope("weight_decay"):
                decayed = parameter - before[parameter.name] * 0.1 * rate
                fluid.layers.assign(output=parameter, input=decayed)
    test_program = program.clone(for_test=True)
    executor = fluid.Executor(fluid.CPUPlace())
    with fluid.scope_guard(fluid.Scope()):
        executor.run(startup)
        weight = fluid.global_scope().find_var("weight").get_tensor()
        weight.set(np.array([[1.0], [2.0]], np.float32), fluid.CPUPlace())
        batch = {"x": np.array([[3.0, 4.0]], np.float32)}
        executor.run(test_program, feed=batch)
        np.testing.assert_array_equal(np.array(weight), [[1.0], [2.0]])
        executor.run(program, feed=batch)
        # 1 - 0.5 * 3 - 0.05 * 1, and 2 - 0.5 * 4 - 0.05 * 2.
        np.testing.assert_allclose(np.array(weight), [[-0.55], [-0.1]], rtol=1e-6)


def test_a_reader_says_how_many_batches_wait() -> None:
    read = threading.Event()

    def batches() -> Iterator[list[np.ndarray[Any, Any]]]:
        for _ in range(3):
            yield [np.ones((1, 1), np.float32)]
        read.set()

    reader = fluid.layers.py_reader(4, [[-1, 1]], ["float32"], [0], use_double_buffer=False)
    assert reader.queue.size() == 0
    reader.decorate_tensor_provider(batches)
    reader.start()
    assert read.wait(60)
    fluid.Executor(fluid.CPUPlace()).run(fetch_list=[fluid.layers.read_file(reader)])
    assert reader.queue.size() == 2
    reader.reset()
    assert reader.queue.size() == 0


def test_beams_of_unknown_lengths_are_tiled() -> None:
    x = fluid.data("x", [None, None, 2])
    tiled = fluid.layers.BeamSearchDecoder.tile_beam_merge_with_batch(x, 3)
    rows = np.arange(12, dtype=np.float32).reshape(2, 3, 2)
    [found] = fluid.Executor(fluid.CPUPlace()).run(feed={"x": rows}, fetch_list=[tiled])
    np.testing.assert_array_equal(found, np.repeat(rows, 3, 0))
