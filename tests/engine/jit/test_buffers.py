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


class Changing(paddle.nn.Layer):
    """Its forward assigns two buffers, one of them in a branch and in a loop whose length is a Tensor."""

    def __init__(self):
        super().__init__()
        self.register_buffer("seen", paddle.ones([2]))
        self.register_buffer("count", paddle.zeros([], "int64"))

    def forward(self, x, n):
        y = x * self.seen
        if x.sum() > 0:
            self.seen = self.seen * 2.0
        for i in range(n):
            before = self.seen
            self.seen = self.seen + before * i
            self.count = self.count + 1
        return y * self.seen


def test_branches_and_loops_assign_buffers():
    eager, static = Changing(), paddle.jit.to_static(Changing())
    for values, n in (([1.0, 2.0], 3), ([-3.0, 0.5], 2), ([2.0, 2.0], 0)):
        found = []
        for net in (eager, static):
            x = paddle.to_tensor(values, stop_gradient=False)
            out = net(x, paddle.to_tensor(n))
            out.sum().backward()
            found.append((out.tolist(), x.grad.tolist(), net.seen.tolist(), net.count.item()))
        assert found[0] == found[1]


def test_a_buffer_is_emptied_and_filled():
    class Refilled(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.mask = paddle.to_tensor([2.0])
            self.register_buffer("late", None)

        def forward(self, x):
            self.mask = None
            self.mask = x.mean().reshape([1])
            self.late = x * 2
            return x * self.mask

    net = paddle.jit.to_static(Refilled())
    for values in ([1.0, 3.0], [5.0, 5.0]):
        mean = sum(values) / 2
        assert net(paddle.to_tensor(values)).tolist() == [v * mean for v in values]
        assert net.mask.tolist() == [mean]
        assert net.late.tolist() == [v * 2 for v in values]


def test_attributes_hold_what_the_last_call_stored():
    class Storing(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.linear = paddle.nn.Linear(2, 2)
            self.known = "before"

        def forward(self, x):
            self.hidden = self.linear(x)
            self.known = {"parts": [self.hidden * 2, "text"], "calls": 3}
            if x.sum() > 0:
                self.sign = x * 0 + 1
            else:
                self.sign = x * 0 - 1
            return self.hidden.sum()

    eager = Storing()
    static = Storing()
    static.set_state_dict(eager.state_dict())
    paddle.jit.to_static(static, input_spec=[paddle.static.InputSpec([None, 2])])
    assert static.forward.concrete_program
    assert static.known == "before"
    assert not hasattr(static, "hidden")
    for values in ([[1.0, 2.0]], [[-1.0, 0.5], [-2.0, 0.0]]):
        found = []
        for net in (eager, static):
            net(paddle.to_tensor(values))
            net.clear_gradients()
            net.hidden.sum().backward()
            parts = net.known["parts"]
            grad = net.linear.weight.grad.tolist()
            found.append((net.hidden.tolist(), parts[0].tolist(), parts[1], net.sign.tolist(), grad))
        assert found[0] == found[1]


def test_hooks_of_layers_inside_are_converted():
    class Hooked(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.linear = paddle.nn.Linear(2, 2)
            self.linear.weight.set_value(paddle.eye(2))
            self.linear.register_forward_pre_hook(lambda layer, inputs: (inputs[0] * 2,))
            self.linear.register_forward_post_hook(
                lambda layer, inputs, out: out + 1 if out.sum() > 0 else out * 10
            )

        def forward(self, x):
            return self.linear(x)

    net = paddle.jit.to_static(Hooked())
    assert net(paddle.to_tensor([1.0, 2.0])).tolist() == [3.0, 5.0]
    assert net(paddle.to_tensor([-1.0, -2.0])).tolist() == [-20.0, -40.0]
    (hook,) = net.linear._forward_post_hooks.values()
    assert hook.__code__.co_filename == __file__


def test_a_buffer_that_was_replaced_is_the_one_that_is_saved(tmp_path):
    spec = [paddle.static.InputSpec([None, 1], "float32")]
    layer = paddle.jit.to_static(Scaled(), input_spec=spec)
    x = paddle.ones([2, 1])
    layer(x)
    layer.factor = paddle.full([1], 7.0)
    assert layer(x).tolist() == [[7.0], [7.0]]
    paddle.jit.save(layer, str(tmp_path / "net"))
    assert paddle.jit.load(str(tmp_path / "net"))(x).tolist() == [[7.0], [7.0]]
