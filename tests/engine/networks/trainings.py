"""Trainings of whole networks, each a few steps on one small batch: eagerly or converted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import engine as paddle
from engine import nn
from engine.nn import functional as F
from engine.vision import models
from tests.engine.jit.whole_models import Translator, words
from tests.engine.networks.formulas import inputs

Convert = Callable[[Any], Any]


class Trained(NamedTuple):
    """The losses of all steps, the gradients of the first and the parameters and buffers after the last."""

    losses: list[Any]
    gradients: dict[str, Any]
    state: dict[str, Any]


def images(*shape: int) -> Any:
    return paddle.to_tensor(inputs(*shape)).astype(paddle.get_default_dtype())


def stepped(networks: dict[str, Any], losses: list[Callable[[], tuple[Any, Any]]], steps: int) -> Trained:
    """Train: each of ``losses`` gives a loss and the rule that follows its gradients."""
    found = Trained([], {}, {})
    for step in range(steps):
        for n, loss_of in enumerate(losses):
            loss, rule = loss_of()
            loss.backward()
            if step == 0:
                found.gradients.update(
                    (f"{n} {name} {key}", p.grad.numpy())
                    for name, network in networks.items()
                    for key, p in network.named_parameters()
                    if p.grad is not None
                )
            rule.step()
            for network in networks.values():
                network.clear_gradients()
            found.losses.append(loss.numpy())
    for name, network in networks.items():
        found.state.update((f"{name} {key}", value.numpy()) for key, value in network.state_dict().items())
    return found


def classifier(make: Callable[[], Any], batch: Callable[[], Any]) -> Callable[[Convert, int], Trained]:
    """The training of a network that distinguishes three classes."""

    def train(convert: Convert, steps: int) -> Trained:
        network = convert(make())
        given, labels = batch(), paddle.to_tensor([0, 2, 1, 0])
        rule = paddle.optimizer.Momentum(1e-2, parameters=network.parameters())
        return stepped({"net": network}, [lambda: (F.cross_entropy(network(given), labels), rule)], steps)

    return train


class Bert(nn.Layer):
    """Embeddings of words, places and segments, encoder layers, and a pooler over the first word."""

    def __init__(self, vocabulary: int = 30, size: int = 16) -> None:
        super().__init__()
        self.words = nn.Embedding(vocabulary, size)
        self.places = nn.Embedding(12, size)
        self.segments = nn.Embedding(2, size)
        self.norm = nn.LayerNorm(size)
        self.dropout = nn.Dropout(0.1)
        layer = nn.TransformerEncoderLayer(size, 4, 32, dropout=0.1, activation="gelu")
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.pooler = nn.Linear(size, size)
        self.classes = nn.Linear(size, 3)

    def forward(self, tokens: Any) -> Any:
        places = paddle.arange(tokens.shape[1]).unsqueeze(0)
        segments = (tokens > 20).astype("int64")
        mask = (tokens == 0).astype(paddle.get_default_dtype()).unsqueeze([1, 2]) * -1e4
        hidden = self.words(tokens) + self.places(places) + self.segments(segments)
        hidden = self.encoder(self.dropout(self.norm(hidden)), mask)
        return self.classes(paddle.tanh(self.pooler(hidden[:, 0])))


class Unrolled(Translator):
    """The same model, whose steps stand one after another in a Program."""

    def forward(self, source: Any, target: Any) -> Any:
        memory, last = self.encoder(self.embedding(source))
        state, loss = last[0], 0.0
        for step in range(target.shape[1] - 1):
            word = self.embedding(target[:, step])
            _, state = self.decoder(paddle.concat([word, self.attention(state, memory)], axis=-1), state)
            loss = loss + F.cross_entropy(self.output(state), target[:, step + 1])
        return loss


def translation(make: Callable[[], Any]) -> Callable[[Convert, int], Trained]:
    """The training of a sequence to sequence model with attention."""

    def train(convert: Convert, steps: int) -> Trained:
        network = convert(make())
        source, target = (paddle.to_tensor(words(3, n, high=12, seed=n)) for n in (5, 4))
        rule = paddle.optimizer.Adam(1e-2, parameters=network.parameters())
        return stepped({"net": network}, [lambda: (network(source, target), rule)], steps)

    return train


class ShiftedBlock(nn.Layer):
    """A residual block whose first convolution sees channels of the images before and after."""

    def __init__(self, channels: int, segments: int) -> None:
        super().__init__()
        self.segments = segments
        self.first = nn.Conv2D(channels, channels, 3, padding=1, bias_attr=False)
        self.norm = nn.BatchNorm2D(channels)
        self.second = nn.Conv2D(channels, channels, 1)

    def forward(self, x: Any) -> Any:
        shifted = F.temporal_shift(x, self.segments, 0.25)
        return F.relu(x + self.second(F.relu(self.norm(self.first(shifted)))))


class Video(nn.Layer):
    """A TSM-like network: the images of a film stand in the batch, and are averaged at the end."""

    def __init__(self, segments: int = 3) -> None:
        super().__init__()
        self.segments = segments
        self.stem = nn.Conv2D(3, 8, 3, stride=2, padding=1)
        self.blocks = nn.LayerList([ShiftedBlock(8, segments) for _ in range(2)])
        self.pool = nn.AdaptiveAvgPool2D(1)
        self.classes = nn.Linear(8, 3)

    def forward(self, films: Any) -> Any:
        x = self.stem(films.reshape([-1, *films.shape[2:]]))
        for block in self.blocks:
            x = block(x)
        x = self.pool(x).flatten(1).reshape([-1, self.segments, 8])
        return self.classes(F.dropout(x.mean(axis=1), 0.2, training=self.training))


class Generator(nn.Layer):
    """Noise to images of 8 x 8."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(6, 16 * 2 * 2)
        self.layers = nn.Sequential(
            nn.BatchNorm2D(16),
            nn.ReLU(),
            nn.Conv2DTranspose(16, 8, 4, 2, 1),
            nn.BatchNorm2D(8),
            nn.ReLU(),
            nn.Conv2DTranspose(8, 1, 4, 2, 1),
            nn.Tanh(),
        )

    def forward(self, noise: Any) -> Any:
        return self.layers(self.first(noise).reshape([-1, 16, 2, 2]))


class Critic(nn.Layer):
    """Whether an image is real."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2D(1, 8, 4, 2, 1),
            nn.LeakyReLU(0.2),
            nn.Dropout(0.1),
            nn.Conv2D(8, 16, 4, 2, 1),
            nn.BatchNorm2D(16),
            nn.LeakyReLU(0.2),
            nn.Flatten(),
            nn.Linear(64, 1),
        )

    def forward(self, image: Any) -> Any:
        return self.layers(image)


def adversaries(convert: Convert, steps: int) -> Trained:
    """A GAN: the critic's two calls stand before one backward; then the generator learns through it."""
    generator, critic = convert(Generator()), convert(Critic())
    real, noise = images(4, 1, 8, 8), images(4, 6)
    of_critic = paddle.optimizer.Adam(1e-2, parameters=critic.parameters())
    of_generator = paddle.optimizer.Adam(1e-2, parameters=generator.parameters())

    def reported(scores: Any, is_real: bool) -> Any:
        wanted = paddle.ones_like(scores) if is_real else paddle.zeros_like(scores)
        return F.binary_cross_entropy_with_logits(scores, wanted)

    def critics_loss() -> tuple[Any, Any]:
        made = generator(noise).detach()
        return reported(critic(real), True) + reported(critic(made), False), of_critic

    def generators_loss() -> tuple[Any, Any]:
        return reported(critic(generator(noise)), True), of_generator

    return stepped({"generator": generator, "critic": critic}, [critics_loss, generators_loss], steps)


TRAININGS: dict[str, Callable[[Convert, int], Trained]] = {
    "mobilenet_v1": classifier(
        lambda: models.mobilenet_v1(scale=0.25, num_classes=3), lambda: images(4, 3, 32, 32)
    ),
    "resnet18": classifier(lambda: models.resnet18(num_classes=3), lambda: images(4, 3, 32, 32)),
    "tsm": classifier(Video, lambda: images(4, 3, 3, 12, 12)),
    "bert": classifier(Bert, lambda: paddle.to_tensor(words(4, 10, high=30))),
    "seq2seq with attention": translation(Unrolled),
    "seq2seq in a loop": translation(Translator),
    "gan": adversaries,
}
