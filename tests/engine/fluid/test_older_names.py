"""Names of 1.x that tools and Layers of one's own import, and cells of 1.8."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine
from engine import fluid
from engine.core.errors import ConditionError, ModeError, UnsupportedError
from engine.fluid.dygraph import GRUCell, LSTMCell, to_variable
from tests.engine.fresh_static import fresh_static

X, H, C = (np.random.default_rng(n).normal(size=(2, 3)).astype(np.float32) for n in range(3))


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def parts(cell: Any, count: int) -> tuple[list[Any], list[Any]]:
    own = X @ cell._weight_ih.numpy().T + cell._bias_ih.numpy()
    other = H @ cell._weight_hh.numpy().T + cell._bias_hh.numpy()
    return np.split(own, count, 1), np.split(other, count, 1)


BIAS = fluid.ParamAttr(initializer=fluid.initializer.Uniform(-0.5, 0.5))


def test_a_step_of_an_lstm() -> None:
    with fluid.dygraph.guard():
        cell = LSTMCell(3, 3, bias_attr=BIAS, dtype="float32")
        hidden, state = cell(to_variable(X), to_variable(H), to_variable(C))
        i, f, g, o = (a + b for a, b in zip(*parts(cell, 4), strict=True))
        wanted = sigmoid(f) * C + sigmoid(i) * np.tanh(g)
        np.testing.assert_allclose(state.numpy(), wanted, rtol=1e-5)
        np.testing.assert_allclose(hidden.numpy(), sigmoid(o) * np.tanh(wanted), rtol=1e-5)
        fluid.layers.reduce_sum(hidden).backward()
        assert len(cell.parameters()) == 4
        assert cell._weight_hh.gradient() is not None


def test_a_step_of_a_gru() -> None:
    with fluid.dygraph.guard():
        cell = GRUCell(3, 3, bias_attr=BIAS, dtype="float32")
        found = cell(to_variable(X), to_variable(H))
        own, other = parts(cell, 3)
        r, u = (sigmoid(a + b) for a, b in zip(own[:2], other[:2], strict=True))
        new = np.tanh(own[2] + r * other[2])
        np.testing.assert_allclose(found.numpy(), (H - new) * u + new, rtol=1e-5, atol=1e-6)
        with pytest.raises(UnsupportedError, match=r"use fluid\.contrib\.layers\.BasicGRUUnit"):
            GRUCell(3, 3, use_cudnn_impl=False)


def test_names_of_the_framework() -> None:
    framework = fluid.framework
    assert framework.convert_np_dtype_to_dtype_(np.int64) == fluid.core.VarDesc.VarType.INT64
    assert framework.grad_var_name("x") == "x@GRAD"
    assert framework.ParamBase is fluid.core.ParamBase
    only = framework.dygraph_only(lambda: 3)
    with fresh_static():
        with pytest.raises(ModeError, match="in dynamic mode"):
            only()
        with framework._dygraph_guard(fluid.dygraph.tracer.Tracer()):
            assert only() == 3
            assert fluid.in_dygraph_mode()
        assert not fluid.in_dygraph_mode()


def test_flags_and_values_of_a_scope() -> None:
    flags = fluid.core.globals()
    before = flags["FLAGS_cudnn_deterministic"]
    flags["FLAGS_cudnn_deterministic"] = True
    assert engine.get_flags("FLAGS_cudnn_deterministic") == {"FLAGS_cudnn_deterministic": True}
    flags["FLAGS_cudnn_deterministic"] = before
    scope = fluid.core.Scope()
    scope.var("v").get_tensor().set(X, fluid.CPUPlace())
    np.testing.assert_array_equal(fluid.executor._fetch_var("v", scope), X)
    with pytest.raises(ConditionError, match="Cannot find w in scope"):
        fluid.executor._fetch_var("w", scope)


def test_refused_optimizers_can_be_imported() -> None:
    for name in fluid.optimizer.REFUSED:
        with pytest.raises(UnsupportedError, match=f"fluid.optimizer.{name}: .*; use "):
            getattr(fluid.optimizer, name)()
