"""paddle.save in the background."""

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import SaveError


def test_values_are_those_of_the_call(tmp_path):
    layer = paddle.nn.Linear(3, 2)
    expected = {name: value.numpy().copy() for name, value in layer.state_dict().items()}
    for number in range(3):
        paddle.async_save(
            layer.state_dict(), str(tmp_path / f"{number}.pdparams"), sync_other_task=number == 2
        )
    layer.weight.set_value(paddle.zeros([3, 2]))
    paddle.clear_async_save_task_queue()
    for number in range(3):
        found = paddle.load(str(tmp_path / f"{number}.pdparams"))
        for name, value in expected.items():
            np.testing.assert_array_equal(found[name].numpy(), value)


def test_a_tensor(tmp_path):
    paddle.async_save(paddle.arange(3), str(tmp_path / "x.pd"))
    paddle.clear_async_save_task_queue()
    np.testing.assert_array_equal(paddle.load(str(tmp_path / "x.pd")).numpy(), [0, 1, 2])


def test_refused_objects_and_modes(tmp_path):
    with pytest.raises(TypeError, match="takes a Tensor or a dict: got int"):
        paddle.async_save(3, str(tmp_path / "x.pd"))
    with pytest.warns(UserWarning, match="no effect"):
        paddle.async_save({}, str(tmp_path / "x.pd"), use_binary_format=True)
    paddle.clear_async_save_task_queue()
    paddle.enable_static()
    try:
        with pytest.raises(ValueError, match="disable_static"):
            paddle.async_save({}, str(tmp_path / "x.pd"))
    finally:
        paddle.disable_static()


def test_an_error_is_raised_by_the_one_who_waits(tmp_path):
    (tmp_path / "file").write_text("")
    paddle.async_save({"a": 1}, str(tmp_path / "file" / "x.pd"))
    with pytest.raises((SaveError, OSError)):
        paddle.clear_async_save_task_queue()
    paddle.clear_async_save_task_queue()
