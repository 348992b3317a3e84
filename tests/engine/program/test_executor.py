"""Programs built by hand, run by an Executor, compared with NumPy."""

import threading

import numpy as np
import pytest

import engine as paddle
from engine import static
from engine.core import mode as modes
from engine.core import names
from engine.core.errors import ArgumentError, DTypeError, ProgramError, ShapeError
from engine.core.values.spec import Spec
from engine.program.build.builder import building, variable
from engine.program.build.control import cond, while_loop
from engine.program.graph.check import problems
from engine.program.graph.program import Program
from engine.program.run.executor import Executor
from engine.program.saved.serialize import from_plain, to_plain


def built(function, *specs):
    program = Program()
    inputs = [variable(program, f"x{n}", Spec(*s), stop_gradient=False) for n, s in enumerate(specs)]
    with building(program):
        out = function(*inputs)
    assert problems(program) == []
    return program, out


def run(program, out, *arrays):
    feed = {f"x{n}": a for n, a in enumerate(arrays)}
    return Executor().run(program, feed, [out])[0]


def test_arithmetic_equals_numpy_for_every_batch_size():
    program, out = built(
        lambda x, y: paddle.tanh(x * y + 2.0).mean(axis=1), ((-1, 3), "float32"), ((3,), "float32")
    )
    assert out.shape == (-1,)
    for batch in (1, 4, 7):
        x = np.random.default_rng(batch).standard_normal((batch, 3)).astype("float32")
        y = np.array([1, -2, 3], "float32")
        np.testing.assert_allclose(run(program, out, x, y), np.tanh(x * y + 2).mean(1), rtol=1e-6)


def test_a_fetched_value_is_a_copy():
    program, out = built(lambda x: x.reshape([4]), ((2, 2), "float32"))
    x = np.ones((2, 2), "float32")
    got = run(program, out, x)
    got[:] = 5
    assert x.sum() == 4
    first = run(program, out, x)
    run(program, out, x * 3)
    np.testing.assert_array_equal(first, np.ones(4))


def test_results_of_a_startup_program_do_not_depend_on_the_scope():
    startup = Program()
    with static.program_guard(Program(), startup):
        paddle.enable_static()
        w = static.create_parameter([2], "float32", default_initializer=paddle.nn.initializer.Constant(3.0))
        paddle.disable_static()
    scope = static.Scope()
    first, again = Executor().run(startup, fetch_list=[w.name, w.name], scope=scope)
    scope.find_var(w.name).tensor._array[:] = 5  # as an update in place does
    first[0] = 7
    np.testing.assert_array_equal(first, [7, 3])
    np.testing.assert_array_equal(again, [3, 3])


def test_results_of_an_earlier_run_stay_when_the_plan_runs_again():
    program, out = built(lambda x: (x + 1.0) * 2.0, ((-1,), "float32"))
    a = run(program, out, np.zeros(8, "float32"))
    run(program, out, np.ones(8, "float32"))
    np.testing.assert_array_equal(a, np.full(8, 2, "float32"))


def test_cond_runs_only_the_side_it_chooses():
    program, out = built(lambda x: cond(x.sum() > 0, lambda: x * 2.0, lambda: x - 1.0), ((3,), "float32"))
    np.testing.assert_array_equal(run(program, out, np.array([1, 2, 3], "float32")), [2, 4, 6])
    np.testing.assert_array_equal(run(program, out, np.array([-1, -2, -3], "float32")), [-2, -3, -4])


def test_while_loop_counts():
    def loop(x):
        values = while_loop(lambda i, s: i < 5, lambda i, s: [i + 1, s * 2.0], [paddle.zeros([], "int64"), x])
        return values[1]

    program, out = built(loop, ((2,), "float32"))
    np.testing.assert_array_equal(run(program, out, np.array([1, 3], "float32")), [32, 96])


def test_nested_control_flow_survives_writing_and_reading():
    def nested(x):
        def body(i, s):
            return [i + 1, cond((s.sum() > 10), lambda: s - 3.0, lambda: s * 2.0)]

        return while_loop(lambda i, s: i < 6, body, [paddle.zeros([], "int64"), x])[1]

    program, out = built(nested, ((2,), "float32"))
    again = from_plain(to_plain(program))
    assert str(again) == str(program)
    x = np.array([1, 2], "float32")
    expected = x.copy()
    for _ in range(6):
        expected = expected - 3 if expected.sum() > 10 else expected * 2
    np.testing.assert_array_equal(run(program, out, x), expected)
    np.testing.assert_array_equal(Executor().run(again, {"x0": x}, [out.name])[0], expected)


@pytest.mark.parametrize(
    ("feed", "error", "words"),
    [
        ({"x0": np.ones((2, 4), "float32")}, ShapeError, "x0"),
        ({"x0": np.ones((2, 3), "float64")}, DTypeError, "float64"),
        ({}, ArgumentError, "x0"),
    ],
)
def test_a_feed_that_does_not_fit_is_refused_by_name(feed, error, words):
    program, out = built(lambda x: x + 1.0, ((-1, 3), "float32"))
    with pytest.raises(error, match=words):
        Executor().run(program, feed, [out])


def test_a_feed_without_a_variable_is_ignored_and_named():
    program, out = built(lambda x: x + 1.0, ((-1, 3), "float32"))
    with pytest.warns(UserWarning, match="'z'"):
        (found,) = Executor().run(program, {"z": np.ones(1), "x0": np.ones((2, 3), "float32")}, [out])
    assert found.tolist() == [[2.0] * 3] * 2


def test_a_fetch_that_is_not_there_is_refused():
    program, _ = built(lambda x: x + 1.0, ((-1, 3), "float32"))
    with pytest.raises(ProgramError, match="nothing_here"):
        Executor().run(program, {"x0": np.ones((1, 3), "float32")}, ["nothing_here"])


def test_an_impossible_graph_fails_during_building():
    program = Program()
    x = variable(program, "x", Spec((-1, 3), "float32"))
    y = variable(program, "y", Spec((4, 2), "float32"))
    with building(program), pytest.raises(ShapeError, match=r"test_executor\.py:\d+.*matmul"):
        paddle.matmul(x, y)


def test_an_error_while_running_names_the_users_line():
    program, out = built(lambda x, y: x + y, ((-1,), "float32"), ((-1,), "float32"))
    with pytest.raises(ShapeError, match=r"test_executor\.py:\d+"):
        run(program, out, np.ones(2, "float32"), np.ones(3, "float32"))


def test_static_mode_holds_in_new_threads_until_disabled():
    paddle.enable_static()
    try:
        seen = []
        thread = threading.Thread(target=lambda: seen.append(modes.is_static()))
        thread.start()
        thread.join()
        assert seen == [True]
        main = Program()
        with static.program_guard(main), names.guard():
            x = static.data("x", [None, 2])
            y = x * 3.0
        assert [v.name for v in (x, y)] == ["x", "tmp_0"]
        got = Executor().run(main, {"x": np.ones((2, 2), "float32")}, [y])
        np.testing.assert_array_equal(got[0], np.full((2, 2), 3))
    finally:
        paddle.disable_static()
    assert paddle.in_dynamic_mode()


def test_a_variable_has_no_truth_value_outside_converted_code():
    program = Program()
    x = variable(program, "x", Spec((1,), "float32"))
    with building(program), pytest.raises(Exception, match="to_static"):
        bool(x > 0)


def test_random_operators_draw_new_numbers_at_every_run():
    program, out = built(lambda x: x + paddle.rand([4]), ((4,), "float32"))
    zeros = np.zeros(4, "float32")
    paddle.seed(3)
    first, second = run(program, out, zeros), run(program, out, zeros)
    assert not np.array_equal(first, second)
    paddle.seed(3)
    np.testing.assert_array_equal(run(program, out, zeros), first)
    paddle.seed(3)
    np.testing.assert_array_equal(paddle.rand([4]).numpy(), first)
