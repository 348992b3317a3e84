"""Counts of operators by dtype, and checks for nan and infinity."""

from __future__ import annotations

import numpy as np
import pytest

import engine as paddle
from engine import amp
from engine.amp import debugging

NAMES = {"cast": (0, 2), "elementwise_add": (0, 1), "matmul_v2": (1, 1)}
ROWS = "".join(
    f"  {name:<40}|  {low:<17}|  {0:<17}|  {high:<17}|  {0:<17}\n" for name, (low, high) in NAMES.items()
)
TABLE = (
    f"<{' op list ':-^120}>\n<{' Op Name ':-^40} | -- FP16 Calls --- | -- BF16 Calls --- | "
    f"--- FP32 Calls--- | -- Other Calls -->\n{ROWS}<{' op count: 3 ':-^120}>\n\n"
)


def test_counts(capsys: pytest.CaptureFixture[str]) -> None:
    a = paddle.ones([2, 2])
    a.stop_gradient = False
    with debugging.collect_operator_stats():
        paddle.matmul(a, a).backward()
        with amp.on_cpu(), amp.auto_cast():
            paddle.matmul(a, a)
        paddle.add(a, a)
    assert capsys.readouterr().out == TABLE
    debugging.disable_operator_stats_collection()
    paddle.add(a, a)
    assert capsys.readouterr().out == ""


def test_check_numerics(capsys: pytest.CaptureFixture[str]) -> None:
    stats, values = debugging.check_numerics(paddle.to_tensor([1.0, 0.0, 3.0]), "myop", "v")
    np.testing.assert_array_equal(stats.numpy(), [0, 0, 1])
    np.testing.assert_array_equal(values.numpy(), np.float32([3, 0, 1.3333334]))
    debugging.check_numerics(paddle.to_tensor([1.0, 0.0, 3.0]), "myop", "v", debugging.DebugMode.CHECK_ALL)
    assert capsys.readouterr().out == (
        "[PRECISION] in [device=cpu, op=myop, tensor=v, dtype=fp32], numel=3, num_zero=1, max=3.000000e+00, "
        "min=0.000000e+00, mean=1.333333e+00\n"
    )
    bad = paddle.to_tensor([float("-inf"), 2.0], dtype="float64")
    stats, values = debugging.check_numerics(bad, "myop", "v", debugging.DebugMode.CHECK_NAN_INF)
    assert stats.numpy().tolist() == [0, 1, 0]
    assert values.numpy().tolist() == [2.0, float("-inf"), float("-inf")]
    assert (
        "[PRECISION] [ERROR] in [device=cpu, op=myop, tensor=v, dtype=fp64], numel=2, num_nan=0, num_inf=1, "
        in (capsys.readouterr().out)
    )
    with pytest.raises(RuntimeError, match=r"There are NAN or INF \(num_nan=0, num_inf=1, num_zero=0\)"):
        debugging.check_numerics(bad, "myop", "v")
    paddle.enable_static()
    try:
        with paddle.static.program_guard(paddle.static.Program()):
            fed = paddle.static.data("x", [3], "float32")
            found = debugging.check_numerics(fed, "op", "v")
            got = paddle.static.Executor().run(feed={"x": np.float32([1, 0, 2])}, fetch_list=list(found))
    finally:
        paddle.disable_static()
    assert [list(v) for v in got] == [[0, 0, 1], [2.0, 0.0, 1.0]]


def test_checked_operators_and_steps(capsys: pytest.CaptureFixture[str]) -> None:
    zero = paddle.zeros([2])
    config = debugging.TensorCheckerConfig(True, checked_op_list=["log"], debug_step=[0, 1])
    assert "seed " in capsys.readouterr().out
    debugging.enable_tensor_checker(config)
    try:
        paddle.divide(zero, zero)
        with pytest.raises(RuntimeError, match="log: its result holds 0 nan and 2 infinite"):
            paddle.log(zero)
        debugging.enable_tensor_checker(config)  # the second step is not checked
        paddle.log(zero)
        skipping = debugging.TensorCheckerConfig(
            True, debugging.DebugMode.CHECK_NAN_INF, skipped_op_list=["log"]
        )
        debugging.enable_tensor_checker(skipping)
        paddle.log(zero)
        with pytest.warns(RuntimeWarning, match="elementwise_div"):
            paddle.divide(zero, zero)
    finally:
        debugging.disable_tensor_checker()
        debugging.TensorCheckerConfig.current_step_id = 0
        paddle.set_flags({"FLAGS_check_nan_inf_level": 0, "FLAGS_cpu_deterministic": False})
    paddle.divide(zero, zero)
    with pytest.raises(ValueError, match="checked_op_list must be list"):
        debugging.TensorCheckerConfig(False, checked_op_list="log")


def test_a_layer_is_checked() -> None:
    class Inverse(paddle.nn.Layer):
        @debugging.check_layer_numerics
        def forward(self, x: paddle.Tensor) -> paddle.Tensor:
            return 1.0 / x

    layer = Inverse()
    np.testing.assert_array_equal(layer(paddle.full([2], 2.0)).numpy(), [0.5, 0.5])
    with pytest.raises(RuntimeError, match="2 infinite"):
        layer(paddle.zeros([2]))
    assert np.isinf((1.0 / paddle.zeros([2])).numpy()).all()
    with pytest.raises(RuntimeError, match="No elements"):
        layer(x=paddle.zeros([2]))
