"""What the engine gives where Paddle 2.6.2 has a fault, by NumPy; the other answers: deviations_faults.py."""

import numpy as np
import pytest

import engine as paddle
import engine.nn.functional as F
from tests.engine.fresh_static import fresh_static

X = np.cos(np.arange(24.0) * 1.7).reshape(2, 3, 4).astype("float32")
M = np.arange(12, dtype="float32").reshape(3, 4)


def leaf(values):
    return paddle.to_tensor(values, stop_gradient=False)


def test_instance_norm_of_channels_last_normalizes_along_the_length():
    centered = X - X.mean(1, keepdims=True)
    want = centered / np.sqrt(X.var(1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(F.instance_norm(leaf(X), data_format="NLC").numpy(), want, rtol=1e-4)


@pytest.mark.parametrize("offset", [-1, 0, 1])
@pytest.mark.parametrize("axes", [(0, 1), (1, 0), (2, 0), (0, 2), (2, 1)])
def test_trace_is_that_of_numpy_for_any_order_of_axes(offset, axes):
    got = paddle.trace(leaf(X), offset, *axes).numpy()
    np.testing.assert_allclose(got, np.trace(X, offset, *axes), rtol=1e-5)


def test_kthvalue_keeps_the_dimension_in_a_program():
    with fresh_static():
        x = paddle.static.data("x", [3, 4])
        found = paddle.kthvalue(x, 2, keepdim=True)
        values, places = paddle.static.Executor().run(feed={"x": M}, fetch_list=list(found))
    assert values.tolist() == [[1.0], [5.0], [9.0]]
    assert places.tolist() == [[1], [1], [1]]


def test_fill_diagonal_tensor_has_a_gradient_of_the_diagonal():
    x, y = leaf(M), leaf(np.ones(3, "float32"))
    (paddle.Tensor.fill_diagonal_tensor(x * 1, y) * leaf(M)).sum().backward()
    assert y.grad.tolist() == [0.0, 5.0, 10.0]
    assert x.grad.numpy()[[0, 1, 2], [0, 1, 2]].tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("kept", ["weight", "bias"])
def test_one_parameter_of_a_batch_norm_has_the_gradient_that_it_has_with_the_other(kept):
    def gradient(**attrs):
        layer = paddle.nn.BatchNorm1D(4, **attrs)
        (layer(leaf(M * M)) * leaf(M)).sum().backward()
        return getattr(layer, kept).grad.numpy()

    other = "bias_attr" if kept == "weight" else "weight_attr"
    np.testing.assert_allclose(gradient(**{other: False}), gradient(), rtol=1e-5)


def test_pinv_of_a_singular_matrix_is_that_of_numpy():
    a = np.outer([1, 2, 3], [1, 2, 3]).astype("float32")
    want = np.linalg.pinv(a.astype("float64"))
    for hermitian in (False, True):
        got = paddle.linalg.pinv(leaf(a), hermitian=hermitian).numpy()
        np.testing.assert_allclose(got, want, rtol=1e-4)


def test_weights_of_bincount_have_a_gradient_and_are_summed_exactly():
    w = leaf(np.array([0.5, 1.5, 2.5], "float32"))
    (paddle.bincount(paddle.to_tensor([0, 1, 1]), w) * paddle.to_tensor([3.0, 5.0])).sum().backward()
    assert w.grad.tolist() == [3.0, 5.0, 5.0]
    large = paddle.to_tensor([16777216.0, 1.0, 1.0])
    assert paddle.bincount(paddle.to_tensor([0, 0, 0]), large).tolist() == [16777218.0]


def test_the_mean_of_a_cross_entropy_counts_no_ignored_labels_in_a_program():
    label = np.array([0, -100, 2])
    with fresh_static():
        x, given = paddle.static.data("x", [3, 4]), paddle.static.data("label", [3], "int64")
        loss = F.cross_entropy(x, given)
        feed = {"x": M, "label": label}
        (value,) = paddle.static.Executor().run(feed=feed, fetch_list=[loss])
    logarithms = M - np.log(np.exp(M).sum(1, keepdims=True))
    want = -(logarithms[0, 0] + logarithms[2, 2]) / 2
    assert value == pytest.approx(want, rel=1e-5)
    assert F.cross_entropy(leaf(M), paddle.to_tensor(label)).item() == pytest.approx(want, rel=1e-5)


def test_slices_that_end_before_they_start_are_empty():
    assert leaf(M)[2:1].shape == [0, 4]
    assert paddle.slice(leaf(M), [0], [2], [1]).shape == [0, 4]


@pytest.mark.filterwarnings("ignore::engine.core.strictness.LeniencyWarning")
@pytest.mark.parametrize(
    ("form", "shape"),
    [("squeeze_(0)", [2, 3]), ("reshape_([3, 2])", [3, 2]), ("unsqueeze_(0)", [1, 1, 2, 3])],
)
def test_forms_in_place_change_the_shape_in_converted_functions_as_eagerly(form, shape, tmp_path):
    # Paddle 2.6.2 converts them to the forms without _: there y keeps [1, 2, 3].
    source = tmp_path / "changed.py"
    source.write_text(f"def changed(x):\n    y = x * 1\n    z = y.{form}\n    return y, z, y * 2\n")
    names = {}
    exec(compile(source.read_text(), str(source), "exec"), names)
    changed = names["changed"]
    x = paddle.arange(6.0).reshape([1, 2, 3])
    for function in (changed, paddle.jit.to_static(changed)):
        y, z, twice = function(x)
        assert y.shape == z.shape == twice.shape == shape
        assert twice.flatten().tolist() == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]


def test_a_tensor_made_in_a_converted_function_has_a_gradient():
    @paddle.jit.to_static
    def loss(x):
        w = paddle.to_tensor([2.0], stop_gradient=False)
        y = (x * w).sum()
        return y, paddle.grad(y, w)[0]

    y, gradient = loss(paddle.ones([3]))
    assert y.item() == 6.0  # as in Paddle 2.6.2
    assert gradient.tolist() == [3.0]
