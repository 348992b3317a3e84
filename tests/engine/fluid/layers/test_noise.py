"""Losses over drawn classes, and random crops; values, gradients and classes recorded with Paddle 2.6.2."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import fluid
from engine.core.errors import ArgumentError, ConditionError
from engine.fluid import layers
from engine.nn.initializer import Assign
from tests.engine.fluid.layers.conftest import at_once

World = Callable[..., list[Any]]
INPUT = [
    [-1.0877665281295776, 0.09315039217472076, -1.2315089702606201, 0.2278575301170349],
    [1.756393313407898, -0.750583827495575, -0.36207646131515503, 0.013174516148865223],
    [0.3743188977241516, -1.8495512008666992, -0.27810508012771606, 0.3178469240665436],
]
LABEL = [[3], [4], [5]]
WEIGHT = [
    [1.5588055849075317, 0.10940269380807877, -1.2197444438934326, 2.449368715286255],
    [-0.5457741618156433, -0.19883786141872406, -0.7003985047340393, -0.20339444279670715],
    [0.24266944825649261, 0.2018301784992218, 0.6610202789306641, 1.7921582460403442],
    [-0.12046457082033157, -1.2331206798553467, -1.182318091392517, -0.665754497051239],
    [-1.6741957664489746, 0.8250298500061035, -0.4982135593891144, -0.3109849691390991],
    [-0.0018914828542619944, -1.3966203927993774, -0.8613163828849792, 0.6747115254402161],
    [0.6185391545295715, -0.4431719183921814, 1.810534954071045, -1.3057268857955933],
]
BIAS = [
    [-0.3449872136116028],
    [-0.23083974421024323],
    [-2.7930850982666016],
    [1.9375288486480713],
    [0.3663320243358612],
    [-1.0445894002914429],
    [2.051173448562622],
]
FACTOR = [[0.1445455402135849], [0.7515278458595276], [0.22204914689064026]]

# Recorded with Paddle 2.6.2: the operator's cost, and its gradients by input and bias, with 5 drawn classes.
RECORDED = {
    "uniform": (
        [[0.46840885281562805], [4.321123123168945], [0.7340725660324097]],
        [
            [0.030173709616065025, -0.033642590045928955, -0.06972644478082657, 0.09919741749763489],
            [0.9946941137313843, -0.5951648950576782, 0.2694762647151947, 0.08666107803583145],
            [0.005466217175126076, -0.00036397017538547516, -0.05244753882288933, 0.05494411289691925],
        ],
        [0.05702179, 0.26519811, 0.02281306, 0.01678406, -0.62392282, 0.01754734, 0.06165572],
        [-0.0218913182, -0.0480166599, -0.044051364, 0.0154631045],
    ),
    "log_uniform": (
        [[0.36769285798072815], [2.5232315063476562], [0.4697389006614685]],
        [
            [0.042473018169403076, 2.0909588783979416e-05, -0.04659503698348999, 0.08355890959501266],
            [0.8451451063156128, -0.44168373942375183, 0.1935935914516449, 0.2714540362358093],
            [-0.02111755684018135, 0.047248490154743195, -0.098764568567276, 0.09006038308143616],
        ],
        [0.09447491, 0.16936401, 0.05941821, 0.00135767, -0.47628608, -0.0082756, 0.0],
        [0.010094434, -0.09678296, -0.0576461777, 0.0225811303],
    ),
}


@pytest.mark.parametrize("sampler", ["uniform", "log_uniform"])
def test_noise_contrastive_estimation_in_a_program(main: Any, sampler: str) -> None:
    x = fluid.data("x", [3, 4])
    y, w = fluid.data("y", [3, 1], "int64"), fluid.data("w", [3, 1])
    x.stop_gradient = False
    loss = layers.nce(
        x, y, 7, w, fluid.ParamAttr("weight", Assign(np.float32(WEIGHT))),
        fluid.ParamAttr("bias", Assign(np.float32(BIAS))), 5, None, sampler, None, 11,
    )  # fmt: skip
    assert list(loss.shape) == [3, 1]
    parameters = [main.global_block().var(name) for name in ("bias", "weight")]
    gradients = fluid.gradients([loss], [x, *parameters])
    exe = fluid.Executor()
    exe.run(main.startup)
    feed = {"x": np.float32(INPUT), "y": np.array(LABEL), "w": np.float32(FACTOR)}
    for _ in range(2):  # every run draws the same classes
        found = exe.run(main, feed, [loss, *gradients])
        wanted = RECORDED[sampler]
        np.testing.assert_allclose(found[0] * 6, wanted[0], rtol=2e-6)
        np.testing.assert_allclose(found[1] * 6, wanted[1], rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(found[2][:, 0] * 6, wanted[2], rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(found[3][0] * 6, wanted[3], rtol=1e-5, atol=1e-7)


def test_the_layer_of_noise_contrastive_estimation() -> None:
    wanted = RECORDED["uniform"]
    with fluid.dygraph.guard():
        x, y, w = (fluid.dygraph.to_variable(each) for each in (np.float32(INPUT), LABEL, np.float32(FACTOR)))
        x.stop_gradient = False
        attrs = [fluid.ParamAttr(initializer=Assign(np.float32(each))) for each in (WEIGHT, BIAS)]
        late = fluid.dygraph.NCE(7, 4, None, *attrs, 5, "uniform", None, 11)
        early = fluid.dygraph.NCE("nce", 7, w, *attrs, 5, seed=11)
        for loss in (late(x, y, w), early(x, y)):
            np.testing.assert_allclose(loss.numpy() * 6, wanted[0], rtol=2e-6)
        layers.reduce_sum(late(x, y, w)).backward()
        np.testing.assert_allclose(x.gradient() * 6, wanted[1], rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(late.bias.gradient()[:, 0] * 6, wanted[2], rtol=1e-5, atol=1e-7)
        assert list(early.weight.shape) == [7, 4]
        loss = layers.nce(x, y, 7, w, attrs[0], attrs[1], 5, seed=11)
        np.testing.assert_allclose(loss.numpy() * 6, wanted[0], rtol=2e-6)


def test_classes_drawn_by_given_probabilities(main: Any) -> None:
    x = np.random.RandomState(2).randn(4, 3).astype(np.float32)
    given, label = fluid.data("x", [4, 3]), fluid.data("y", [4, 1], "int64")
    attr = paddle.ParamAttr(initializer=paddle.nn.initializer.Constant(0.3))
    shares = [0.05, 0.3, 0.1, 0.05, 0.2, 0.1, 0.2]
    loss = paddle.static.nn.nce(
        given, label, 7, None, attr, None, 6, sampler="custom_dist", custom_dist=shares, seed=9
    )
    labels = next(op for op in main.global_block().ops if op.type == "nce").output("SampleLabels")[0]
    names = sorted(p.name for p in main.all_parameters())
    assert names == ["nce_0.b_0", "nce_0.w_0", "nce_0.w_1", "nce_0.w_2", "nce_0.w_3"]
    exe = fluid.Executor()
    exe.run(main.startup)
    found = exe.run(main, {"x": x, "y": np.array([[0], [6], [2], [2]])}, [loss, labels])
    # Recorded with Paddle 2.6.2.
    np.testing.assert_allclose(found[0][:, 0], [0.31161433, 0.62123656, 0.45049247, 0.49377114], rtol=2e-6)
    assert found[1].tolist() == [
        [0, 6, 4, 1, 6, 6, 2],
        [6, 2, 2, 1, 6, 2, 3],
        [2, 1, 0, 2, 6, 1, 4],
        [2, 2, 1, 1, 1, 6, 2],
    ]


def test_samplers_that_there_are_not(main: Any) -> None:
    x, y = fluid.data("x", [4, 3]), fluid.data("y", [4, 1], "int64")
    with pytest.raises(ArgumentError, match="Unsupported sampler type 'normal'"):
        layers.nce(x, y, 7, sampler="normal")
    with pytest.raises(ConditionError, match="needs custom_dist"):
        layers.nce(x, y, 7, sampler="custom_dist")
    with pytest.raises(ArgumentError, match="custom_dist has 2 probabilities; give 7"):
        layers.nce(x, y, 7, sampler="custom_dist", custom_dist=[0.5, 0.5])


def test_a_softmax_over_drawn_classes(world: World) -> None:
    rng = np.random.default_rng(3)
    logits, label = rng.normal(size=(3, 9)).astype(np.float32), np.array([[0], [4], [8]])
    found, again = (
        world(lambda x, y: layers.sampled_softmax_with_cross_entropy(x, y, 8, seed=5), (logits, label))[0]
        for _ in range(2)
    )
    assert found.shape == (3, 1)
    np.testing.assert_array_equal(found, again)
    samples, shares = np.array([[0, 2, 0], [4, 1, 4], [8, 3, 5]]), np.full((3, 3), 0.25, np.float32)

    def given(x: Any, y: Any, s: Any, p: Any) -> Any:
        return layers.sampled_softmax_with_cross_entropy(
            x, y, 2, use_customized_samples=True, customized_samples=s, customized_probabilities=p
        )

    [found] = world(given, (logits, label, samples, shares))
    taken = np.take_along_axis(logits, samples, 1).astype(np.float64) - np.log(0.25)
    taken[0, 2] = taken[1, 2] = -np.inf  # the row's own label, drawn by accident
    wanted = np.log(np.exp(taken).sum(1)) - taken[:, 0]
    np.testing.assert_allclose(found[:, 0], wanted, rtol=1e-5)


def test_a_sampled_softmax_gives_gradients_to_the_drawn_classes_only() -> None:
    with fluid.dygraph.guard():
        x = fluid.dygraph.to_variable(np.zeros((1, 50), np.float32))
        x.stop_gradient = False
        y = fluid.dygraph.to_variable(np.array([[7]]))
        layers.reduce_sum(layers.sampled_softmax_with_cross_entropy(x, y, 4, seed=2)).backward()
        gradient = x.gradient()[0]
        assert (gradient != 0).sum() <= 5
        assert gradient[7] < 0
        assert gradient.sum() == pytest.approx(0, abs=1e-6)
        with pytest.raises(ArgumentError, match="num_true is 2"):
            layers.sampled_softmax_with_cross_entropy(x, y, 4, 2)
        with pytest.raises(ArgumentError, match="no 51 different classes"):
            layers.sampled_softmax_with_cross_entropy(x, y, 51)


def crops(x: Any, out: Any) -> list[list[int]]:
    """The places that the crops [N, 2, 3] come from in images [N, 4, 5] whose points are all different."""
    return [np.argwhere(image == crop[0, 0])[0].tolist() for image, crop in zip(x, out, strict=True)]


def minimal_standard(state: int, count: int) -> list[int]:
    """The numbers of C++'s ``std::minstd_rand``."""
    found = []
    for _ in range(count):
        state = state * 48271 % 2147483647
        found.append(state)
    return found


def test_random_crops_follow_from_the_seed(main: Any) -> None:
    images = np.arange(60.0, dtype=np.float32).reshape(3, 4, 5)
    x = fluid.data("x", [-1, 4, 5])
    out = layers.random_crop(x, [2, 3], seed=7)
    assert list(out.shape) == [-1, 2, 3]
    assert out.stop_gradient
    exe = fluid.Executor()
    exe.run(main.startup)
    first, second = (exe.run(main, {"x": images}, [out])[0] for _ in range(2))
    # Uniform in 0 to 2: each draw, less 1, by a third of the range.
    drawn = minimal_standard(7, 7)
    third = (2147483646 - 1) // 3
    assert crops(images, first) == np.reshape([(n - 1) // third for n in drawn[:6]], (3, 2)).tolist()
    after = minimal_standard(drawn[6], 6)
    assert crops(images, second) == np.reshape([(n - 1) // third for n in after], (3, 2)).tolist()


def test_random_crops_in_a_guard() -> None:
    images = np.arange(60.0, dtype=np.float32).reshape(3, 4, 5)
    with fluid.dygraph.guard():
        x = fluid.dygraph.to_variable(images)
        one, other = (layers.random_crop(x, [4, 2], seed=3).numpy() for _ in range(2))
        np.testing.assert_array_equal(one, other)
        seed = fluid.dygraph.to_variable(np.array([3]))
        np.testing.assert_array_equal(layers.random_crop(x, [4, 2], seed).numpy(), one)
        assert seed.numpy().tolist() == minimal_standard(3, 7)[-1:]
        np.random.seed(0)
        assert layers.random_crop(x, [1, 1]).shape == [3, 1, 1]
        with pytest.raises(TypeError, match="'seed' must be a Variable or an int"):
            layers.random_crop(x, [1, 1], "3")
        with pytest.raises(ArgumentError, match="is not a part of the last dimensions"):
            layers.random_crop(x, [5, 1])


def test_images_as_rows_of_windows() -> None:
    with fluid.dygraph.guard():
        rng = np.random.RandomState(1)
        images = rng.randint(0, 9, (2, 1, 3, 4)).astype(np.float32)
        [found] = at_once(lambda x: layers.im2sequence(x, 2, [1, 2], [1, 0, 0, 1]), (images,))
        # Recorded with Paddle 2.6.2.
        assert found[:3].tolist() == [[0, 0, 5, 8], [0, 0, 5, 0], [5, 8, 0, 1]]
        assert found[6:].tolist() == [
            [0, 0, 4, 2],
            [0, 0, 4, 7],
            [4, 2, 7, 1],
            [4, 7, 7, 0],
            [7, 1, 6, 7],
            [7, 0, 6, 1],
        ]
        sizes = np.array([[6, 8], [5, 3]], np.float32)
        [found] = at_once(
            lambda x, y: layers.im2sequence(x, [2, 2], 1, [0, 0, 1, 1], y, out_stride=[2, 2]), (images, sizes)
        )
        assert found.shape == (18, 4)
        assert found[:4].tolist() == [[5, 8, 0, 1], [8, 5, 1, 7], [5, 0, 7, 6], [0, 0, 6, 0]]
        assert found[12:].tolist() == [
            [4, 2, 7, 1],
            [2, 4, 1, 7],
            [7, 1, 6, 7],
            [1, 7, 7, 6],
            [6, 7, 0, 0],
            [7, 6, 0, 0],
        ]


def test_the_gradient_of_windows() -> None:
    with fluid.dygraph.guard():
        x = fluid.dygraph.to_variable(np.ones((2, 1, 3, 4), np.float32))
        x.stop_gradient = False
        layers.reduce_sum(layers.im2sequence(x, 2, [1, 2], [1, 0, 0, 1])).backward()
        # Recorded with Paddle 2.6.2.
        assert x.gradient()[0, 0].tolist() == [[2, 2, 2, 2], [2, 2, 2, 2], [1, 1, 1, 1]]
