"""Initializers: widths, reproducible draws, defaults of layers."""

from __future__ import annotations

import math

import numpy as np
import pytest

import engine as paddle
from engine import nn
from engine.core.errors import ArgumentError, DTypeError, ShapeError
from engine.core.random.generator import default_generator
from engine.core.strictness import LeniencyWarning, strict
from engine.nn import initializer
from engine.tensor import to_tensor


@pytest.fixture(autouse=True)
def _seed():
    default_generator().manual_seed(7)


def drawn(kind: initializer.Initializer, *shape: int) -> np.ndarray:
    return nn.Layer().create_parameter(shape, kind).numpy()


# Bounds and deviations by hand for a matrix [400, 120] and filters [16, 6, 5, 5]: fans 400/120 and 150/400.
@pytest.mark.parametrize(
    ("kind", "shape", "deviation"),
    [
        (initializer.Normal(0.0, 0.3), (400, 120), 0.3),
        (initializer.TruncatedNormal(0.0, 0.3), (400, 120), 0.3 * 0.8796),
        (initializer.XavierNormal(), (400, 120), math.sqrt(2 / 520)),
        (initializer.XavierUniform(), (400, 120), math.sqrt(6 / 520) / math.sqrt(3)),
        (initializer.XavierUniform(), (16, 6, 5, 5), math.sqrt(6 / 550) / math.sqrt(3)),
        (initializer.XavierNormal(fan_in=10, fan_out=8), (400, 120), math.sqrt(2 / 18)),
        (initializer.KaimingNormal(), (16, 6, 5, 5), math.sqrt(2 / 150)),
        (initializer.KaimingUniform(), (400, 120), math.sqrt(2) * math.sqrt(3 / 400) / math.sqrt(3)),
        (initializer.KaimingUniform(nonlinearity="tanh"), (400, 120), 5 / 3 / math.sqrt(400)),
        (
            initializer.KaimingNormal(negative_slope=2.0, nonlinearity="leaky_relu"),
            (400, 120),
            math.sqrt(2 / 5) / math.sqrt(400),
        ),
        (initializer.Uniform(-2.0, 2.0), (400, 120), 2 / math.sqrt(3)),
    ],
)
def test_deviation(kind: initializer.Initializer, shape: tuple[int, ...], deviation: float) -> None:
    values = drawn(kind, *shape).astype("float64")
    assert values.std() == pytest.approx(deviation, rel=0.04)
    assert abs(values.mean()) < 5 * deviation / math.sqrt(values.size)


def test_bounds() -> None:
    limit = math.sqrt(6 / 520)
    values = drawn(initializer.XavierUniform(), 400, 120)
    assert -limit <= values.min() < -0.99 * limit
    assert 0.99 * limit < values.max() <= limit
    values = drawn(initializer.TruncatedNormal(1.0, 0.5), 300, 300)
    assert 0.0 <= values.min() < 0.05
    assert 1.95 < values.max() <= 2.0


def test_one_seed_gives_one_model() -> None:
    first = [p.numpy() for p in nn.Sequential(nn.Conv2D(1, 6, 5), nn.Linear(4, 3)).parameters()]
    default_generator().manual_seed(7)
    second = [p.numpy() for p in nn.Sequential(nn.Conv2D(1, 6, 5), nn.Linear(4, 3)).parameters()]
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)
    third = nn.Conv2D(1, 6, 5).weight.numpy()
    assert (third != first[0]).any()


def test_draws_are_the_same_on_every_machine() -> None:
    # Philox 4x64 with key 7 and the parameter's number in the counter; written down once. Paddle's numbers
    # are recorded calls (tests/oracle/cases/random_numbers.py).
    default_generator().manual_seed(7, "philox")
    values = drawn(initializer.Uniform(0.0, 1.0), 3)
    expected = np.random.Generator(np.random.Philox(key=7, counter=[0, 0, 0, 0])).random(3)
    np.testing.assert_array_equal(values, expected.astype("float32"))
    values = drawn(initializer.Normal(2.0, 0.5), 3)
    expected = np.random.Generator(np.random.Philox(key=7, counter=[0, 0, 1, 0])).standard_normal(3)
    np.testing.assert_array_equal(values, expected.astype("float32") * np.float32(0.5) + 2)
    default_generator().manual_seed(7, "mt19937_64")


def test_precision_changes_the_draw_by_rounding_only() -> None:
    single = nn.Layer().create_parameter([5], initializer.Normal(), dtype="float32").numpy()
    default_generator().manual_seed(7)
    double = nn.Layer().create_parameter([5], initializer.Normal(), dtype="float64").numpy()
    assert double.dtype == np.float64
    np.testing.assert_allclose(single, double, rtol=1e-5)


def test_defaults_of_layers() -> None:
    conv = nn.Conv2D(16, 64, 5)
    assert conv.weight.numpy().std() == pytest.approx(math.sqrt(2 / (16 * 25)), rel=0.03)
    assert not conv.bias.numpy().any()
    # Grouped filters count all channels, as in Paddle.
    grouped = nn.Conv2D(16, 64, 5, groups=4)
    assert grouped.weight.numpy().std() == pytest.approx(math.sqrt(2 / (16 * 25)), rel=0.05)
    linear = nn.Linear(400, 120)
    assert np.abs(linear.weight.numpy()).max() == pytest.approx(math.sqrt(6 / 520), rel=0.01)
    assert not linear.bias.numpy().any()
    norm = nn.BatchNorm2D(3)
    assert [v.numpy().tolist() for v in norm.state_dict().values()] == [
        [1.0] * 3,
        [0.0] * 3,
        [0.0] * 3,
        [1.0] * 3,
    ]


def test_constant_and_assign() -> None:
    assert drawn(initializer.Constant(0.25), 2).tolist() == [0.25, 0.25]
    assert drawn(initializer.Assign([[1, 2], [3, 4]]), 2, 2).tolist() == [[1, 2], [3, 4]]
    assert drawn(initializer.Assign(to_tensor(np.array([1.5]))), 1).tolist() == [1.5]
    with pytest.warns(LeniencyWarning, match=r"shape \[2\]: the parameter \[3\]"):
        assert drawn(initializer.Assign([1, 2]), 3).tolist() == [1, 2]
    with strict(), pytest.raises(ShapeError, match=r"shape \[2\]: the parameter \[3\]"):
        drawn(initializer.Assign([1, 2]), 3)
    with pytest.raises(DTypeError, match="got str"):
        initializer.Assign("12")


def test_attribute_global_default_in_this_order() -> None:
    initializer.set_global_initializer(initializer.Constant(2.0), initializer.Constant(3.0))
    try:
        layer = nn.Linear(2, 2)
        assert layer.weight.numpy()[0, 0] == 2.0
        assert layer.bias.numpy()[0] == 3.0
        assert nn.Linear(2, 2, weight_attr=initializer.Constant(4.0)).weight.numpy()[0, 0] == 4.0
    finally:
        initializer.set_global_initializer(None)
    assert nn.Linear(2, 2).bias.numpy()[0] == 0.0
    with pytest.raises(DTypeError, match="must be an Initializer"):
        initializer.set_global_initializer(3)


def test_own_initializer() -> None:
    class Eye(initializer.Initializer):
        def forward(self, param, block=None):
            param.set_value(np.eye(*param.shape, dtype="float32"))

    assert drawn(Eye(), 2, 2).tolist() == [[1, 0], [0, 1]]


# Printed by PaddlePaddle 2.6.2.
@pytest.mark.parametrize(
    ("name", "param", "gain"),
    [
        ("sigmoid", None, 1),
        ("tanh", None, 5 / 3),
        ("relu", None, 1.4142135623730951),
        ("selu", None, 0.75),
        ("leaky_relu", None, 1.4141428569978354),
        ("leaky_relu", 0.2, 1.3867504905630728),
    ],
)
def test_gain(name: str, param: float | None, gain: float) -> None:
    assert initializer.calculate_gain(name, param) == pytest.approx(gain, rel=1e-15)


def test_errors() -> None:
    with pytest.raises(ArgumentError, match="no gain is known for 'gelu'"):
        initializer.calculate_gain("gelu")
    with pytest.raises(ArgumentError, match="high must not be below low"):
        initializer.Uniform(1.0, 0.0)
    with pytest.raises(ArgumentError, match="std must be a number"):
        initializer.Normal(0.0, None)
    with pytest.raises(DTypeError, match="no default initializer makes int64"):
        nn.Layer().create_parameter([2], dtype="int64")


IN_BFLOAT16 = {
    "Normal": lambda: initializer.Normal(),
    "TruncatedNormal": lambda: initializer.TruncatedNormal(),
    "Uniform": lambda: initializer.Uniform(),
    "XavierUniform": lambda: initializer.XavierUniform(),
    "KaimingNormal": lambda: initializer.KaimingNormal(),
    "Constant": lambda: initializer.Constant(0.25),
    "Assign": lambda: initializer.Assign(np.linspace(-1, 1, 32).reshape(8, 4)),
}


@pytest.mark.parametrize("name", IN_BFLOAT16)
def test_values_in_bfloat16_are_those_in_float32_rounded(name):
    """Towards zero: at most one part in 128 nearer to it."""
    made = {}
    for dtype in ("float32", "bfloat16"):
        paddle.seed(3)
        made[dtype] = paddle.create_parameter([8, 4], dtype, default_initializer=IN_BFLOAT16[name]())
    assert made["bfloat16"].dtype == paddle.bfloat16
    wide, low = made["float32"].numpy(), made["bfloat16"].astype("float32").numpy()
    assert np.abs(wide).max() > 0.1
    assert (np.abs(low) <= np.abs(wide)).all()
    np.testing.assert_allclose(low, wide, rtol=1 / 128)


@pytest.mark.parametrize("name", IN_BFLOAT16)
def test_a_startup_program_makes_the_same_in_bfloat16(name):
    paddle.seed(3)
    want = paddle.create_parameter([8, 4], "float32", default_initializer=IN_BFLOAT16[name]()).numpy()
    paddle.enable_static()
    try:
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup):
            made = paddle.create_parameter([8, 4], "bfloat16", default_initializer=IN_BFLOAT16[name]())
        paddle.seed(3)
        executor = paddle.static.Executor()
        executor.run(startup)
        (found,) = executor.run(main, fetch_list=[made.name], return_numpy=False)
    finally:
        paddle.disable_static()
    np.testing.assert_allclose(found.astype("float32").numpy(), want, rtol=1 / 128)
