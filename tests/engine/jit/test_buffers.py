"""Buffers of Layers that are replaced between calls of a converted function."""

from __future__ import annotations

import engine as paddle


class Scaled(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("factor", paddle.ones([1]))

    def forward(self, x):
        return x * self.factor


def test_a_replaced_buffer_is_read():
    layer = paddle.jit.to_static(Scaled())
    x = paddle.ones([1])
    assert layer(x).tolist() == [1.0]
    layer.factor = paddle.full([1], 5.0)
    assert layer(x).tolist() == [5.0]
    layer.factor = paddle.full([2], 3.0)  # of another shape: a Program of its own
    assert layer(x).tolist() == [3.0, 3.0]
    assert len(layer.forward.program_cache) == 2


def test_gradients_flow_into_what_a_buffer_was_computed_from():
    layer = paddle.jit.to_static(Scaled())
    w = paddle.to_tensor([2.0], stop_gradient=False)
    for n in (1.0, 2.0):
        layer.factor = w * n
        layer(paddle.ones([1])).sum().backward()
    assert w.grad.tolist() == [3.0]
