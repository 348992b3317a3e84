"""What a map names matters: covering it lowers the score more than covering as many values at random."""

from __future__ import annotations

import numpy as np
import pytest

import engine as paddle
from engine import explain, nn
from engine.static import InputSpec
from engine.vision.datasets import Digits

SAMPLES, SHARE = 100, 0.1


@pytest.fixture(scope="module")
def trained() -> explain.Subject:
    paddle.seed(1)
    net = paddle.vision.models.LeNet()
    optimizer = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
    images = np.stack([np.asarray(image, np.float32).reshape(1, 28, 28) / 255 for image, _ in digits()])
    labels = np.array([int(np.ravel(label)[0]) for _, label in digits()])
    draw = np.random.default_rng(0)
    for _ in range(4):
        order = draw.permutation(len(images))
        for begin in range(0, len(order), 64):
            part = order[begin : begin + 64]
            scores = net(paddle.to_tensor(images[part]))
            loss = nn.functional.cross_entropy(scores, paddle.to_tensor(labels[part].reshape(-1, 1)))
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
    net.eval()
    return explain.of_layer(net, [InputSpec([None, 1, 28, 28], "float32", "x")])


def digits() -> Digits:
    return Digits(mode="test")


@pytest.mark.parametrize("method", ["saliency", "integrated_gradients", "occlusion"])
def test_masking_what_a_map_names_lowers_the_score_more_than_chance(
    trained: explain.Subject, method: str
) -> None:
    draw, named, chance = np.random.default_rng(2), [], []
    for image, _ in [each for each, _ in zip(digits(), range(SAMPLES), strict=False)]:
        x = np.asarray(image, np.float32).reshape(1, 1, 28, 28) / 255
        found = getattr(trained, method)([x])
        values = np.abs(found.values) if method == "saliency" else found.values
        count = round(SHARE * x.size)
        for places, drops in (
            (np.argsort(-values.reshape(-1))[:count], named),
            (draw.permutation(x.size)[:count], chance),
        ):
            masked = x.copy()
            masked.reshape(-1)[places] = 0.0
            drops.append(found.score - trained.saliency([masked], found.target).score)
    assert len(named) == SAMPLES
    assert np.mean(named) > 2 * np.mean(chance)


def test_integrated_gradients_sum_to_the_difference_within_one_percent(trained: explain.Subject) -> None:
    shares = []
    for image, _ in [each for each, _ in zip(digits(), range(SAMPLES), strict=False)]:
        x = np.asarray(image, np.float32).reshape(1, 1, 28, 28) / 255
        found = trained.integrated_gradients([x], steps=128)
        assert found.difference is not None
        total = float(found.values.sum())
        shares.append(abs(total - found.difference) / abs(found.difference))
    assert max(shares) < 0.01
