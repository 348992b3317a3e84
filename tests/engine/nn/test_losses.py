"""Losses against NumPy in float64: values, gradients by differences, what is ignored, and errors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import engine
from engine import nn
from engine.core.errors import ArgumentError, DTypeError, OutOfRangeError, ShapeError
from engine.core.strictness import strict
from engine.eager.backward import grad
from engine.nn import functional
from engine.program.build.builder import building
from engine.program.graph.program import Program
from engine.tensor import to_tensor

RANDOM = np.random.RandomState(11)
LOGITS = RANDOM.randn(6, 5)
LABELS = np.array([0, 4, 2, 1, 1, 3])
WEIGHT = np.array([0.5, 1.0, 2.0, 0.25, 3.0])
SHARES = np.exp(RANDOM.randn(6, 5)) / np.exp(RANDOM.randn(6, 5)).sum(1, keepdims=True)


def log_softmax(x: np.ndarray) -> np.ndarray:
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def check_gradient(loss: Callable, x: np.ndarray) -> None:
    """First and second derivatives against central differences in float64."""
    tensor = to_tensor(x, stop_gradient=False)
    (first,) = grad(loss(tensor), tensor, create_graph=True)
    step = 1e-5
    around = np.random.RandomState(0).randn(*x.shape)
    second = None
    if not first.stop_gradient:  # else the loss is linear
        (second,) = grad((first * to_tensor(around)).sum(), tensor)
    for index in np.ndindex(*x.shape):
        moved = []
        slopes = []
        for sign in (1, -1):
            shifted = x.copy()
            shifted[index] += sign * step
            other = to_tensor(shifted, stop_gradient=False)
            value = loss(other)
            moved.append(value.item())
            slopes.append((grad(value, other)[0].numpy() * around).sum())
        assert first.numpy()[index] == pytest.approx((moved[0] - moved[1]) / (2 * step), abs=1e-7, rel=1e-5)
        if second is not None:
            assert second.numpy()[index] == pytest.approx(
                (slopes[0] - slopes[1]) / (2 * step), abs=1e-6, rel=1e-4
            )


def test_cross_entropy_by_hand() -> None:
    expected = -log_softmax(LOGITS)[range(6), LABELS]
    x = to_tensor(LOGITS)
    label = to_tensor(LABELS)
    assert functional.cross_entropy(x, label).item() == pytest.approx(expected.mean(), rel=1e-12)
    assert functional.cross_entropy(x, label, reduction="sum").item() == pytest.approx(
        expected.sum(), rel=1e-12
    )
    np.testing.assert_allclose(functional.cross_entropy(x, label, reduction="none").numpy(), expected)
    column = functional.cross_entropy(x, to_tensor(LABELS[:, None]), reduction="none")
    np.testing.assert_allclose(column.numpy(), expected[:, None])
    np.testing.assert_allclose(
        functional.softmax_with_cross_entropy(x, to_tensor(LABELS[:, None])).numpy(), expected[:, None]
    )


def test_cross_entropy_weights_and_ignored() -> None:
    each = -log_softmax(LOGITS)[range(6), LABELS]
    factor = WEIGHT[LABELS] * (LABELS != 1)
    got = functional.cross_entropy(to_tensor(LOGITS), to_tensor(LABELS), to_tensor(WEIGHT), ignore_index=1)
    assert got.item() == pytest.approx((each * factor).sum() / factor.sum(), rel=1e-12)
    got = functional.cross_entropy(to_tensor(LOGITS), to_tensor(LABELS), ignore_index=1)
    assert got.item() == pytest.approx(each[LABELS != 1].mean(), rel=1e-12)


def test_label_smoothing() -> None:
    rows = np.eye(5)[LABELS] * 0.9 + 0.1 / 5
    each = -(rows * log_softmax(LOGITS)).sum(1)
    x, label = to_tensor(LOGITS), to_tensor(LABELS)
    got = functional.cross_entropy(x, label, label_smoothing=0.1, reduction="none")
    np.testing.assert_allclose(got.numpy(), each[:, None])  # smoothing keeps the class axis, as in Paddle
    # A class axis of size 1 and ignored labels, where Paddle 2.6.2 gives an error or counts them.
    got = functional.cross_entropy(x, to_tensor(LABELS[:, None]), label_smoothing=0.1)
    assert got.item() == pytest.approx(each.mean(), rel=1e-12)
    got = functional.cross_entropy(x, label, label_smoothing=0.1, ignore_index=1)
    assert got.item() == pytest.approx(each[LABELS != 1].mean(), rel=1e-12)


def test_smoothing_of_no_classes_is_as_empty() -> None:
    assert functional.label_smooth(to_tensor(np.zeros((3, 0)))).shape == [3, 0]


def test_everything_ignored_is_zero() -> None:
    x = to_tensor(LOGITS, stop_gradient=False)
    label = to_tensor(np.full(6, -100))
    for loss in (
        functional.cross_entropy(x, label),
        functional.cross_entropy(x, label, to_tensor(WEIGHT)),
        functional.nll_loss(x, label),
        functional.cross_entropy(functional.softmax(x), label, use_softmax=False),
    ):
        loss.backward()
        assert loss.item() == 0.0
        assert not x.grad.numpy().any()


@pytest.mark.parametrize(
    "loss",
    [
        lambda x: functional.cross_entropy(x, to_tensor(LABELS)),
        lambda x: functional.cross_entropy(x, to_tensor(LABELS), ignore_index=1),
        lambda x: functional.cross_entropy(x, to_tensor(LABELS), to_tensor(WEIGHT)),
        lambda x: functional.cross_entropy(x, to_tensor(SHARES), soft_label=True),
        lambda x: functional.cross_entropy(x, to_tensor(LABELS), label_smoothing=0.3),
        lambda x: functional.cross_entropy(functional.softmax(x), to_tensor(LABELS), use_softmax=False),
        lambda x: functional.nll_loss(x, to_tensor(LABELS), to_tensor(WEIGHT), ignore_index=1),
        lambda x: functional.nll_loss(x * x, to_tensor(LABELS)),
        lambda x: functional.mse_loss(x, to_tensor(SHARES)),
        lambda x: functional.binary_cross_entropy(functional.sigmoid(x), to_tensor(SHARES)),
        lambda x: functional.binary_cross_entropy_with_logits(x, to_tensor(SHARES)),
        lambda x: functional.binary_cross_entropy_with_logits(
            x, to_tensor(SHARES), pos_weight=to_tensor(WEIGHT)
        ),
    ],
    ids=[
        "hard",
        "ignore",
        "weight",
        "soft",
        "smooth",
        "share",
        "nll",
        "nll2",
        "mse",
        "bce",
        "logits",
        "positive",
    ],
)
def test_gradients_to_second_order(loss: Callable) -> None:
    check_gradient(loss, LOGITS)


def test_binary_cross_entropy_with_positive_weight() -> None:
    # Paddle 2.6.2 weights log(1 + exp(-|x|)) only, which is wrong for x < 0; this is the definition.
    share = 1 / (1 + np.exp(-LOGITS))
    expected = -(WEIGHT * SHARES * np.log(share) + (1 - SHARES) * np.log(1 - share))
    got = functional.binary_cross_entropy_with_logits(
        to_tensor(LOGITS), to_tensor(SHARES), pos_weight=to_tensor(WEIGHT), reduction="none"
    )
    np.testing.assert_allclose(got.numpy(), expected, rtol=1e-10)


def test_extreme_values_stay_finite() -> None:
    far = to_tensor(np.array([[1000.0, -1000.0]], "float32"), stop_gradient=False)
    one = to_tensor(np.array([1]))
    loss = functional.cross_entropy(far, one)
    loss.backward()
    assert loss.item() == 64.0  # as in Paddle 2.6.2, which cuts logits off at 64 below the largest one
    assert far.grad.numpy().tolist() == [[1.0, -1.0]]
    label = to_tensor(np.array([[0.0, 1.0]], "float32"))
    assert functional.binary_cross_entropy_with_logits(far, label, reduction="none").numpy().tolist() == [
        [1000.0, 1000.0]
    ]
    # Logarithms of 0 count as -100.
    zero = to_tensor(np.array([[0.0, 1.0]], "float32"), stop_gradient=False)
    clipped = functional.binary_cross_entropy(
        zero, to_tensor(np.array([[1.0, 0.0]], "float32")), reduction="none"
    )
    assert clipped.numpy().tolist() == [[100.0, 100.0]]
    clipped.sum().backward()
    assert np.isfinite(zero.grad.numpy()).all()
    # A probability of 0 elsewhere does no harm.
    shares = to_tensor(np.array([[0.0, 1.0]]), stop_gradient=False)
    functional.cross_entropy(shares, one, use_softmax=False).backward()
    assert shares.grad.numpy().tolist() == [[0.0, -1.0]]


def test_losses_as_layers() -> None:
    x, label, share = to_tensor(LOGITS), to_tensor(LABELS), to_tensor(SHARES)
    pairs = [
        (
            nn.CrossEntropyLoss(label_smoothing=0.1)(x, label),
            functional.cross_entropy(x, label, label_smoothing=0.1),
        ),
        (nn.NLLLoss(to_tensor(WEIGHT))(x, label), functional.nll_loss(x, label, to_tensor(WEIGHT))),
        (nn.MSELoss("sum")(x, share), functional.mse_loss(x, share, "sum")),
        (nn.L1Loss()(x, share), functional.l1_loss(x, share)),
        (nn.BCEWithLogitsLoss()(x, share), functional.binary_cross_entropy_with_logits(x, share)),
        (nn.BCELoss()(share, share), functional.binary_cross_entropy(share, share)),
    ]
    for layer, function in pairs:
        assert layer.item() == function.item()


def test_errors() -> None:
    x, label = to_tensor(LOGITS), to_tensor(LABELS)
    with pytest.raises(OutOfRangeError, match="label 7 is not a class number: there are 5 classes"):
        functional.cross_entropy(x, to_tensor(np.array([0, 7, 2, 1, 1, 3])))
    with pytest.raises(ShapeError, match=r"input has shape \[6, 5\] and label \[6, 1, 1\]"):
        functional.cross_entropy(x, to_tensor(LABELS[:, None, None]))
    with pytest.raises(ShapeError, match=r"label must have shape \[6, 1\]: got int64\[4, 1\]"):
        functional.cross_entropy(x, to_tensor(LABELS[:4]))
    with pytest.raises(ShapeError, match=r"weight has shape \[3\]: one number a class is \[5\]"):
        functional.cross_entropy(x, label, to_tensor(WEIGHT[:3]))
    with pytest.raises(DTypeError, match="hard labels are class numbers"):
        functional.cross_entropy(x, to_tensor(LABELS.astype("float32")))
    with pytest.raises(ArgumentError, match="reduction 'median'"):
        functional.mse_loss(x, x, "median")
    with pytest.raises(ArgumentError, match="ignore_index=3 is a class number, but soft_label=True"):
        functional.cross_entropy(x, to_tensor(SHARES), soft_label=True, ignore_index=3)
    with pytest.raises(ArgumentError, match="label_smoothing is a share"):
        functional.cross_entropy(x, label, label_smoothing=1.5)
    with pytest.raises(ShapeError, match=r"they must be \[N, C, ...\] and \[N, ...\]"):
        functional.nll_loss(x, to_tensor(np.stack([LABELS, LABELS], 1)[None]))
    with strict(), pytest.raises(ArgumentError, match="only the first 6 labels count"):
        functional.nll_loss(x, to_tensor(np.stack([LABELS, LABELS], 1)))
    with pytest.raises(ShapeError, match="they must have one shape"):
        functional.binary_cross_entropy(x, to_tensor(SHARES[:3]))
    with pytest.raises(OutOfRangeError, match=r"probabilities, 0 to 1: got 0.5 to 2.0 in float32\[2\]"):
        functional.binary_cross_entropy(to_tensor([0.5, 2.0]), to_tensor([0.0, 1.0]))
    loss = nn.CrossEntropyLoss(reduction="all")  # the call refuses it, as in Paddle 2.6.2
    with pytest.raises(ArgumentError, match="cross_entropy: reduction"):
        loss(x, to_tensor(LABELS))
    with pytest.raises(ArgumentError, match="NLLLoss: reduction"):
        nn.NLLLoss(reduction="all")


def test_a_class_that_is_ruled_out_costs_nothing_where_the_label_gives_it_no_share() -> None:
    x = to_tensor(np.array([[0.5, -np.inf, 1.0]]), stop_gradient=False)
    label = to_tensor(np.array([[0.25, 0.0, 0.75]]))
    loss = functional.cross_entropy(x, label, soft_label=True)
    total = np.log(np.exp(0.5) + np.exp(1.0))
    assert loss.item() == pytest.approx(0.25 * (total - 0.5) + 0.75 * (total - 1.0))
    loss.backward()
    shares = np.exp([0.5, -np.inf, 1.0]) / np.exp(total)
    np.testing.assert_allclose(x.grad.numpy()[0], shares - [0.25, 0.0, 0.75])
    hard = functional.cross_entropy(to_tensor(np.array([[0.5, -np.inf, 1.0]])), to_tensor([0]))
    assert hard.item() == pytest.approx(total - 0.5)


COLUMN, ROW = np.full((4, 1), 0.5, "float32"), np.full(4, 0.25, "float32")


@pytest.mark.parametrize("build", [False, True], ids=["eager", "static"])
@pytest.mark.parametrize(
    "name",
    [
        "mse_loss",
        "l1_loss",
        "square_error_cost",
        "binary_cross_entropy",
        "binary_cross_entropy_with_logits",
        "kl_div",
        "sigmoid_focal_loss",
        "smooth_l1_loss",
        "log_loss",
    ],
)
def test_a_column_and_a_row_are_not_broadcast_to_a_square(name: str, build: bool) -> None:
    loss = getattr(functional, name)
    if not build:
        with pytest.raises(ShapeError, match=r"\[4, 1\].*\[4\]"):
            loss(to_tensor(COLUMN), to_tensor(ROW))
        return
    with building(Program()):
        x, y = engine.static.data("x", [4, 1]), engine.static.data("y", [4])
        with pytest.raises(ShapeError, match=r"\[4, 1\].*\[4\]"):
            loss(x, y)


def test_margins_are_not_broadcast_to_a_square() -> None:
    x, y = to_tensor(COLUMN), to_tensor(ROW)
    for values in ((x, y, x), (x, x, y)):
        with pytest.raises(ShapeError, match=r"margin_ranking_loss: both .* \[4\]"):
            functional.margin_ranking_loss(*values)
    with pytest.raises(ShapeError, match=r"gaussian_nll_loss: both .*\[4, 1\].*\[4\]"):
        functional.gaussian_nll_loss(x, y, x)


def test_one_side_is_broadcast() -> None:
    assert functional.mse_loss(to_tensor(COLUMN), to_tensor(0.25)).item() == 0.0625
    assert functional.l1_loss(to_tensor(COLUMN), to_tensor([0.25]), "none").shape == [4, 1]


def test_whole_labels_keep_the_losses_dtype() -> None:
    x, label = to_tensor(COLUMN), to_tensor(np.ones((4, 1), "int64"))
    assert functional.mse_loss(x, label).dtype is engine.float32
    assert functional.margin_ranking_loss(x, x, label).dtype is engine.float32
    for loss in (functional.binary_cross_entropy, functional.binary_cross_entropy_with_logits):
        with pytest.raises(DTypeError, match="int64"):
            loss(x, label)


@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "binary_cross_entropy", "kl_div", "smooth_l1_loss"])
def test_an_empty_batch_has_no_mean(name: str) -> None:
    nothing = to_tensor(np.zeros((0, 3), "float32"))
    with pytest.raises(ShapeError, match=r"got losses of shape \[0, 3\]; skip empty batches"):
        getattr(functional, name)(nothing, nothing)
    assert getattr(functional, name)(nothing, nothing, reduction="sum").item() == 0.0


def test_labels_that_are_no_tensor() -> None:
    for loss in (functional.cross_entropy, functional.softmax_with_cross_entropy):
        with pytest.raises(ArgumentError, match="'label' must be a Tensor: got list; use to_tensor"):
            loss(to_tensor(LOGITS), LABELS.tolist())


def test_small_integers_as_labels_are_numbers_with_a_sign() -> None:
    """200 classes are more than int8 counts; its negative numbers are not classes."""
    logits, labels = to_tensor(np.eye(3, 200, dtype="float32")), np.array([[0], [1], [127]], "int8")
    wanted = functional.cross_entropy(logits, to_tensor(labels.astype("int64")), reduction="none").numpy()
    np.testing.assert_array_equal(
        functional.cross_entropy(logits, to_tensor(labels), reduction="none").numpy(), wanted
    )
    labels[1] = -100  # ignore_index
    losses = functional.cross_entropy(logits, to_tensor(labels), reduction="none").numpy()
    np.testing.assert_array_equal(losses, wanted * [[1], [0], [1]])
    labels[1] = -3
    with pytest.raises(OutOfRangeError, match="label -3 is not a class number: there are 200 classes"):
        functional.cross_entropy(logits, to_tensor(labels))
