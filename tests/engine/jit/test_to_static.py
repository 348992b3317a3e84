"""Converted functions and layers against the same code run eagerly."""

import numpy as np
import pytest

import engine as paddle
import engine.nn.functional as F
from engine.core.errors import (
    ArgumentError,
    ConversionError,
    DTypeError,
    GradientError,
    ModeError,
    ShapeError,
)
from engine.core.strictness import LeniencyWarning
from engine.jit import to_static
from engine.static import InputSpec


def values_and_gradients(function, *arrays):
    tensors = [paddle.to_tensor(a, stop_gradient=False) for a in arrays]
    out = function(*tensors)
    (out * out).sum().backward()
    return out.numpy(), [t.grad.numpy() for t in tensors]


def same_both_ways(function, *arrays):
    plain, plain_grads = values_and_gradients(function, *arrays)
    static, static_grads = values_and_gradients(to_static(function), *arrays)
    np.testing.assert_allclose(static, plain, rtol=1e-6)
    for a, b in zip(static_grads, plain_grads, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def branch(x):
    if x.sum() > 0:
        y = x * x
    else:
        y = x - 1.0
    return y * 3.0


def loop(x):
    s = x
    while s.sum() < 50.0:
        s = s * x + 1.0
    return s


def early(x):
    if x.max() > 5:
        return x * 2.0
    if x.min() < -5:
        return x * -3.0
    return paddle.tanh(x)


def nested_range(x):
    total = x * 0.0
    for i in range(3):
        if x.sum() > i:
            total = total + x * float(i + 1)
        else:
            total = total - x
    return total


def logic(x):
    if x.sum() > 0 and not (x.max() > 10 or x.min() < -10):
        return x * 4.0
    return x


@pytest.mark.parametrize("function", [branch, loop, early, nested_range, logic], ids=lambda f: f.__name__)
@pytest.mark.parametrize("values", [[1.0, 2.0, 3.0], [2.5, 0.5, 6.0], [4.0, 1.0, -0.5], [11.0, 1.0, 1.0]])
def test_control_flow_gives_eager_values_and_gradients(function, values):
    same_both_ways(function, np.array(values, "float32"))


@pytest.mark.parametrize("function", [branch, early, nested_range, logic], ids=lambda f: f.__name__)
def test_control_flow_with_negative_input(function):
    same_both_ways(function, np.array([-1.0, -2.0, -6.0], "float32"))


class Net(paddle.nn.Layer):
    def __init__(self, drop=0.0):
        super().__init__()
        self.linear = paddle.nn.Linear(4, 3)
        self.norm = paddle.nn.BatchNorm1D(3)
        self.drop = paddle.nn.Dropout(drop)

    def forward(self, x, scale=1.0):
        return self.drop(self.norm(self.linear(x))) * scale


def twins(drop=0.0):
    paddle.seed(7)
    first = Net(drop)
    second = Net(drop)
    second.set_state_dict(first.state_dict())
    return first, to_static(second)


def test_a_layer_trains_alike_and_updates_its_statistics():
    eager, static = twins()
    rng = np.random.default_rng(0)
    for step in range(5):
        x = paddle.to_tensor(rng.standard_normal((6, 4)).astype("float32"))
        for net in (eager, static):
            loss = (net(x) ** 2 * 0.5 + net(x)).mean() if step == 2 else (net(x) * x.sum()).mean()
            loss.backward()
            with paddle.no_grad():
                for p in (p for p in net.parameters() if p.trainable):
                    p.set_value(p - 0.1 * p.grad)
            net.clear_gradients()
        for (name, a), b in zip(eager.state_dict().items(), static.state_dict().values(), strict=True):
            np.testing.assert_allclose(b.numpy(), a.numpy(), rtol=1e-5, atol=1e-6, err_msg=name)


def test_dropout_draws_what_eager_draws():
    eager, static = twins(0.5)
    x = paddle.ones([8, 4])
    paddle.seed(11)
    a = eager(x).numpy()
    paddle.seed(11)
    np.testing.assert_allclose(static(x).numpy(), a, rtol=1e-6)


def test_train_and_eval_have_programs_of_their_own():
    _, net = twins(0.5)
    x = paddle.ones([2, 4])
    net.train()
    net(x)
    net.eval()
    first, second = net(x).numpy(), net(x).numpy()
    np.testing.assert_array_equal(first, second)
    assert len(net.forward.program_cache) == 2


def test_plain_arguments_are_part_of_the_key():
    _, net = twins()
    net.eval()
    x = paddle.ones([2, 4])
    np.testing.assert_allclose(net(x, scale=2.0).numpy(), 2 * net(x).numpy(), rtol=1e-6)
    assert len(net.forward.program_cache) == 2


def test_two_forwards_before_one_backward_keep_their_own_values():
    @to_static
    def f(x, w):
        return paddle.tanh(x * w)

    w = paddle.to_tensor(np.array([0.5, -1.0], "float32"), stop_gradient=False)
    a, b = paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, -1.0])
    (f(a, w) + f(b, w) * 2.0).sum().backward()
    ws = w.numpy().astype("float64")
    x, y = np.array([1.0, 2.0]), np.array([3.0, -1.0])
    expected = x * (1 - np.tanh(x * ws) ** 2) + 2 * y * (1 - np.tanh(y * ws) ** 2)
    np.testing.assert_allclose(w.grad.numpy(), expected, rtol=1e-5)


def test_a_parameter_changed_between_forward_and_backward_is_refused():
    _, net = twins()
    loss = net(paddle.ones([2, 4])).sum()
    net.linear.weight.set_value(net.linear.weight.numpy() * 2)
    with pytest.raises(GradientError, match="changed in place"):
        loss.backward()


def test_input_spec_in_the_decorator_gives_one_program_for_all_batch_sizes():
    @to_static(input_spec=[InputSpec([None, 2], name="x")])
    def f(x):
        return x.sum(axis=1)

    for n in (1, 3, 5):
        np.testing.assert_array_equal(f(paddle.ones([n, 2])).numpy(), np.full(n, 2))
    assert len(f.program_cache) == 1
    assert f.concrete_program.main_program.global_block().var("x").shape == (-1, 2)


def test_nested_input_specs():
    @to_static(
        input_spec=[
            [InputSpec([None, 2], name="a"), InputSpec([2], name="b")],
            {"c": InputSpec([2], name="c")},
        ]
    )
    def f(pair, extra):
        return pair[0] + pair[1] * extra["c"]

    got = f([paddle.ones([1, 2]), paddle.ones([2])], {"c": paddle.full([2], 3.0)})
    np.testing.assert_array_equal(got.numpy(), [[4, 4]])
    assert [v.name for v in f.inputs] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("value", "error", "words"),
    [
        (lambda: paddle.ones([2, 3]), ShapeError, r"'x' has shape \[2, 3\].*\[-1, 2\]"),
        (lambda: paddle.ones([2, 2], "int64"), DTypeError, "int64"),
    ],
)
def test_an_argument_that_does_not_fit_its_spec(value, error, words):
    f = to_static(lambda x: x + 1, input_spec=[InputSpec([None, 2], name="x")])
    with paddle.strict(), pytest.raises(error, match=words):
        f(value())
    with pytest.warns(LeniencyWarning, match=words):
        assert f(value()).shape == value().shape  # as in Paddle, it runs with what it is given


def test_too_few_and_too_many_specs_are_named():
    def f(x, y):
        return x + y

    with pytest.raises(ArgumentError, match="'y'"):
        to_static(f, input_spec=[InputSpec([2])]).concrete_program  # noqa: B018
    with pytest.raises(ArgumentError, match="3 items"):
        to_static(f, input_spec=[InputSpec([2])] * 3).concrete_program  # noqa: B018


def test_code_shows_the_converted_source():
    text = to_static(branch).code
    assert "convert_ifelse" in text
    assert "def branch(x)" in text


def test_operators_carry_the_users_lines():
    f = to_static(branch)
    f(paddle.ones([2]))
    (program,) = [c.main_program for c in f.program_cache]
    lines = {o.position for b in program.blocks for o in b.ops}
    first = branch.__code__.co_firstlineno
    assert (__file__, first + 2) in lines
    assert (__file__, first + 4) in lines


def test_enable_to_static_false_runs_the_code_as_it_is():
    calls = []

    @to_static(full_graph=True)
    def f(x):
        calls.append(1)
        return x * 2.0

    f(paddle.ones([1]))
    f(paddle.ones([1]))
    assert len(calls) == 1
    paddle.jit.enable_to_static(False)
    try:
        f(paddle.ones([1]))
        f(paddle.ones([1]))
    finally:
        paddle.jit.enable_to_static(True)
    assert len(calls) == 3


def test_a_generator_is_refused_with_its_line():
    @to_static(full_graph=True)
    def f(x):
        yield x

    with pytest.raises(ConversionError, match=r"test_to_static\.py:\d+"):
        f(paddle.ones([1]))


def test_rollback_gives_the_layer_its_own_forward_back():
    _, net = twins()
    assert net.forward.rollback().__func__ is Net.forward
    assert net.forward.__func__ is Net.forward


def test_gradients_flow_into_the_inputs_of_a_layer():
    eager, static = twins()
    x = np.random.default_rng(1).standard_normal((3, 4)).astype("float32")
    a, b = (paddle.to_tensor(x, stop_gradient=False) for _ in range(2))
    (eager(a) ** 2).sum().backward()
    (static(b) ** 2).sum().backward()
    np.testing.assert_allclose(b.grad.numpy(), a.grad.numpy(), rtol=1e-4, atol=1e-5)


def test_a_scalar_in_gives_a_scalar_gradient():
    x = paddle.to_tensor(3.0, stop_gradient=False)
    to_static(lambda v: v * v)(x).backward()
    assert x.grad.shape == []
    assert x.grad.item() == 6.0


def test_an_output_that_backward_reads_may_not_be_changed_before_it():
    f = to_static(lambda x: paddle.tanh(x))
    x = paddle.to_tensor([0.5], stop_gradient=False)
    y = f(x)
    y.scale_(3.0)
    with pytest.raises(GradientError, match="changed in place"):
        y.sum().backward()
    y = f(x)
    (y * 1.0).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 1 - np.tanh([0.5]) ** 2, rtol=1e-6)


@pytest.mark.parametrize(
    ("left", "right"), [((3, 1), (3, 4)), ((1, 4), (3, 4)), ((3, 4), (3, 4)), ((4,), (1, 4))]
)
def test_unknown_dimensions_that_turn_out_to_broadcast(left, right):
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal(left).astype("float32"), rng.standard_normal(right).astype("float32")
    specs = [InputSpec([None] * len(left), name="x"), InputSpec([None] * len(right), name="y")]
    plain, plain_grads = values_and_gradients(lambda x, y: x * y + x, a, b)
    static, static_grads = values_and_gradients(to_static(lambda x, y: x * y + x, input_spec=specs), a, b)
    np.testing.assert_allclose(static, plain, rtol=1e-6)
    for one, other in zip(static_grads, plain_grads, strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_a_function_follows_the_mode_of_a_layer_that_it_closes_over():
    net = paddle.nn.Sequential(paddle.nn.Linear(3, 3), paddle.nn.BatchNorm1D(3), paddle.nn.Dropout(0.5))
    called = to_static(lambda x: net(x) * 2.0)
    forwarded = to_static(lambda x: net.forward(x) * 2.0)
    x = paddle.ones([4, 3])
    called(x), forwarded(x)
    net.eval()
    want = (net(x) * 2.0).tolist()
    assert called(x).tolist() == want
    assert forwarded(x).tolist() == want
    net.train()
    called(x)
    assert len(called.program_cache) == 2


def test_freezing_and_unfreezing_in_turns_traces_twice_only():
    _, net = twins()
    x = paddle.to_tensor(np.arange(8, dtype="float32").reshape(2, 4))
    weight = net.linear.weight
    for _ in range(3):
        for frozen in (True, False):
            weight.stop_gradient = frozen
            weight.grad = None
            net(x)[:, 0].sum().backward()
            assert (weight.grad is None) == frozen
    assert len(net.forward.program_cache) == 2


def changed_base(x):
    y = x * 1.0
    view = y[0]
    y[0] = 7.0
    return view


def changed_view(x):
    y = x * 1.0
    view = y.reshape([2, 1])
    view[0] = 7.0
    return y + 1.0


@pytest.mark.parametrize("function", [changed_base, changed_view])
def test_in_place_changes_of_shared_storage_are_refused(function):
    """In eager mode both see it; a Program has no storage to share and must not give the old value."""
    with pytest.raises(ConversionError, match=r"test_to_static.py:\d+: .*shares its storage"):
        to_static(function, full_graph=True)(paddle.ones([2]))


def test_views_of_what_is_not_read_again_may_be_changed():
    def function(x):
        rows = x.reshape([2, 2])
        rows[0] = rows[1] * 2.0
        rows[1] = rows[0] + rows[1]
        return rows.sum(axis=0)

    same_both_ways(lambda x: function(x * 1.0), np.array([1, 2, 3, 4], "float32"))


def test_a_tensor_from_outside_changes_in_place_as_it_does_eagerly():
    outside = paddle.zeros([2])

    def function(x):
        outside.add_(x)
        return outside * 2.0

    static = to_static(function)
    x = paddle.ones([2])
    np.testing.assert_array_equal(static(x).numpy(), [2, 2])
    np.testing.assert_array_equal(static(x).numpy(), [4, 4])
    np.testing.assert_array_equal(outside.numpy(), [2, 2])
    x.stop_gradient = False
    static(x)
    outside.sum().backward()
    np.testing.assert_array_equal(outside.numpy(), [3, 3])
    np.testing.assert_array_equal(x.grad.numpy(), [1, 1])


def test_an_argument_changes_in_place_as_it_does_eagerly():
    @to_static
    def function(x, n):
        for i in range(n):
            if x[i] > 1:
                x[i] = x[i] * 10.0
        return x.sum()

    x = paddle.to_tensor([1.0, 2.0, 3.0])
    assert float(function(x, paddle.to_tensor(2))) == 24.0
    np.testing.assert_array_equal(x.numpy(), [1, 20, 3])
    with pytest.raises(GradientError, match="leaf"):
        function(paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False), paddle.to_tensor(2))


def test_a_parameter_is_not_changed_in_place():
    layer = paddle.nn.Linear(2, 2)

    @to_static
    def function(x):
        layer.weight.add_(x)
        return layer(x)

    with pytest.raises(GradientError, match=r"test_to_static.py:\d+: add_: 'linear_\d+.w_0'"):
        function(paddle.ones([2, 2]))


def test_an_argument_changed_through_a_view_is_refused():
    @to_static(full_graph=True)
    def function(x):
        x.reshape([4])[0] = 5.0
        return x.shape[0]

    with pytest.raises(ConversionError, match="through a view"):
        function(paddle.ones([2, 2]))


class Remembering(paddle.nn.Layer):
    """Assigns a buffer between reads of it."""

    def __init__(self, branch=False):
        super().__init__()
        self.register_buffer("seen", paddle.ones([2]))
        self.branch = branch

    def forward(self, x):
        before = self.seen
        y = x * self.seen
        self.seen = self.seen + x.detach()
        if self.branch:
            if x.sum() > 0:
                self.seen = self.seen * 2.0
            return y * y
        return y * self.seen * x + before


@pytest.mark.parametrize("branch", [False, True])
def test_a_buffer_that_is_assigned_keeps_its_value_for_what_came_before(branch):
    eager, static = Remembering(branch), to_static(Remembering(branch))
    for values in ([1.0, 2.0], [-3.0, 0.5], [2.0, 2.0]):
        found = []
        for net in (eager, static):
            x = paddle.to_tensor(values, stop_gradient=False)
            out = net(x)
            out.sum().backward()
            found.append((out.tolist(), x.grad.tolist(), net.seen.tolist()))
            assert isinstance(net.seen, paddle.Tensor)
        assert found[0] == found[1]


def test_buffers_are_back_after_a_function_that_failed():
    class Failing(Remembering):
        def forward(self, x):
            self.seen = self.seen + x
            raise KeyError("mine")

    net = to_static(Failing())
    with pytest.raises(KeyError):
        net(paddle.ones([2]))
    assert net.seen.tolist() == [1, 1]


def test_a_loop_keeps_only_what_its_gradient_reads():
    @to_static
    def function(x, n):
        collected = []
        for i in range(n):
            x = paddle.tanh(x * (i + 1.0))
            collected.append(x)
        return paddle.stack(collected)

    x = paddle.to_tensor(np.linspace(-1, 1, 4), stop_gradient=False)
    function(x, paddle.to_tensor(5)).sum().backward()
    (training,) = next(iter(function.program_cache)).runner._training.values()
    step = next(line for line in training.forward.source.splitlines() if "step = (" in line)
    assert step.count("None") == 1, "the array that grows is not kept once an iteration"
    eager = paddle.to_tensor(np.linspace(-1, 1, 4), stop_gradient=False)
    function.dygraph_function(eager, 5).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), eager.grad.numpy(), rtol=1e-12)


def test_arrays_are_taken_as_tensors_also_after_tensors():
    function = to_static(lambda x, y: x * 2 + y)
    array = np.ones((2, 3), "float32")
    for x, y in ((paddle.to_tensor(array), paddle.to_tensor(array)), (array, paddle.to_tensor(array))):
        np.testing.assert_array_equal(function(x, y).numpy(), np.full((2, 3), 3))
    assert len(function.program_cache) == 1


def test_an_output_that_depends_on_no_parameter_has_no_gradient():
    layer = paddle.nn.Linear(2, 2)

    @to_static
    def function(x):
        x = x * 2.0
        if x.sum() > 0:
            x = x + 1.0
        return layer(x), x

    for given, wanted in ((paddle.ones([1, 2]), [False, True]), (paddle.ones([1, 2]), [False, False])):
        given.stop_gradient = wanted[1]
        assert [t.stop_gradient for t in function(given)] == wanted
        assert [t.stop_gradient for t in function.dygraph_function(given)] == wanted


def test_a_function_trains_or_predicts() -> None:
    """Dropout and batch norm of a function without a Layer follow its eval() and train()."""
    norm = paddle.nn.BatchNorm1D(2)

    @paddle.jit.to_static
    def function(x):
        return norm(F.dropout(x, 0.5) * 0.0 + 1.0), F.dropout(x * 2.0, 0.5)

    x = paddle.ones([8, 2])
    x.stop_gradient = False
    assert function.eval() is None
    _, kept = function(x)
    np.testing.assert_array_equal(kept.numpy(), np.full((8, 2), 2.0))
    np.testing.assert_array_equal(norm._mean.numpy(), [0.0, 0.0])
    kept.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), np.full((8, 2), 2.0))
    function.train()
    _, dropped = function(x)
    assert set(dropped.numpy().ravel().tolist()) <= {0.0, 4.0}
    np.testing.assert_allclose(norm._mean.numpy(), [0.1, 0.1], rtol=1e-6)


def test_a_method_follows_its_layer() -> None:
    layer = paddle.jit.to_static(paddle.nn.Linear(2, 2))
    with pytest.raises(ModeError, match=r"forward.eval: is a method of Linear; call eval\(\) of the Layer"):
        layer.forward.eval()


def test_an_array_that_begins_in_a_loop():
    @to_static(full_graph=True)
    def function(x):
        rows = paddle.tensor.create_array("float32")
        for i in range(paddle.to_tensor(3)):
            rows.append(x * i)
        return paddle.concat(rows)

    found = function(paddle.ones([1, 2]))
    np.testing.assert_array_equal(found.numpy(), [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])
