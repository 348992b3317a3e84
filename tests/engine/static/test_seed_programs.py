"""The static graphs of the documents on dynamic and static graphs, as they print them."""

import numpy as np
import pytest

import engine as paddle
from engine.core import names
from engine.static import Executor, Program, Scope, program_guard, scope_guard


@pytest.fixture(autouse=True)
def _static():
    paddle.enable_static()
    with names.guard(), program_guard(Program(), Program()), scope_guard(Scope()):
        yield
    paddle.disable_static()


PRINTED = """\
{ // block_idx:0  parent_idx:-1  forward_idx:-1  backward_idx:-1
    var x : LOD_TENSOR.shape(-1, 10).dtype(float32).stop_gradient(True)
    var y : LOD_TENSOR.shape(-1, 3).dtype(float32).stop_gradient(True)
    persist trainable param fc_0.w_0 : LOD_TENSOR.shape(10, 3).dtype(float32).stop_gradient(False)
    var fc_0.tmp_0 : LOD_TENSOR.shape(-1, 3).dtype(float32).stop_gradient(False)
    persist trainable param fc_0.b_0 : LOD_TENSOR.shape(3,).dtype(float32).stop_gradient(False)
    var fc_0.tmp_1 : LOD_TENSOR.shape(-1, 3).dtype(float32).stop_gradient(False)
    var elementwise_add_0 : LOD_TENSOR.shape(-1, 3).dtype(float32).stop_gradient(False)

    {Out=['fc_0.tmp_0']} = mul(inputs={X=['x'], Y=['fc_0.w_0']}, op_device = , op_namescope = /, op_role = 0, op_role_var = [], with_quant_attr = False, x_num_col_dims = 1, y_num_col_dims = 1)
    {Out=['fc_0.tmp_1']} = elementwise_add(inputs={X=['fc_0.tmp_0'], Y=['fc_0.b_0']}, axis = 1, op_device = , op_namescope = /, op_role = 0, op_role_var = [], with_quant_attr = False)
    {Out=['elementwise_add_0']} = elementwise_add(inputs={X=['fc_0.tmp_1'], Y=['y']}, axis = -1, op_device = , op_namescope = /, op_role = 0, op_role_var = [], with_quant_attr = False)
}
"""  # noqa: E501


def test_zeros_are_a_variable_that_says_what_it_is():
    zeros = paddle.zeros(shape=[1, 2], dtype="float32")
    assert str(zeros) == (
        "var fill_constant_1.tmp_0 : LOD_TENSOR.shape(1, 2).dtype(float32).stop_gradient(True)"
    )


def simple_net():
    x = paddle.static.data(shape=[None, 10], dtype="float32", name="x")
    y = paddle.static.data(shape=[None, 3], dtype="float32", name="y")
    out = paddle.static.nn.fc(x, 3)
    return paddle.add(out, y)


def test_the_net_prints_as_paddle_prints_it():
    simple_net()
    assert str(paddle.static.default_main_program()) == PRINTED


def test_program_and_parameters_are_saved_apart_and_predict_together(tmp_path):
    out = simple_net()
    executor = Executor()
    executor.run(paddle.static.default_startup_program())
    main_program = paddle.static.default_main_program()
    feed = {"x": np.ones((2, 10), "float32"), "y": np.full((2, 3), 0.5, "float32")}
    expected, weight = executor.run(main_program, feed, [out, "fc_0.w_0"])
    np.testing.assert_allclose(expected, np.tile(weight.sum(0) + 0.5, (2, 1)), rtol=1e-6)
    paddle.save(main_program, str(tmp_path / "main_program.pdimodel"))
    paddle.save(main_program.state_dict(), str(tmp_path / "main_program.pdiparams"))
    with scope_guard(Scope()):
        program = paddle.load(str(tmp_path / "main_program.pdimodel"))
        program.set_state_dict(paddle.load(str(tmp_path / "main_program.pdiparams")))
        np.testing.assert_array_equal(executor.run(program, feed, [out.name])[0], expected)
        assert str(program) == PRINTED
