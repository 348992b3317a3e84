"""Operators, promotion, indexing and in-place changes, against NumPy and hand values."""

import copy
import pickle
import sys

import numpy as np
import pytest

import engine as paddle
from engine import profiler
from engine.core.errors import ArgumentError, DTypeError, GradientError, OutOfRangeError, ShapeError
from engine.eager import mode


def tensor(values, dtype=None, grad=False):
    return paddle.to_tensor(np.array(values, dtype or "float32"), stop_gradient=not grad)


A = np.array([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]], "float32")


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x + 2,
        lambda x: 2 + x,
        lambda x: x - 1.5,
        lambda x: 1.5 - x,
        lambda x: x * 3,
        lambda x: 3 * x,
        lambda x: 2.0 / x,
        lambda x: x**2,
        lambda x: x % 2,
        lambda x: -x,
        lambda x: abs(x),
        lambda x: x // 2,
        lambda x: x + x,
        lambda x: x * x - x,
        lambda x: x > 1,
        lambda x: x <= 3,
        lambda x: x == 4,
        lambda x: x != 4,
        lambda x: 2.0**x,
    ],
)
def test_operators_equal_numpy(f):
    np.testing.assert_allclose(f(paddle.to_tensor(A)).numpy(), f(A), rtol=1e-6)


def test_division_by_a_number_multiplies_by_its_reciprocal_as_paddle_does():
    x = tensor([10.0, 7.0])
    np.testing.assert_array_equal((x / 3).numpy(), np.array([10, 7], "float32") * np.float32(1 / 3))


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        ("float32", "float64", "float64"),
        ("int32", "float32", "float32"),
        ("int64", "float32", "float32"),
        ("int32", "int64", "int64"),
        ("bool", "int64", "int64"),
        ("bool", "float32", "float32"),
        ("float16", "float32", "float32"),
        ("uint8", "int8", "int16"),
    ],
)
def test_promotion(x, y, expected):
    for a, b in ((x, y), (y, x)):
        assert (tensor([1], a) + tensor([1], b)).dtype == expected


def test_numbers_keep_the_dtype_unless_a_fraction_would_be_lost():
    assert (tensor([1], "int64") + 1).dtype == "int64"
    assert (tensor([1], "int64") + 1.5).numpy() == [2.5]
    assert (tensor([1], "float64") * 2).dtype == "float64"
    assert (tensor([7], "int64") / 2).numpy() == [3.5]
    assert (tensor([True], "bool") + 1).dtype == "int64"


@pytest.mark.parametrize(
    "index",
    [
        0,
        -1,
        slice(None),
        slice(0, 1),
        (0, 1),
        (slice(None), -1),
        (Ellipsis, 0),
        (None, 1),
        (slice(None), None),
        (slice(None, None, 2),),
        (1, slice(0, 2)),
        (slice(None), slice(None, None, 2)),
        np.array([1, 0]),
        [1, 1, 0],
        A > 0,
        (np.array([0, 1]), np.array([2, 0])),
        (slice(None), np.array([2, 0])),
        (0, np.array([True, False, True])),
    ],
    ids=repr,
)
def test_indexing_equals_numpy(index):
    def tensors(value):
        return paddle.to_tensor(value) if isinstance(value, np.ndarray) else value

    ours = tuple(tensors(i) for i in index) if isinstance(index, tuple) else tensors(index)
    x = paddle.to_tensor(A, stop_gradient=False)
    got = x[ours]
    np.testing.assert_array_equal(got.numpy(), A[index])
    got.sum().backward()
    expected = np.zeros_like(A)
    np.add.at(expected, index, 1)
    np.testing.assert_array_equal(x.grad.numpy(), expected)


@pytest.mark.parametrize("index", [5, (0, 3), -3, [5], [-3], (0, [1, 3])])
def test_an_index_outside_is_refused(index):
    with pytest.raises(OutOfRangeError, match=r"getitem: .*out of (range|bounds)"):
        paddle.to_tensor(A)[index]


def test_setting_items_lets_gradients_through():
    x = tensor([[1, 2], [3, 4]], grad=True)
    v = tensor([5.0], grad=True)
    y = x * 2.0
    y[0] = v
    np.testing.assert_array_equal(y.numpy(), [[5, 5], [6, 8]])
    (y * y).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [[0, 0], [24, 32]])
    np.testing.assert_array_equal(v.grad.numpy(), [20])


def test_a_view_shares_its_storage_and_a_copy_does_not():
    x = tensor([[1, 2], [3, 4]])
    view, copied = x.reshape([4]), x.numpy()
    x[0, 0] = 9.0
    assert view.numpy()[0] == 9
    assert copied[0, 0] == 1
    view.zero_()
    assert x.numpy().sum() == 0


def test_a_leaf_that_backward_needs_is_not_changed_in_place():
    x = tensor([1.0], grad=True)
    with pytest.raises(GradientError, match="leaf"):
        x.add_(tensor([1.0]))
    with paddle.no_grad():
        x.add_(tensor([1.0]))
    assert x.numpy() == [2]


def test_reductions_equal_numpy():
    x = paddle.to_tensor(A)
    np.testing.assert_allclose(x.sum(axis=1).numpy(), A.sum(1))
    np.testing.assert_allclose(x.mean(axis=[0, 1], keepdim=True).numpy(), A.mean(keepdims=True))
    np.testing.assert_allclose(x.max(axis=0).numpy(), A.max(0))
    np.testing.assert_allclose(x.std(axis=1).numpy(), A.std(1, ddof=1), rtol=1e-6)
    assert x.argmax().item() == A.argmax()
    np.testing.assert_array_equal(x.argmax(axis=-1).numpy(), A.argmax(-1))
    assert tensor([1, 2], "int32").sum().dtype == "int64"
    assert bool((x > -10).all())


def test_topk_and_split_and_stack():
    values, places = paddle.topk(paddle.to_tensor(A), 2)
    np.testing.assert_array_equal(values.numpy(), [[3, 1], [5, 4]])
    np.testing.assert_array_equal(places.numpy(), [[2, 0], [1, 0]])
    parts = paddle.split(paddle.to_tensor(A), [1, -1], axis=1)
    assert [p.shape for p in parts] == [[2, 1], [2, 2]]
    x = tensor([1.0, 2.0], grad=True)
    a, b = paddle.unbind(x)
    paddle.stack([a, b * 3.0, a]).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [2, 3])


def test_truth_and_numbers():
    assert bool(tensor([1.0]))
    assert float(tensor(2.5)) == 2.5
    assert [10, 20][tensor(1, "int64")] == 20
    with pytest.raises(ArgumentError, match="ambiguous"):
        bool(tensor([1, 2]))
    with pytest.raises(ArgumentError, match="one element"):
        tensor([1, 2]).item()
    with pytest.raises(TypeError):
        len(tensor(1.0))
    assert len(list(paddle.to_tensor(A))) == 2


def test_copies_and_transport_between_processes():
    x = tensor([1.0, 2.0], grad=True)
    y = copy.deepcopy(x)
    assert not y.stop_gradient
    assert y.numpy().tolist() == [1, 2]
    z = pickle.loads(pickle.dumps(x))
    assert z.numpy().tolist() == [1, 2]
    assert not z.stop_gradient
    made = copy.deepcopy(x * 2)
    assert made.is_leaf
    assert not made.stop_gradient


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: tensor([1, 2]) + tensor([1, 2, 3]), ShapeError, "add"),
        (lambda: paddle.matmul(tensor(A), tensor(A)), ShapeError, "inner dimensions are 3 and 2"),
        (lambda: paddle.reshape(tensor(A), [4]), ShapeError, "6 elements"),
        (lambda: paddle.concat([tensor([[1]]), tensor([1])]), ShapeError, "concat"),
        (lambda: paddle.transpose(tensor(A), [0, 0]), ArgumentError, "permutation"),
        (lambda: paddle.sum(tensor(A), axis=2), OutOfRangeError, "axis 2"),
        (lambda: paddle.to_tensor("text"), DTypeError, "can't be held by a tensor"),
        (lambda: paddle.to_tensor([[1], [1, 2]]), ArgumentError, "equal length"),
        (lambda: tensor([1, 2]).set_value(np.zeros(3)), ShapeError, "set_value"),
        (lambda: tensor([1, 2]) + "x", TypeError, "the other operand is str"),
        (lambda: paddle.zeros([-1]), ArgumentError, "negative"),
    ],
)
def test_errors_name_the_invalid_value(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_numpy_input_of_every_kind_is_copied():
    base = np.arange(6, dtype="float32").reshape(2, 3)
    for array in (
        base,
        base.T,
        base[:, ::2],
        np.asfortranarray(base),
        base.byteswap().view(base.dtype.newbyteorder()),
    ):
        made = paddle.to_tensor(array)
        np.testing.assert_array_equal(made.numpy(), array)
    base.flags.writeable = False
    made = paddle.to_tensor(base)
    made.zero_()
    assert base.sum() == 15


def test_edge_cases_agree_with_paddle():
    """Recorded from 2.6.2: clip's gradient at its limits, full of an integer, var of one element."""
    x = paddle.to_tensor([1.0, 2.0, 2.5, 3.0, 4.0], stop_gradient=False)
    paddle.clip(x, 2.0, 3.0).sum().backward()
    assert x.grad.tolist() == [0, 0, 1, 0, 0]
    assert paddle.full([2], 1).dtype is paddle.float32
    assert paddle.full([2], True).dtype is paddle.float32
    assert paddle.ones([1, 2]).var(axis=0).tolist() == [0, 0]


@pytest.mark.parametrize("f", [lambda x, y: x + y, lambda x, y: x @ y, lambda x, y: x / y])
def test_an_operator_is_recorded_with_the_users_line(f):
    x, y = tensor(A[:, :2], grad=True), tensor(A[:, :2])
    for _ in range(2):  # written at its first call, called at the second
        file, line = f(x, y).grad_fn.position
        assert (file, line) == (f.__code__.co_filename, f.__code__.co_firstlineno)
    with paddle.no_grad():
        assert f(x, y).grad_fn is None
    assert f(y, y).grad_fn is None


def test_operators_of_two_tensors_are_seen_by_watchers_and_by_a_profiler(capsys):
    x, y = tensor([1.0]), tensor([2.0])
    x + y
    seen = []

    def watcher(opdef, inputs, attrs, results):
        seen.append(opdef.name)

    mode.watch(watcher)
    try:
        x + y
    finally:
        mode.unwatch(watcher)
    x + y
    assert seen == ["elementwise_add"]
    with profiler.Profiler(on_trace_ready=lambda _: None) as recorded:
        x + y
    recorded.summary()
    assert "elementwise_add" in capsys.readouterr().out
    x + y


def _called(run):
    """The names of the Python functions that are called."""
    names = []
    sys.setprofile(lambda frame, event, _: names.append(frame.f_code.co_name) if event == "call" else None)
    try:
        run()
    finally:
        sys.setprofile(None)
    return names


def test_operators_of_parameters_and_of_subclasses():
    class Own(paddle.Tensor):
        pass

    parameter = paddle.create_parameter([2], "float32")
    own = Own(np.ones(2, "float32"))
    wanted = parameter.numpy() + 1
    np.testing.assert_array_equal((parameter + own).numpy(), wanted)
    np.testing.assert_array_equal((own + parameter).numpy(), wanted)
    x = tensor([2.0, 3.0])
    assert "otherwise" not in _called(lambda: (x * parameter, parameter + x, parameter / parameter))
    (parameter * own).sum().backward()
    np.testing.assert_array_equal(parameter.grad.numpy(), [1, 1])
