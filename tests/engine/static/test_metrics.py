"""Accuracy, auc and print_tensor in a Program, the averages of parameters."""

import numpy as np
import pytest

import engine as paddle
from engine import optimizer
from engine.core.errors import ArgumentError, DTypeError, ProgramError, ShapeError, UnreadyError

RANDOM = np.random.RandomState(0)


def test_accuracy_counts_the_classes_found(static):
    scores, labels = static.data("s", [None, 3]), static.data("l", [None, 1], "int64")
    block = static.default_main_program().current_block()
    correct, total = (block.create_var(name=n, shape=[], dtype="int32") for n in ("right", "all"))
    first = static.accuracy(scores, labels)
    second = static.accuracy(scores, labels, k=2, correct=correct, total=total)
    feed = {
        "s": np.array([[0.1, 0.2, 0.7], [0.5, 0.3, 0.2], [0.6, 0.3, 0.1]], "float32"),
        "l": np.array([[2], [1], [2]]),
    }
    got = static.Executor().run(feed=feed, fetch_list=[first, second, correct, total])
    np.testing.assert_allclose([float(g) for g in got], [1 / 3, 2 / 3, 2, 3], rtol=1e-6)


def area_by_pairs(chances, labels):
    """The share of pairs of a positive and a negative sample in the right order."""
    positive, negative = chances[labels == 1], chances[labels == 0]
    right = [(p > n) + 0.5 * (p == n) for p in positive for n in negative]
    return float(np.mean(right))


def test_auc_over_all_runs_and_over_the_last(static):
    chances, labels = static.data("c", [None, 2]), static.data("l", [None, 1], "int64")
    whole, last, stats = static.auc(chances, labels, slide_steps=2)
    assert len(stats) == 4
    executor = static.Executor()
    executor.run(static.default_startup_program())
    runs = []
    for _ in range(4):
        chance, label = RANDOM.uniform(0, 1, 20), RANDOM.randint(0, 2, 20)
        runs.append((chance, label))
        feed = {"c": np.stack([1 - chance, chance], 1).astype("float32"), "l": label[:, None]}
        over_all, over_last = executor.run(feed=feed, fetch_list=[whole, last])
        for got, batches in ((over_all, runs), (over_last, runs[-2:])):
            expected = area_by_pairs(*(np.concatenate(part) for part in zip(*batches, strict=True)))
            np.testing.assert_allclose(got, expected, atol=2e-3)


def test_auc_of_a_wrong_shape_is_refused(static):
    with pytest.raises(ShapeError, match=r"\[N, 2\]"):
        static.auc(static.data("c", [None, 3]), static.data("l", [None, 1], "int64"))
    with pytest.raises(ArgumentError, match="XYZ"):
        static.auc(static.data("d", [None, 2]), static.data("m", [None, 1], "int64"), curve="XYZ")


PRINTED = """\
Variable: x
  - message: here
  - lod: {}
  - place: Place(cpu)
  - shape: [3]
  - layout: NCHW
  - dtype: float32
  - data: [1 2.5]
Variable: print_0.tmp_0@GRAD
  - message: here
  - lod: {}
  - place: Place(cpu)
  - shape: [3]
  - layout: NCHW
  - dtype: float32
  - data: [2 2]
"""


def test_a_value_and_its_gradient_are_printed_when_they_are_computed(static, capsys):
    x = static.data("x", [3])
    x.stop_gradient = False
    shown = static.Print(x, message="here", summarize=2)
    (grad,) = static.gradients((shown * 2).sum(), x)
    (got,) = static.Executor().run(feed={"x": np.array([1, 2.5, 3], "float32")}, fetch_list=[grad])
    assert got.tolist() == [2, 2, 2]
    assert capsys.readouterr().out == PRINTED


def test_printing_ends_after_the_first_runs(static, capsys):
    x = static.data("x", [1])
    static.Print(
        x,
        first_n=2,
        print_tensor_lod=False,
        print_tensor_layout=False,
        print_tensor_shape=False,
        print_tensor_type=False,
        print_phase="forward",
    )
    for n in range(4):
        static.Executor().run(feed={"x": np.array([n], "float32")})
    lines = "Variable: x\n  - place: Place(cpu)\n  - data: [{}]\n"
    assert capsys.readouterr().out == lines.format(0) + lines.format(1)


def test_wrong_phases_and_values_are_refused(static):
    with pytest.raises(UnreadyError, match="sideways"):
        static.Print(static.data("x", [1]), print_phase="sideways")
    with pytest.raises(DTypeError, match="eager"):
        static.Print(3)


def test_averages_of_parameters(static):
    x = static.data("x", [None, 1])
    attr = paddle.ParamAttr(name="w", initializer=paddle.nn.initializer.Constant(0.0))
    loss = static.nn.fc(x, 1, weight_attr=attr, bias_attr=False).sum()
    optimizer.SGD(1.0).minimize(loss)
    average = static.ExponentialMovingAverage(0.5)
    average.update()
    executor = static.Executor()
    executor.run(static.default_startup_program())
    weight = static.default_main_program().all_parameters()[0]
    expected = 0.0
    for step in range(1, 4):  # the weight is -1, -2, -3
        executor.run(feed={"x": np.ones((1, 1), "float32")})
        expected = 0.5 * expected + 0.5 * -step
    with average.apply(executor):
        np.testing.assert_allclose(weight.get_value().numpy(), [[expected / (1 - 0.5**3)]], rtol=1e-6)
    assert weight.get_value().numpy().tolist() == [[-3]]
    with average.apply(executor, need_restore=False):
        pass
    assert weight.get_value().numpy().tolist() != [[-3]]
    average.restore(executor)
    assert weight.get_value().numpy().tolist() == [[-3]]


def test_averages_need_an_update(static):
    average = static.ExponentialMovingAverage()
    with pytest.raises(ProgramError, match=r"update\(\)"), average.apply(None):
        pass


def test_sums_for_clicks_over_all_runs(static):
    chances, labels = static.data("c", [None, 1]), static.data("l", [None, 1], "int32")
    weight = static.data("w", [1, 1])
    sums = static.ctr_metric_bundle(chances, labels)
    weighted = static.ctr_metric_bundle(chances, labels, weight)
    executor = static.Executor()
    executor.run(static.default_startup_program())
    seen = []
    for run in range(2):
        c, y = RANDOM.uniform(0, 1, (5, 1)).astype("float32"), RANDOM.randint(0, 2, (5, 1)).astype("int32")
        seen.append((c, y))
        fed = {"c": c, "l": y, "w": np.full((1, 1), run, "float32")}
        got = executor.run(feed=fed, fetch_list=[*sums, *weighted])
    c, y = (np.concatenate(each) for each in zip(*seen, strict=True))
    sigmoid = 1 / (1 + np.exp(-c))
    expected = [((c - y) ** 2).sum(), abs(c - y).sum(), c.sum(), sigmoid.sum(), y.sum(), 10]
    np.testing.assert_allclose(np.ravel(got[:6]), expected, rtol=1e-5)
    expected[3], expected[5] = sigmoid[5:].sum(), 5  # the first batch counted as none
    np.testing.assert_allclose(np.ravel(got[6:]), expected, rtol=1e-5)
    with pytest.raises(ShapeError, match="make them one shape"):
        static.ctr_metric_bundle(static.data("d", [None, 2]), labels)


def test_auc_takes_labels_without_a_second_dimension(static):
    whole, *_ = static.auc(static.data("c", [None, 2]), static.data("l", [None], "int64"))
    executor = static.Executor()
    executor.run(static.default_startup_program())
    chance = np.array([0.1, 0.8, 0.4, 0.9], "float32")
    (got,) = executor.run(
        feed={"c": np.stack([1 - chance, chance], 1), "l": np.array([0, 1, 1, 1])}, fetch_list=[whole]
    )
    assert float(got) == 1.0
