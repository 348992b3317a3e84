"""The built-in networks fit the data that they are built for, and name the reason where they do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine
from engine.training.network.models import build_model, find_model, load_model
from engine.training.randomness import measuring, seed_everything
from resources.families import FAMILIES, DataKind, ModelSpec, fitting

IMAGE = ModelSpec("images", (3, 32, 40), 6)
ROW = ModelSpec("table", (5,), 3)
WORDS = ModelSpec("table", (4,), 2, words=(0, 3, 0, 40))
ONLY_WORDS = ModelSpec("table", (2,), 2, words=(3, 4))
STEPS = ModelSpec("sequences", (7, 2), 4)
PADDED = ModelSpec("sequences", (7, 3), 4, masked=True)


def network(name: str, spec: ModelSpec, **more: Any) -> Any:
    return build_model(load_model(find_model(name)), {**FAMILIES[name].arguments(spec), **more})


def inputs(spec: ModelSpec, count: int = 3) -> Any:
    drawn = np.random.default_rng(0)
    x = drawn.standard_normal((count, *spec.shape)).astype(np.float32)
    for column, words in enumerate(spec.words):
        if words:
            x[:, column] = drawn.integers(0, words + 1, count)
    if spec.masked:
        x[:, :, -1] = 1
        x[0, 4:, -1] = 0
    return engine.to_tensor(x)


@pytest.mark.parametrize(
    "spec", [IMAGE, ROW, WORDS, ONLY_WORDS, STEPS, PADDED], ids=lambda spec: str(spec.shape)
)
def test_every_network_that_fits_gives_the_outputs_and_a_gradient_for_each_weight(spec: ModelSpec) -> None:
    names = fitting(spec)
    assert names
    for name in names:
        if name != "resnet18":
            _trains(name, spec)


def test_the_largest_network_gives_the_outputs_and_a_gradient_for_each_weight() -> None:
    _trains("resnet18", IMAGE)


def _trains(name: str, spec: ModelSpec) -> None:
    built = network(name, spec)
    scores = built(inputs(spec))
    assert scores.shape == [3, spec.outputs], name
    (scores * scores).sum().backward()
    without = [
        weight_name
        for weight_name, weight in built.named_parameters()
        if not weight.stop_gradient and weight.grad is None
    ]
    assert not without, name


KINDS: dict[DataKind, list[str]] = {
    "images": ["lenet", "cnn", "linear", "mlp", "resnet8", "resnet18", "mobilenet"],
    "table": ["linear", "mlp"],
    "sequences": ["lstm", "gru", "transformer"],
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_kind_of_data_decides_which_networks_fit(kind: DataKind) -> None:
    shape = {"images": (1, 32, 32), "table": (8,), "sequences": (9, 2)}[kind]
    assert fitting(ModelSpec(kind, shape, 2)) == KINDS[kind]


@pytest.mark.parametrize(
    ("name", "spec", "reason"),
    [
        ("resnet18", ModelSpec("images", (3, 16, 20), 2), "needs images of at least 32x32: yours are 20x16"),
        ("lenet", ModelSpec("images", (1, 8, 8), 2), "needs images of at least 12x12: yours are 8x8"),
        ("lstm", ROW, "takes sequences: yours are table"),
        (
            "mlp",
            ModelSpec("images", (3, 64, 64), 2),
            "needs samples of at most 4096 values: yours have 12288",
        ),
        ("transformer", ModelSpec("sequences", (5000, 1), 2), "at most 1024 steps: yours have 5000"),
    ],
)
def test_a_network_that_does_not_fit_says_why(name: str, spec: ModelSpec, reason: str) -> None:
    assert reason in FAMILIES[name].problem(spec)
    assert name not in fitting(spec)


@pytest.mark.parametrize("name", ["lenet", "cnn", "linear"])
def test_the_arguments_for_digits_give_the_weights_of_a_network_without_arguments(name: str) -> None:
    spec = ModelSpec("images", (1, 28, 28), 10)
    seed_everything(3)
    plain = build_model(load_model(find_model(name)))
    seed_everything(3)
    fitted = network(name, spec)
    for (one, first), (other, second) in zip(
        plain.state_dict().items(), fitted.state_dict().items(), strict=True
    ):
        assert one == other
        assert first.name == second.name
        np.testing.assert_array_equal(first.numpy(), second.numpy())


@pytest.mark.parametrize("name", ["lstm", "gru", "transformer"])
def test_padding_does_not_change_the_output(name: str) -> None:
    built = network(name, PADDED)
    x = inputs(PADDED)
    other = x.numpy().copy()
    other[0, 4:, :-1] = 9
    with measuring(built), engine.no_grad():
        first, second = built(x).numpy(), built(engine.to_tensor(other)).numpy()
    np.testing.assert_allclose(first, second, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["lstm", "gru"])
def test_a_padded_sequence_is_read_like_the_short_one(name: str) -> None:
    seed_everything(1)
    padded = network(name, PADDED)
    seed_everything(1)
    plain = network(name, ModelSpec("sequences", (4, 2), 4))
    x = inputs(PADDED).numpy()
    with engine.no_grad():
        whole = padded(engine.to_tensor(x)).numpy()[0]
        short = plain(engine.to_tensor(x[:1, :4, :-1])).numpy()[0]
    np.testing.assert_allclose(whole, short, rtol=1e-5, atol=1e-6)


def test_one_linear_layer_gives_each_word_a_value_for_each_output() -> None:
    built = network("linear", WORDS)
    x = np.array([[0.5, 2, -1.0, 7]], np.float32)
    weights = {name: value.numpy().astype(np.float64) for name, value in built.state_dict().items()}
    expected = (
        x[0, [0, 2]].astype(np.float64) @ weights["linear.weight"]
        + weights["linear.bias"]
        + weights["values.0.weight"][2]
        + weights["values.1.weight"][7]
    )
    np.testing.assert_allclose(built(engine.to_tensor(x)).numpy()[0], expected, rtol=1e-5)


def test_arguments_that_a_network_does_not_take_are_named_with_those_it_takes() -> None:
    with pytest.raises(
        engine.core.errors.ArgumentError, match="'depth'; it takes features, outputs, words, hidden"
    ):
        build_model(load_model(find_model("mlp")), {"depth": 3})
