"""Reading text in images: convolutions, two GRUs, attention; decoding by beam in evaluation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine import fluid
from engine.fluid import layers
from engine.fluid.dygraph import FC, BatchNorm, Conv2D, Embedding, GRUUnit, Pool2D
from tests.engine.fluid.networks.training import STEPS, Task, same

RNG = np.random.default_rng(6)
BATCH, WIDTH, LETTERS, LENGTH, ENCODER, DECODER, WORD = 2, 16, 9, 4, 5, 6, 5
START = 0
BATCHES = [
    {
        "image": RNG.normal(size=(BATCH, 1, 8, WIDTH)).astype(np.float32),
        "label_in": RNG.integers(1, LETTERS, (BATCH, LENGTH)),
        "label_out": RNG.integers(1, LETTERS, (BATCH, LENGTH)),
        "mask": (np.arange(LENGTH) < [[4], [2]]).astype(np.float32),
    }
    for _ in range(STEPS)
]


def zeros(size: int) -> Any:
    """The first state of a recurrent layer, made as scripts of both modes made it."""
    if fluid.framework.in_dygraph_mode():
        return fluid.dygraph.to_variable(np.zeros((BATCH, size), np.float32))
    return layers.fill_constant(shape=[BATCH, size], dtype="float32", value=0)


class ConvBNPool(fluid.dygraph.Layer):
    def __init__(self, name_scope: str, filters: int, pool: bool = True) -> None:
        super().__init__(name_scope)
        attr = fluid.ParamAttr(initializer=fluid.initializer.Normal(0.0, 0.2))
        self.conv = Conv2D(
            self.full_name(), filters, 3, padding=1, bias_attr=False, param_attr=attr, use_cudnn=True
        )
        self.norm = BatchNorm(self.full_name(), filters, act="relu")
        self.pool = Pool2D(self.full_name(), 2, "max", 2, ceil_mode=True) if pool else None

    def forward(self, x: Any) -> Any:
        x = self.norm(self.conv(x))
        return x if self.pool is None else self.pool(x)


class DynamicGRU(fluid.dygraph.Layer):
    def __init__(self, name_scope: str, size: int, is_reverse: bool = False) -> None:
        super().__init__(name_scope)
        self.gru_unit = GRUUnit(
            self.full_name(),
            size * 3,
            activation="relu",
            gate_activation="sigmoid",
            param_attr=fluid.ParamAttr(initializer=fluid.initializer.Normal(0.0, 0.3)),
        )
        self.size, self.is_reverse = size, is_reverse

    def forward(self, inputs: Any) -> Any:
        hidden, found = zeros(self.size), []
        for i in range(inputs.shape[1]):
            if self.is_reverse:
                i = inputs.shape[1] - 1 - i
            step = inputs[:, i : i + 1, :]
            step = layers.reshape(step, [-1, step.shape[2]], inplace=False)
            hidden, _, _ = self.gru_unit(step, hidden)
            found.append(layers.reshape(hidden, [-1, 1, hidden.shape[1]], inplace=False))
        return layers.concat(found[::-1] if self.is_reverse else found, axis=1)


class EncoderNet(fluid.dygraph.Layer):
    def __init__(self, name_scope: str) -> None:
        super().__init__(name_scope)
        self.first = ConvBNPool(self.full_name(), 3)
        self.second = ConvBNPool(self.full_name(), 4)
        attr = fluid.ParamAttr(initializer=fluid.initializer.Normal(0.0, 0.3), learning_rate=0.5)
        self.forward_in, self.backward_in = (
            FC(self.full_name(), ENCODER * 3, 2, param_attr=attr, bias_attr=False) for _ in range(2)
        )
        self.gru_forward = DynamicGRU(self.full_name(), ENCODER)
        self.gru_backward = DynamicGRU(self.full_name(), ENCODER, is_reverse=True)
        self.encoded_proj_fc = FC(self.full_name(), DECODER, num_flatten_dims=2, bias_attr=False)

    def forward(self, image: Any) -> tuple[Any, Any, Any]:
        features = layers.transpose(self.second(self.first(image)), [0, 3, 1, 2])
        sizes = features.shape
        columns = layers.reshape(features, [-1, sizes[1], sizes[2] * sizes[3]], inplace=False)
        forwards = self.gru_forward(self.forward_in(columns))
        backwards = self.gru_backward(self.backward_in(columns))
        encoded = layers.concat(input=[forwards, backwards], axis=2)
        return backwards, encoded, self.encoded_proj_fc(encoded)


class SimpleAttention(fluid.dygraph.Layer):
    def __init__(self, name_scope: str) -> None:
        super().__init__(name_scope)
        self.fc_1 = FC(self.full_name(), DECODER, bias_attr=False)
        self.fc_2 = FC(self.full_name(), 1, num_flatten_dims=2, bias_attr=False)

    def forward(self, encoded: Any, encoded_proj: Any, state: Any) -> Any:
        state = layers.reshape(self.fc_1(state), [-1, 1, DECODER], inplace=False)
        state = layers.expand(state, [1, encoded_proj.shape[1], 1])
        combined = layers.elementwise_add(encoded_proj, state, act="tanh")
        weights = layers.reshape(self.fc_2(combined), [-1, encoded.shape[1]], inplace=False)
        weights = layers.softmax(weights)
        return layers.reduce_sum(layers.elementwise_mul(x=encoded, y=weights, axis=0), dim=1)


class GRUDecoderWithAttention(fluid.dygraph.Layer):
    """One letter after another; the state of the GRUUnit goes from step to step."""

    def __init__(self, name_scope: str) -> None:
        super().__init__(name_scope)
        self.attention = SimpleAttention(self.full_name())
        self.context_fc = FC(self.full_name(), DECODER * 3, bias_attr=False)
        self.word_fc = FC(self.full_name(), DECODER * 3, bias_attr=False)
        self.gru_unit = GRUUnit(self.full_name(), DECODER * 3)
        self.out_layer = FC(self.full_name(), LETTERS, act="softmax")

    def forward(self, word: Any, state: Any, encoded: Any, encoded_proj: Any) -> tuple[Any, Any]:
        context = self.attention(encoded, encoded_proj, state)
        given = layers.elementwise_add(x=self.context_fc(context), y=self.word_fc(word))
        state, _, _ = self.gru_unit(given, state)
        return self.out_layer(state), state


class OCRAttention(fluid.dygraph.Layer):
    def __init__(self, name_scope: str) -> None:
        super().__init__(name_scope)
        self.encoder_net = EncoderNet(self.full_name())
        self.fc = FC(self.full_name(), size=DECODER, bias_attr=False, act="relu")
        self.embedding = Embedding(self.full_name(), [LETTERS, WORD], dtype="float32")
        self.decoder = GRUDecoderWithAttention(self.full_name())

    def encode(self, image: Any) -> tuple[Any, Any, Any]:
        backwards, encoded, projected = self.encoder_net(image)
        first = layers.slice(backwards, axes=[1], starts=[0], ends=[1])
        return self.fc(layers.reshape(first, [-1, ENCODER], inplace=False)), encoded, projected

    def forward(self, image: Any, label_in: Any) -> Any:
        state, encoded, projected = self.encode(image)
        words = layers.reshape(self.embedding(layers.reshape(label_in, [-1, 1])), [-1, LENGTH, WORD])
        found = []
        for i in range(LENGTH):
            word = layers.reshape(layers.slice(words, axes=[1], starts=[i], ends=[i + 1]), [-1, WORD])
            chances, state = self.decoder(word, state, encoded, projected)
            found.append(layers.reshape(chances, [-1, 1, LETTERS]))
        return layers.concat(found, axis=1)

    def beams(self, image: Any, width: int) -> tuple[Any, Any]:
        """The letters [length, samples, width] of the best ``width`` texts, and the logs of their chances."""
        state, encoded, projected = (_repeated(value, width) for value in self.encode(image))
        score = layers.assign(np.array([[0.0] + [-1e9] * (width - 1)] * BATCH, np.float32))
        ahead = layers.assign(np.arange(0, BATCH * width, width).reshape(-1, 1))
        word = layers.fill_constant([BATCH * width, 1], "int64", START)
        letters, parents = [], []
        for _ in range(LENGTH):
            chances, state = self.decoder(self.embedding(word), state, encoded, projected)
            total = layers.elementwise_add(layers.log(chances), layers.reshape(score, [-1, 1]))
            score, index = layers.topk(layers.reshape(total, [BATCH, -1]), k=width)
            of = layers.fill_constant([1], "int64", LETTERS)
            parent, letter = layers.elementwise_floordiv(index, of), layers.elementwise_mod(index, of)
            rows = layers.elementwise_add(parent, ahead)
            state = layers.gather(state, layers.reshape(rows, [-1]))
            word = layers.reshape(letter, [-1, 1])
            letters.append(letter)
            parents.append(parent)
        return layers.gather_tree(layers.stack(letters), layers.stack(parents)), score


def _repeated(value: Any, times: int) -> Any:
    """Each sample ``times`` times, one after the other."""
    shape = list(value.shape)[1:]
    wide = layers.expand(layers.unsqueeze(value, axes=[1]), [1, times] + [1] * len(shape))
    return layers.reshape(wide, [-1, *shape])


def outputs(net: Any, image: Any, label_in: Any, label_out: Any, mask: Any) -> Any:
    predicted = net(image, label_in)
    label = layers.reshape(label_out, [-1, 1], inplace=False)
    loss = layers.cross_entropy(input=layers.reshape(predicted, [-1, LETTERS], inplace=False), label=label)
    loss = layers.elementwise_mul(loss, layers.reshape(mask, [-1, 1], inplace=False))
    return layers.reduce_sum(loss), predicted


def adadelta(net: Any) -> Any:
    return fluid.optimizer.AdadeltaOptimizer(
        learning_rate=layers.natural_exp_decay(1.0, 2, 0.5, staircase=True),
        epsilon=1e-4,
        rho=0.9,
        regularization=fluid.regularizer.L2Decay(1e-3),
    )


def test_both_modes_train_and_decode_the_same() -> None:
    def infer(net: Any, image: Any, label_in: Any, label_out: Any, mask: Any) -> Any:
        letters, score = net.beams(image, 3)
        greedy, its_score = net.beams(image, 1)
        return letters, score, greedy, its_score

    run = same(
        Task(
            lambda: OCRAttention("ocr_attention"),
            outputs,
            adadelta,
            BATCHES,
            clip=lambda: fluid.dygraph_grad_clip.GradClipByValue(-0.5, 0.5),
            infer=infer,
        )
    )
    letters, score, greedy, its_score = run.inferred
    assert letters.shape == (LENGTH, BATCH, 3)
    assert greedy.shape == (LENGTH, BATCH, 1)
    assert (score[:, :1] >= its_score - 1e-6).all()
    assert (np.diff(score, axis=1) <= 0).all()
    assert len({tuple(letters[:, 0, beam]) for beam in range(3)}) == 3


@pytest.mark.parametrize("width", [1, 2])
def test_beams_are_the_chances_of_their_texts(width: int) -> None:
    with fluid.dygraph.guard():
        net = OCRAttention("ocr_attention")
        image = fluid.dygraph.to_variable(BATCHES[0]["image"])
        net(image, fluid.dygraph.to_variable(BATCHES[0]["label_in"]))
        net.eval()
        letters, score = (value.numpy() for value in net.beams(image, width))
        for beam in range(width):
            text = letters[:, :, beam].T
            before = np.concatenate([np.full((BATCH, 1), START), text[:, :-1]], 1)
            chances = net(image, fluid.dygraph.to_variable(before)).numpy()
            if width == 1:
                np.testing.assert_array_equal(text, chances.argmax(2))
            of_text = np.take_along_axis(np.log(chances), text[..., None], 2).sum((1, 2))
            np.testing.assert_allclose(score[:, beam], of_text, rtol=1e-5)
