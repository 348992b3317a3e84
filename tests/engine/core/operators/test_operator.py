"""Records of operators have the line that created them."""

from __future__ import annotations

import sys

import engine
from engine.autodiff import edges


def test_where_names_the_users_line() -> None:
    x = engine.to_tensor([1.0], stop_gradient=False)
    y = x * 3.0
    line = sys._getframe().f_lineno - 1
    assert y._edge.position == (__file__, line)
    assert y._edge.where() == f"{__file__}:{line}: y = x * 3.0"
    assert y._edge.type == "scale"


def test_where_of_a_function() -> None:
    x = engine.to_tensor([1.0], stop_gradient=False)
    line = sys._getframe().f_lineno + 1
    made = engine.exp(x)
    assert made._edge.position == (__file__, line)


def test_where_in_a_statement_of_several_lines() -> None:
    x = engine.to_tensor([1.0], stop_gradient=False)
    line = sys._getframe().f_lineno + 3
    y = (
        # A comment, so that the formatter does not join the lines.
        x * x
    )
    assert y._edge.position == (__file__, line)


def test_where_of_a_layers_forward() -> None:
    """The line in the user's class, not the engine's code that calls it or that it calls."""

    class Net(engine.nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.inner = engine.nn.Linear(2, 2)

        def forward(self, x: engine.Tensor) -> engine.Tensor:
            return self.inner(x)

    made = Net()(engine.ones([1, 2]))
    node = made._edge
    assert node.where().endswith("return self.inner(x)")


def test_where_of_a_gradient() -> None:
    """Operators of backward have the line that called it."""
    x = engine.to_tensor([2.0], stop_gradient=False)
    (slope,) = engine.grad(x * x * x, x, create_graph=True)
    line = sys._getframe().f_lineno - 1
    assert edges.end(slope._edge)[0].position == (__file__, line)
