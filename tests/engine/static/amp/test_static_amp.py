"""static.amp: float32 with loss scaling on the CPU, as in Paddle; where it acts, casts and levels."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import amp as eager_amp
from engine.core import names
from engine.core.values import bfloat
from engine.static import amp

X = np.linspace(-1, 1, 32).reshape(4, 8).astype("float32")
Y = np.array([[0], [1], [2], [1]])


@pytest.fixture(autouse=True)
def static_mode() -> Iterator[None]:
    paddle.enable_static()
    yield
    paddle.disable_static()


@pytest.fixture
def acting() -> Iterator[None]:
    with eager_amp.on_cpu():
        yield


def build(decorated: Any, optimizer: Any, guarded: bool = False) -> Any:
    main, startup = paddle.static.Program(), paddle.static.Program()
    with names.guard(), paddle.static.program_guard(main, startup):
        paddle.seed(1)
        x, y = paddle.static.data("x", [4, 8], "float32"), paddle.static.data("y", [4, 1], "int64")
        hidden = paddle.nn.functional.relu(paddle.static.nn.fc(x, 16))
        if guarded:
            with amp.fp16_guard():
                out = paddle.static.nn.fc(hidden, 3)
        else:
            out = paddle.static.nn.fc(hidden, 3)
        loss = paddle.nn.functional.cross_entropy(out, y)
        wrapped = decorated(optimizer)
        wrapped.minimize(loss)
    return main, startup, loss, wrapped


def train(decorated: Any, optimizer: Any = None, steps: int = 5) -> tuple[list[float], Any, Any]:
    main, startup, loss, wrapped = build(decorated, optimizer or paddle.optimizer.SGD(0.1))
    executor, scope = paddle.static.Executor(), paddle.static.Scope()
    with paddle.static.scope_guard(scope):
        executor.run(startup)
        if hasattr(wrapped, "amp_init"):
            wrapped.amp_init(paddle.CPUPlace(), scope=scope)
        found = []
        for _ in range(steps):
            (value,) = executor.run(main, feed={"x": X, "y": Y}, fetch_list=[loss])
            found.append(float(bfloat.widen(np, value) if value.dtype == np.uint16 else value))
    return found, main, scope


def types(program: Any) -> list[str]:
    return [op.type for op in program.global_block().ops]


def test_on_the_cpu_programs_keep_float32() -> None:
    plain, _, _ = train(lambda optimizer: optimizer)
    with pytest.warns(UserWarning, match=r"On current GPU, float16 is not supported for operators"):
        scaled, main, scope = train(lambda optimizer: amp.decorate(optimizer, incr_every_n_steps=2))
    assert scaled == plain
    assert "cast" not in types(main)
    assert types(main)[-6:-4] == ["check_finite_and_unscale", "update_loss_scaling"]
    assert float(scope.find_var("loss_scaling_0").get_tensor().numpy()[0]) == 2.0**18
    with pytest.warns(UserWarning, match="bfloat16"):
        low, main, _ = train(lambda optimizer: amp.decorate(optimizer, level="O2", dtype="bfloat16"))
    assert low == plain
    assert "update_loss_scaling" not in types(main)


@pytest.mark.parametrize("kind", ["Adam", "AdamW", "Lamb", "SGD"])
def test_steps_with_inf_are_left_out(kind: str) -> None:
    optimizer = getattr(paddle.optimizer, kind)(0.01)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main, startup, loss, wrapped = build(lambda o: amp.decorate(o, init_loss_scaling=8.0), optimizer)
    executor, scope = paddle.static.Executor(), paddle.static.Scope()
    with paddle.static.scope_guard(scope):
        executor.run(startup)

        def state() -> dict[str, Any]:
            return {
                v.name: scope.find_var(v.name).get_tensor().numpy().copy()
                for v in main.list_vars()
                if v.persistable and "bad" not in v.name and "good" not in v.name
            }

        before = state()
        for value, moves in ((np.inf, False), (1.0, True)):
            executor.run(main, feed={"x": X * value, "y": Y}, fetch_list=[loss])
            after = state()
            same = all(np.array_equal(before[k], after[k]) for k in before if k != "loss_scaling_0")
            assert same is not moves
            assert after["loss_scaling_0"] == 4.0
    assert wrapped.get_loss_scaling().name == "loss_scaling_0"


def test_level_o1_inserts_casts(acting: None) -> None:
    plain, _, _ = train(lambda optimizer: optimizer)
    found, main, _ = train(lambda optimizer: amp.decorate(optimizer))
    assert types(main)[:8] == ["cast", "cast", "mul", "cast", "elementwise_add", "relu", "cast", "mul"]
    block = main.global_block()
    assert block.var("fc_0.w_0.cast_fp16").dtype == block.var("relu_0.tmp_0").dtype == "float16"
    assert block.var("fc_0.w_0").dtype == block.var("fc_0.w_0@GRAD").dtype == "float32"
    assert block.var("fc_1.tmp_1.cast_fp32").dtype == "float32"
    np.testing.assert_allclose(found, plain, rtol=5e-3)
    assert found != plain


def test_levels_and_lists(acting: None) -> None:
    plain, _, _ = train(lambda optimizer: optimizer)
    black = amp.AutoMixedPrecisionLists(custom_black_list=["mul"])
    for options in (
        {"level": "O0"},
        {"amp_lists": black},
        {"amp_lists": amp.CustomOpLists(custom_black_varnames=["fc_0.w_0", "fc_1.w_0"])},
    ):
        found, main, _ = train(lambda optimizer, options=options: amp.decorate(optimizer, **options))
        assert found == plain, options
    found, main, _ = train(lambda optimizer: amp.decorate(optimizer, level="OD"))
    assert main.global_block().var("fc_0.tmp_1").dtype == "float32"
    np.testing.assert_allclose(found, plain, rtol=5e-3)
    with pytest.raises(ValueError, match="overlaps"):
        amp.AutoMixedPrecisionLists(["exp"], ["exp"])
    with pytest.raises(ValueError, match="dtype should be"):
        amp.AutoMixedPrecisionLists(dtype="int8")
    with pytest.raises(ValueError, match="level should be"):
        amp.decorate(paddle.optimizer.SGD(0.1), level="O3")
    with pytest.raises(ValueError, match="it takes"):
        amp.decorate(paddle.optimizer.SGD(0.1), fast=True)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_level_o2_keeps_parameters_low_and_masters(acting: None, dtype: str) -> None:
    plain, _, _ = train(lambda optimizer: optimizer, paddle.optimizer.Momentum(0.05))
    found, main, scope = train(
        lambda optimizer: amp.decorate(
            optimizer, level="O2", dtype=dtype, master_grad=True, init_loss_scaling=128.0
        ),
        paddle.optimizer.Momentum(0.05),
    )
    block = main.global_block()
    assert block.var("fc_0.w_0").dtype == dtype
    master = scope.find_var("fc_0.w_0_fp32_master_0").get_tensor().numpy()
    low = scope.find_var("fc_0.w_0").tensor
    assert master.dtype == np.float32
    assert low.dtype == dtype
    rounded = bfloat.converted(np, master, low.dtype)
    np.testing.assert_array_equal(bfloat.plain(rounded), low.numpy())
    np.testing.assert_allclose(found, plain, rtol=3e-2)


def test_the_guard_chooses_what_is_low(acting: None) -> None:
    main, *_ = build(
        lambda o: amp.decorate(o, use_pure_fp16=True, init_loss_scaling=8.0),
        paddle.optimizer.SGD(0.1),
        guarded=True,
    )
    block = main.global_block()
    assert block.var("fc_0.w_0").dtype == "float32"
    assert block.var("fc_1.w_0").dtype == "float16"


def test_bf16_on_the_cpu() -> None:
    plain, _, _ = train(lambda optimizer: optimizer)
    for options in ({}, {"use_pure_bf16": True, "use_bf16_guard": False}):
        found, main, _ = train(
            lambda optimizer, options=options: amp.bf16.decorate_bf16(optimizer, **options)
        )
        assert main.global_block().var("fc_0.tmp_0").dtype is paddle.bfloat16
        np.testing.assert_allclose(found, plain, rtol=3e-2)
        assert found != plain
    assert amp.bf16.convert_float_to_uint16([1.7, -3.7]).tolist() == [16345, 49260]
    with pytest.raises(ValueError, match="overlap"):
        amp.bf16.AutoMixedPrecisionListsBF16(["exp"], ["exp"])


def test_counts_by_dtype(acting: None, capsys: pytest.CaptureFixture[str]) -> None:
    _, main, _ = train(lambda optimizer: amp.decorate(optimizer), steps=1)
    amp.debugging.collect_operator_stats(main)
    lines = {line.split("|")[0].strip(): line.split("|")[1:] for line in capsys.readouterr().out.splitlines()}
    assert [int(n) for n in lines["mul"]] == [2, 0, 0, 0]
    assert [int(n) for n in lines["sgd"]] == [0, 0, 4, 0]


def test_before_minimize() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wrapped = amp.decorate(paddle.optimizer.SGD(0.1))
    for call in (wrapped.get_loss_scaling, lambda: wrapped.amp_init(paddle.CPUPlace())):
        with pytest.raises(AssertionError, match="minimize"):
            call()
    assert wrapped.get_lr() == 0.1
