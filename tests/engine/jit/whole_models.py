"""Networks as people write them, with branches and loops over Tensors, and a batch for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import engine as paddle
from engine import nn
from engine.nn import functional as F
from engine.optimizer import Adam
from engine.vision.models import LeNet


def numbers(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


def words(*shape: int, high: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).integers(0, high, shape)


class LanguageModel(nn.Layer):
    """An LSTM that is stepped over as many words as the sentence has; the loop's length is a Tensor."""

    def __init__(self, vocabulary: int = 20, hidden: int = 16) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, hidden)
        self.cell = nn.LSTMCell(hidden, hidden)
        self.dropout = nn.Dropout(0.2)
        self.output = nn.Linear(hidden, vocabulary)
        self.hidden = hidden

    def forward(self, sentence: Any, length: Any) -> Any:
        embedded = self.embedding(sentence)
        h = paddle.zeros([sentence.shape[0], self.hidden])
        c = paddle.zeros([sentence.shape[0], self.hidden])
        outputs = []
        for i in range(length):
            out, (h, c) = self.cell(embedded[:, i], (h, c))
            outputs.append(self.dropout(out))
        return self.output(paddle.stack(outputs, axis=1))


class Attention(nn.Layer):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.query = nn.Linear(size, size, bias_attr=False)

    def forward(self, state: Any, memory: Any) -> Any:
        scores = paddle.matmul(memory, self.query(state).unsqueeze(-1)).squeeze(-1)
        weights = F.softmax(scores, axis=-1)
        return (memory * weights.unsqueeze(-1)).sum(axis=1)


class Translator(nn.Layer):
    """A sequence to sequence model with attention; decoding stops when all sentences ended."""

    def __init__(self, vocabulary: int = 12, size: int = 12, longest: int = 6) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, size)
        self.encoder = nn.GRU(size, size)
        self.decoder = nn.GRUCell(2 * size, size)
        self.attention = Attention(size)
        self.output = nn.Linear(size, vocabulary)
        self.longest = longest

    def forward(self, source: Any, target: Any) -> Any:
        memory, last = self.encoder(self.embedding(source))
        state = last[0]
        loss = paddle.zeros([])
        step = paddle.zeros([], "int64")
        word = target[:, 0]
        while step < target.shape[1] - 1:
            given = paddle.concat([self.embedding(word), self.attention(state, memory)], axis=-1)
            _, state = self.decoder(given, state)
            logits = self.output(state)
            step = step + 1
            loss = loss + F.cross_entropy(logits, target[:, step])
            word = target[:, step]
        return loss

    def decode(self, source: Any) -> Any:
        memory, last = self.encoder(self.embedding(source))
        state = last[0]
        word = paddle.zeros([source.shape[0]], "int64")
        ended = paddle.zeros([source.shape[0]], "bool")
        words = []
        step = paddle.zeros([], "int64")
        while step < self.longest and not ended.all():
            given = paddle.concat([self.embedding(word), self.attention(state, memory)], axis=-1)
            _, state = self.decoder(given, state)
            word = self.output(state).argmax(axis=-1)
            ended = paddle.logical_or(ended, word == 1)
            words.append(word)
            step = step + 1
        return paddle.stack(words, axis=1)


class Encoder(nn.Layer):
    """A Transformer encoder over words, with a mask where a sentence is padded."""

    def __init__(self, vocabulary: int = 15, size: int = 16, classes: int = 3) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, size)
        layer = nn.TransformerEncoderLayer(size, 4, 32, dropout=0.1)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.output = nn.Linear(size, classes)

    def forward(self, sentence: Any) -> Any:
        padded = sentence == 0
        mask = None
        if padded.any():
            mask = padded.astype("float32").unsqueeze([1, 2]) * -1e4
        else:
            mask = paddle.zeros([sentence.shape[0], 1, 1, sentence.shape[1]])
        hidden = self.encoder(self.embedding(sentence), mask)
        return self.output(hidden.mean(axis=1))


class Tree(nn.Layer):
    """A recursive network over a nested tuple of word numbers."""

    def __init__(self, vocabulary: int = 10, size: int = 8) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, size)
        self.join = nn.Linear(2 * size, size)
        self.output = nn.Linear(size, 2)

    def encode(self, words: Any, node: Any) -> Any:
        if isinstance(node, int):
            return self.embedding(words[:, node])
        left, right = (self.encode(words, child) for child in node)
        joined = paddle.tanh(self.join(paddle.concat([left, right], axis=-1)))
        if joined.mean() > 0:
            joined = joined * 0.5
        return joined

    def forward(self, words: Any) -> Any:
        return self.output(self.encode(words, ((0, 1), (2, (3, 0)))))


class DetectionHead(nn.Layer):
    """Boxes of a grid, in the manner of YOLO: slices, masks, a branch on whether anything was found."""

    def __init__(self, anchors: int = 2, classes: int = 3) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Conv2D(3, 8, 3, padding=1), nn.BatchNorm2D(8), nn.LeakyReLU(0.1))
        self.head = nn.Conv2D(8, anchors * (5 + classes), 1)
        self.anchors = anchors
        self.classes = classes

    def forward(self, image: Any, wanted: Any) -> Any:
        raw = self.head(self.body(image))
        n, _, h, w = raw.shape
        raw = raw.reshape([n, self.anchors, 5 + self.classes, h, w])
        centre = F.sigmoid(raw[:, :, 0:2])
        size = paddle.exp(raw[:, :, 2:4].clip(-4, 4))
        confidence = F.sigmoid(raw[:, :, 4])
        grid = paddle.arange(w, dtype="float32").reshape([1, 1, 1, 1, w])
        boxes = paddle.concat([centre + grid, size], axis=2)
        boxes[:, :, 2:] = boxes[:, :, 2:] * 0.5
        found = (confidence > 0.5).astype("float32")
        loss = F.mse_loss(confidence, wanted)
        if found.sum() > 0:
            chosen = boxes * found.unsqueeze(2)
            loss = loss + chosen.abs().sum() / found.sum() * 0.01
        for kind in range(self.classes):
            loss = loss + F.sigmoid(raw[:, :, 5 + kind]).mean() * (0.1 if kind else 0.2)
        return loss


def trained(
    net: Any, loss_of: Callable[[Any], Any], steps: int = 20, rate: float = 0.01, rule: Any = Adam
) -> list[float]:
    """The losses of a training."""
    optimizer = rule(rate, parameters=net.parameters())
    losses = []
    for _ in range(steps):
        loss = loss_of(net)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(float(loss))
    return losses


def classified(inputs: Any, classes: int) -> Callable[[Any], Any]:
    """The loss of a classifier on one batch."""
    x = paddle.to_tensor(inputs)
    labels = paddle.to_tensor(words(len(inputs), high=classes))
    return lambda net: F.cross_entropy(net(x), labels)


def language_loss(net: Any) -> Any:
    sentence = paddle.to_tensor(words(4, 7, high=20))
    logits = net(sentence[:, :-1], paddle.to_tensor(6))
    return F.cross_entropy(logits.reshape([-1, 20]), sentence[:, 1:].reshape([-1]))


def translation_loss(net: Any) -> Any:
    return net(paddle.to_tensor(words(3, 5, high=12)), paddle.to_tensor(words(3, 4, high=12, seed=1)))


def detection_loss(net: Any) -> Any:
    return net(paddle.to_tensor(numbers(2, 3, 8, 8)), paddle.to_tensor(numbers(2, 2, 8, 8, seed=1)))


def padded_sentences() -> Any:
    sentence = words(4, 6, high=15)
    sentence[:2, 4:] = 0
    return sentence


MODELS: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "lenet": (LeNet, classified(numbers(8, 1, 28, 28), 10)),
    "language model": (LanguageModel, language_loss),
    "translator": (Translator, translation_loss),
    "transformer": (Encoder, classified(padded_sentences(), 3)),
    "tree": (Tree, classified(words(5, 4, high=10), 2)),
    "detection head": (DetectionHead, detection_loss),
}
