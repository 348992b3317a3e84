"""Errors for wrong labels are raised once, wherever the host has waited, and nowhere else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import OutOfRangeError
from engine.core.place import place_guard

MESSAGE = "label 9 is not a class number: there are 3 classes, 0 to 2"


def _wrong() -> Any:
    label = paddle.to_tensor(np.array([[1], [9]]))
    return paddle.nn.functional.softmax_with_cross_entropy(paddle.ones([2, 3]), label)


@pytest.mark.parametrize(
    "wait",
    [
        lambda loss: loss.numpy(),
        lambda loss: loss.sum().item(),
        lambda loss: loss.tolist(),
        lambda loss: loss.cpu(),
        lambda loss: paddle.device.synchronize(),
        lambda loss: paddle.device.current_stream().synchronize(),
        lambda loss: paddle.device.current_stream().record_event().synchronize(),
        lambda loss: bool(loss.sum() > 0),
    ],
    ids=["numpy", "item", "tolist", "cpu", "device", "stream", "event", "bool"],
)
def test_every_wait_reports_a_fault_once(cupy: Any, wait: Any) -> None:
    with place_guard("gpu:0"):
        loss = _wrong()
        with pytest.raises(OutOfRangeError, match=MESSAGE):
            wait(loss)
        wait(loss)


def test_the_first_of_several_faults_is_reported(cupy: Any) -> None:
    with place_guard("gpu:0"):
        loss = _wrong()
        paddle.nn.functional.embedding(paddle.to_tensor(np.array([7])), paddle.ones([2, 3]))
        with pytest.raises(OutOfRangeError, match=MESSAGE):
            loss.numpy()
        paddle.device.synchronize()


def test_a_fetch_of_an_executor_reports_a_fault(cupy: Any) -> None:
    paddle.enable_static()
    try:
        main = paddle.static.Program()
        with paddle.static.program_guard(main, paddle.static.Program()):
            x = paddle.static.data("x", [2, 3])
            label = paddle.static.data("label", [2, 1], "int64")
            loss = paddle.nn.functional.softmax_with_cross_entropy(x, label)
        executor = paddle.static.Executor(paddle.CUDAPlace(0))
        ones = np.ones((2, 3), np.float32)
        with pytest.raises(OutOfRangeError, match=MESSAGE):
            executor.run(main, {"x": ones, "label": np.array([[1], [9]])}, [loss])
        (found,) = executor.run(main, {"x": ones, "label": np.array([[1], [2]])}, [loss])
        np.testing.assert_allclose(found, np.full((2, 1), np.log(3)), rtol=1e-6)
    finally:
        paddle.disable_static()
