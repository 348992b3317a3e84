"""Whole models train the same way eagerly and converted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import nn
from engine.jit import load, save, to_static
from engine.nn import functional as F
from engine.optimizer import SGD
from engine.static import InputSpec
from engine.vision.models import resnet18
from tests.engine.jit.whole_models import MODELS, Translator, classified, numbers, trained, words


def both_ways(make: Any, loss_of: Any, **options: Any) -> tuple[list[float], list[float]]:
    losses = []
    for convert in (False, True):
        paddle.seed(11)
        net = make()
        losses.append(trained(to_static(net) if convert else net, loss_of, **options))
    return losses[0], losses[1]


@pytest.mark.parametrize("name", list(MODELS))
def test_losses_of_twenty_steps(name: str) -> None:
    eager, static = both_ways(*MODELS[name])
    np.testing.assert_allclose(static, eager, rtol=1e-5)
    assert eager[-1] < eager[0] * 0.98, "it learns"


def test_resnet18() -> None:
    # Statistics over two images of one pixel would make a rounding large; so would Adam, which takes the
    # gradient's sign.
    images = numbers(8, 3, 32, 32)
    eager, static = both_ways(
        lambda: resnet18(num_classes=10), classified(images, 10), steps=20, rate=1e-3, rule=SGD
    )
    # A loss of 0.005 is a difference of numbers of the size of 10, rounded to 1e-6.
    np.testing.assert_allclose(static, eager, rtol=1e-5, atol=1e-6)
    assert eager[-1] < eager[0]


class Generator(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))

    def forward(self, noise: Any) -> Any:
        return self.layers(noise)


class Critic(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Dropout(0.1), nn.Linear(16, 1))

    def forward(self, x: Any) -> Any:
        return self.layers(x)


def adversarial_losses(convert: bool) -> list[tuple[float, float]]:
    paddle.seed(5)
    generator, critic = Generator(), Critic()
    if convert:
        generator, critic = to_static(generator), to_static(critic)
    first = paddle.optimizer.Adam(0.01, parameters=generator.parameters())
    second = paddle.optimizer.Adam(0.01, parameters=critic.parameters())
    losses = []
    for step in range(20):
        real = paddle.to_tensor(numbers(8, 2, seed=step) + 2)
        noise = paddle.to_tensor(numbers(8, 4, seed=100 + step))
        made = generator(noise)
        of_real, of_made = critic(real), critic(made.detach())  # two calls before one backward
        loss = F.binary_cross_entropy_with_logits(of_real, paddle.ones_like(of_real))
        loss = loss + F.binary_cross_entropy_with_logits(of_made, paddle.zeros_like(of_made))
        loss.backward()
        second.step()
        second.clear_grad()
        fooled = critic(made)
        cheat = F.binary_cross_entropy_with_logits(fooled, paddle.ones_like(fooled))
        cheat.backward()
        first.step()
        first.clear_grad()
        second.clear_grad()
        losses.append((float(loss), float(cheat)))
    return losses


def test_a_generator_against_a_critic() -> None:
    np.testing.assert_allclose(adversarial_losses(True), adversarial_losses(False), rtol=1e-5)


def test_decoding_until_all_ended_is_saved_and_loaded(tmp_path: Path) -> None:
    paddle.seed(2)
    net = Translator()
    net.eval()
    source = paddle.to_tensor(words(3, 5, high=12))
    expected = net.decode(source).numpy()
    static = to_static(net.decode, input_spec=[InputSpec([None, 5], "int64", "source")])
    np.testing.assert_array_equal(static(source).numpy(), expected)
    save(static, str(tmp_path / "decoder"))
    loaded = load(str(tmp_path / "decoder"))
    np.testing.assert_array_equal(loaded(source).numpy(), expected)
    one = paddle.to_tensor(words(1, 5, high=12, seed=4))
    np.testing.assert_array_equal(loaded(one).numpy(), net.decode(one).numpy())
