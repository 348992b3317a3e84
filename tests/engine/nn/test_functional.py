"""What the recorded cases don't show: randomness, running statistics, forms of arguments, errors."""

from __future__ import annotations

import numpy as np
import pytest

from engine import nn
from engine.core.errors import ArgumentError, DTypeError, OutOfRangeError, ShapeError
from engine.core.random.generator import default_generator
from engine.nn import functional
from engine.tensor import to_tensor


def ones(*shape: int):
    return to_tensor(np.ones(shape, "float32"), stop_gradient=False)


def test_dropout_drops_its_share_and_scales() -> None:
    default_generator().manual_seed(1)
    x = ones(200, 200)
    out = functional.dropout(x, 0.25)
    kept = out.numpy() != 0
    assert kept.mean() == pytest.approx(0.75, abs=0.01)
    np.testing.assert_allclose(out.numpy()[kept], 1 / 0.75, rtol=1e-6)
    out.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), out.numpy())
    down = functional.dropout(x, 0.25, mode="downscale_in_infer").numpy()
    assert set(np.unique(down)) == {0.0, 1.0}
    assert (down != 0).mean() == pytest.approx(0.75, abs=0.01)


def test_dropout_of_whole_channels_none_and_all() -> None:
    default_generator().manual_seed(1)
    out = functional.dropout(ones(50, 40, 3), 0.5, axis=[0, 1]).numpy()
    assert (out == out[:, :, :1]).all()
    assert 0.4 < (out[:, :, 0] == 0).mean() < 0.6
    x = ones(3)
    assert functional.dropout(x, 0) is x
    assert functional.dropout(x, 1.0).numpy().tolist() == [0.0, 0.0, 0.0]


def test_dropout_follows_training_mode_and_seed() -> None:
    layer = nn.Dropout(0.5)
    default_generator().manual_seed(3)
    first = layer(ones(100)).numpy()
    default_generator().manual_seed(3)
    np.testing.assert_array_equal(layer(ones(100)).numpy(), first)
    layer.eval()
    assert (layer(ones(100)).numpy() == 1).all()


def test_dropout_errors() -> None:
    with pytest.raises(ArgumentError, match="0 to 1: got"):
        functional.dropout(ones(2), 1.5)
    with pytest.raises(ArgumentError, match="mode 'train'"):
        functional.dropout(ones(2), 0.5, mode="train")
    with pytest.raises(ArgumentError, match="axis 4 is out of range for 1 dimensions"):
        functional.dropout(ones(2), 0.5, axis=4)
    with pytest.raises(DTypeError, match="p is a number"):
        functional.dropout(ones(2), "half")


def test_batch_norm_keeps_running_statistics() -> None:
    x = np.random.RandomState(0).randn(8, 3, 4, 4).astype("float32") * 2 + 1
    layer = nn.BatchNorm2D(3, momentum=0.8)
    out = layer(to_tensor(x)).numpy()
    mean, variance = x.mean((0, 2, 3)), x.var((0, 2, 3))
    np.testing.assert_allclose(out.mean((0, 2, 3)), 0, atol=1e-6)
    np.testing.assert_allclose(out.var((0, 2, 3)), variance / (variance + 1e-5), rtol=1e-5)
    np.testing.assert_allclose(layer._mean.numpy(), 0.2 * mean, rtol=1e-5)
    np.testing.assert_allclose(layer._variance.numpy(), 0.8 + 0.2 * variance, rtol=1e-5)
    layer.eval()
    before = layer._mean.numpy()
    out = layer(to_tensor(x)).numpy()
    expected = (x - before[:, None, None]) / np.sqrt(layer._variance.numpy() + 1e-5)[:, None, None]
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(layer._mean.numpy(), before)


def test_batch_norm_ranks_and_formats() -> None:
    x = np.random.RandomState(0).randn(6, 3, 5).astype("float32")
    first = nn.BatchNorm1D(3)(to_tensor(x)).numpy()
    last = nn.BatchNorm1D(3, data_format="NLC")(to_tensor(x.transpose(0, 2, 1))).numpy()
    np.testing.assert_allclose(first, last.transpose(0, 2, 1), atol=1e-6)
    assert nn.BatchNorm1D(3)(to_tensor(x[:, :, 0])).shape == [6, 3]
    plain = nn.BatchNorm1D(3, weight_attr=False, bias_attr=False)
    assert [n for n, _ in plain.named_parameters()] == ["_mean", "_variance"]
    np.testing.assert_allclose(plain(to_tensor(x)).numpy(), first, atol=1e-6)
    with pytest.raises(ShapeError, match=r"BatchNorm1D: input has shape .* 2 or 3 dimensions"):
        nn.BatchNorm1D(3)(ones(2, 3, 4, 4))
    with pytest.raises(ShapeError, match="make num_features of the layer 3"):
        nn.BatchNorm2D(4)(ones(2, 3, 4, 4))
    with pytest.raises(ArgumentError, match="data_format 'NCL'"):
        nn.BatchNorm2D(3, data_format="NCL")


def test_old_batch_norm_with_activation() -> None:
    x = to_tensor(np.random.RandomState(0).randn(6, 3).astype("float32"))
    layer = nn.BatchNorm(3, act="relu", moving_mean_name="bn_mean", moving_variance_name="bn_variance")
    assert [p.name for p in layer.parameters()][2:] == ["bn_mean", "bn_variance"]
    np.testing.assert_array_equal(layer(x).numpy(), np.maximum(nn.BatchNorm1D(3)(x).numpy(), 0))
    with pytest.raises(ArgumentError, match="act 'swoosh'"):
        nn.BatchNorm(3, act="swoosh")


def test_layer_norm_by_hand() -> None:
    x = np.random.RandomState(0).randn(2, 3, 4)
    layer = nn.LayerNorm([3, 4], weight_attr=False, bias_attr=False)
    centred = x - x.mean((1, 2), keepdims=True)
    expected = centred / np.sqrt((centred**2).mean((1, 2), keepdims=True) + 1e-5)
    np.testing.assert_allclose(layer(to_tensor(x)).numpy(), expected, rtol=1e-10)
    with pytest.raises(ShapeError, match=r"must end in normalized_shape \[3, 4\]"):
        layer(ones(2, 3, 5))


def test_embedding_and_one_hot() -> None:
    weight = to_tensor(np.arange(8.0).reshape(4, 2), stop_gradient=False)
    rows = to_tensor(np.array([[1, 3], [3, 0]]))
    out = functional.embedding(rows, weight, padding_idx=-1)
    assert out.numpy().tolist() == [[[2, 3], [0, 0]], [[0, 0], [0, 1]]]
    out.sum().backward()
    assert weight.grad.numpy().tolist() == [[1, 1], [1, 1], [0, 0], [0, 0]]
    layer = nn.Embedding(4, 2, padding_idx=1)
    assert layer.weight.numpy()[1].tolist() == [0.0, 0.0]
    assert layer(rows).numpy()[0, 0].tolist() == [0.0, 0.0]
    with pytest.raises(OutOfRangeError, match="row 4 is out of range: weight has 4 rows"):
        layer(to_tensor(np.array([4])))
    with pytest.raises(DTypeError, match="x holds row numbers: got float32"):
        layer(ones(1))
    with pytest.raises(ArgumentError, match="padding_idx 9"):
        nn.Embedding(4, 2, padding_idx=9)
    assert functional.one_hot(to_tensor(np.array([2, 0])), 3).numpy().tolist() == [[0, 0, 1], [1, 0, 0]]
    with pytest.raises(OutOfRangeError, match="class 3 is out of range"):
        functional.one_hot(to_tensor(np.array([3])), 3)


def test_pad_layer_and_gradient_order() -> None:
    x = ones(1, 1, 2, 2)
    out = nn.Pad2D([1, 0, 0, 2], value=5.0)(x)
    assert out.numpy()[0, 0].tolist() == [[5, 1, 1], [5, 1, 1], [5, 5, 5], [5, 5, 5]]
    (out * out).sum().backward()
    assert x.grad.numpy()[0, 0].tolist() == [[2, 2], [2, 2]]
    with pytest.raises(ShapeError, match="a mirror image has at most 1 elements; pad less"):
        functional.pad(x, [1, 1, 2, 1], mode="reflect")
    with pytest.raises(ArgumentError, match=r"give 4 \(before and after each dimension of the image"):
        functional.pad(x, [1, 1])


@pytest.mark.parametrize(
    ("padding", "message"),
    [
        ("full", "not one of 'SAME', 'VALID'"),
        ([1, 2, 3], "no known form"),
        (-1, "must not be negative"),
        ([[1, 0], [0, 0], [1, 1], [1, 1]], "batch and channel can't be padded"),
        (1.5, "no known form"),
        ([[0, 0], [0, 0], [1], [1, 1]], "is 4 pairs"),
    ],
)
def test_padding_forms_refused(padding: object, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        nn.Conv2D(1, 1, 3, padding=padding)
    with pytest.raises(ArgumentError, match=message):
        functional.max_pool2d(ones(1, 1, 5, 5), 2, padding=padding)


def test_window_arguments_refused() -> None:
    with pytest.raises(ArgumentError, match="Conv2D: stride must be 1 or more: got 0"):
        nn.Conv2D(1, 1, 3, stride=0)
    with pytest.raises(ArgumentError, match="kernel_size is an integer or 2 of them"):
        nn.Conv2D(1, 1, (3, 3, 3))
    with pytest.raises(ArgumentError, match="must divide into groups=2"):
        nn.Conv2D(3, 4, 3, groups=2)
    with pytest.raises(ShapeError, match=r"dimensions must be 1 or more: got shape \[3, 0, 3, 3\]"):
        nn.Conv2D(0, 3, 3)
    with pytest.raises(ArgumentError, match="ceil_mode must be False"):
        functional.max_pool2d(ones(1, 1, 5, 5), 2, padding="VALID", ceil_mode=True)
    with pytest.raises(ArgumentError, match="data_format 'NC'"):
        functional.conv2d(ones(1, 1, 5, 5), ones(1, 1, 3, 3), data_format="NC")
    with pytest.raises(ArgumentError, match="only bias_attr may be False"):
        nn.Conv2D(1, 1, 3, weight_attr=False)
    with pytest.raises(ArgumentError, match="data_format must be 'NCHW': got 'NHWC'"):
        functional.max_pool2d(ones(1, 4, 4, 1), 2, return_mask=True, data_format="NHWC")


def test_softmax_in_another_dtype() -> None:
    assert functional.softmax(ones(2), dtype="float64").dtype == "float64"
    assert functional.log_softmax(ones(2), dtype="float64").dtype == "float64"


@pytest.mark.parametrize(
    "layer",
    [nn.BatchNorm2D(3), nn.LayerNorm([4, 4]), nn.GroupNorm(3, 3), nn.InstanceNorm2D(3)],
    ids=lambda layer: type(layer).__name__,
)
def test_norms_do_not_widen_what_their_weights_do_not_have(layer: nn.Layer) -> None:
    for mode in (layer.train, layer.eval):
        mode()
        with pytest.raises(DTypeError, match=r"_norm: inputs have different dtypes: x=float64\[2, 3, 4, 4\]"):
            layer(to_tensor(np.ones((2, 3, 4, 4))))


def test_batch_norm_does_not_broadcast_its_statistics() -> None:
    x, three, one = ones(2, 3, 4), ones(3), ones(1)
    for training in (False, True):
        for parts in ((one, three, three, three), (three, one, three, three), (three, three, three, one)):
            with pytest.raises(ShapeError, match=r"needs shape \[3\]: got float32\[1\]"):
                functional.batch_norm(x, *[p.detach() for p in parts], training=training)
