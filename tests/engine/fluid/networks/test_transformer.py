"""A Transformer: masks, positions that do not train, one weight at both ends, label smoothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine import fluid
from engine.fluid import layers
from engine.fluid.dygraph import FC, Embedding, LayerNorm
from tests.engine.fluid.networks.training import STEPS, Arrays, Task, same

BATCH, LENGTH, WORDS, MODEL, HEADS, INNER, DROP = 2, 5, 13, 8, 2, 12, 0.2
LENGTHS = np.array([5, 3])


def positions() -> Any:
    """Sines and cosines of the positions, as in the paper."""
    angle = np.arange(LENGTH)[:, None] / 10000.0 ** (np.arange(MODEL // 2) / (MODEL / 2))
    return np.concatenate([np.sin(angle), np.cos(angle)], 1).astype(np.float32)


def batch(rng: np.random.Generator) -> Arrays:
    inside = np.arange(LENGTH) < LENGTHS[:, None]
    padding = np.where(inside, 0.0, -1e9)[:, None, None, :]
    shape = (BATCH, HEADS, LENGTH, LENGTH)
    padded = np.broadcast_to(padding, shape).astype(np.float32)
    later = np.triu(np.full((LENGTH, LENGTH), -1e9), 1)
    place = np.where(inside, np.arange(LENGTH), 0)[..., None]
    return {
        "src_word": rng.integers(1, WORDS, (BATCH, LENGTH, 1)),
        "src_pos": place,
        "src_bias": padded,
        "trg_word": rng.integers(1, WORDS, (BATCH, LENGTH, 1)),
        "trg_pos": place,
        "trg_bias": np.maximum(padded + later, -1e9).astype(np.float32),
        "label": rng.integers(1, WORDS, (BATCH * LENGTH, 1)),
        "weights": inside.reshape(-1, 1).astype(np.float32),
    }


RNG = np.random.default_rng(5)
BATCHES = [batch(RNG) for _ in range(STEPS)]


class PrePostProcessLayer(fluid.dygraph.Layer):
    """'a' adds what stood before, 'n' normalizes, 'd' drops."""

    def __init__(self, name_scope: str, process_cmd: str) -> None:
        super().__init__(name_scope)
        self.process_cmd = process_cmd
        for cmd in process_cmd:
            if cmd == "n":
                self._layer_norm = LayerNorm(
                    self.full_name(),
                    begin_norm_axis=2,
                    param_attr=fluid.ParamAttr(initializer=fluid.initializer.Constant(1.0)),
                    bias_attr=fluid.ParamAttr(initializer=fluid.initializer.Constant(0.0)),
                )

    def forward(self, prev_out: Any, out: Any) -> Any:
        for cmd in self.process_cmd:
            if cmd == "a":
                out = out + prev_out if prev_out is not None else out
            elif cmd == "n":
                out = self._layer_norm(out)
            elif DROP:
                out = layers.dropout(
                    out, dropout_prob=DROP, seed=10, is_test=False, dropout_implementation="upscale_in_train"
                )
        return out


class MultiHeadAttention(fluid.dygraph.Layer):
    def __init__(self, name_scope: str) -> None:
        super().__init__(name_scope)
        self._q_fc, self._k_fc, self._v_fc, self._proj_fc = (
            FC(name_scope=self.full_name(), size=MODEL, bias_attr=False, num_flatten_dims=2) for _ in range(4)
        )

    def forward(self, queries: Any, keys: Any, values: Any, attn_bias: Any) -> Any:
        keys = queries if keys is None else keys
        values = keys if values is None else values
        q, k, v = (
            self._heads(self._q_fc(queries)),
            self._heads(self._k_fc(keys)),
            self._heads(self._v_fc(values)),
        )
        product = layers.matmul(x=q, y=k, transpose_y=True, alpha=(MODEL // HEADS) ** -0.5)
        weights = layers.softmax(product + attn_bias)
        weights = layers.dropout(weights, DROP, seed=11, dropout_implementation="upscale_in_train")
        out = layers.transpose(layers.matmul(weights, v), perm=[0, 2, 1, 3])
        return self._proj_fc(layers.reshape(out, shape=[0, 0, MODEL], inplace=False))

    def _heads(self, x: Any) -> Any:
        x = layers.reshape(x=x, shape=[0, 0, HEADS, MODEL // HEADS], inplace=False)
        return layers.transpose(x=x, perm=[0, 2, 1, 3])


class FeedForward(fluid.dygraph.Layer):
    def __init__(self, name_scope: str) -> None:
        super().__init__(name_scope)
        self._i2h = FC(name_scope=self.full_name(), size=INNER, num_flatten_dims=2, act="relu")
        self._h2o = FC(name_scope=self.full_name(), size=MODEL, num_flatten_dims=2)

    def forward(self, x: Any) -> Any:
        return self._h2o(self._i2h(x))


class Block(fluid.dygraph.Layer):
    """Self-attention, in a decoder attention to the encoder, and the feed-forward part."""

    def __init__(self, name_scope: str, decodes: bool) -> None:
        super().__init__(name_scope)
        self._pre, self._post, self._parts = [], [], []
        kinds = [MultiHeadAttention] * (1 + decodes) + [FeedForward]
        for n, kind in enumerate(kinds):
            self._pre.append(self.add_sublayer(f"pre_{n}", PrePostProcessLayer(self.full_name(), "n")))
            self._parts.append(self.add_sublayer(f"part_{n}", kind(self.full_name())))
            self._post.append(self.add_sublayer(f"post_{n}", PrePostProcessLayer(self.full_name(), "da")))

    def forward(self, x: Any, bias: Any, encoded: Any = None, encoded_bias: Any = None) -> Any:
        arguments = [(None, None, bias), (encoded, encoded, encoded_bias)][: len(self._parts) - 1]
        for pre, part, post, given in zip(self._pre, self._parts, self._post, [*arguments, ()], strict=True):
            x = post(x, part(pre(None, x), *given))
        return x


class PrepareEmbedding(fluid.dygraph.Layer):
    def __init__(self, name_scope: str) -> None:
        super().__init__(name_scope)
        normal = fluid.initializer.Normal(0.0, MODEL**-0.5)
        self._word = Embedding(
            name_scope=self.full_name(),
            size=[WORDS, MODEL],
            padding_idx=0,
            param_attr=fluid.ParamAttr(name="word_emb", initializer=normal),
        )
        table = fluid.initializer.NumpyArrayInitializer(positions())
        self._position = Embedding(
            name_scope=self.full_name(),
            size=[LENGTH, MODEL],
            param_attr=fluid.ParamAttr(name="pos_enc", initializer=table, trainable=False),
        )

    def forward(self, word: Any, place: Any) -> Any:
        scaled = layers.scale(x=self._word(word), scale=MODEL**0.5)
        position = self._position(place)
        position.stop_gradient = True
        return layers.dropout(
            scaled + position, dropout_prob=DROP, dropout_implementation="upscale_in_train", is_test=False
        )


class Transformer(fluid.dygraph.Layer):
    def __init__(self, name_scope: str) -> None:
        super().__init__(name_scope)
        self._source = PrepareEmbedding(self.full_name())
        self._target = PrepareEmbedding(self.full_name())
        self._encoder = self.add_sublayer("encoder", Block(self.full_name(), False))
        self._encoded = PrePostProcessLayer(self.full_name(), "n")
        self._decoder = self.add_sublayer("decoder", Block(self.full_name(), True))
        self._decoded = PrePostProcessLayer(self.full_name(), "n")

    def forward(self, inputs: dict[str, Any]) -> Any:
        encoded = self._source(inputs["src_word"], inputs["src_pos"])
        encoded = self._encoded(None, self._encoder(encoded, inputs["src_bias"]))
        decoded = self._target(inputs["trg_word"], inputs["trg_pos"])
        decoded = self._decoder(decoded, inputs["trg_bias"], encoded, inputs["src_bias"])
        decoded = layers.reshape(self._decoded(None, decoded), shape=[-1, MODEL], inplace=False)
        return layers.matmul(x=decoded, y=self._target._word._w, transpose_y=True)


def outputs(net: Any, label: Any, weights: Any, **inputs: Any) -> Any:
    predict = net(inputs)
    soft = layers.label_smooth(label=layers.one_hot(input=label, depth=WORDS), epsilon=0.1)
    cost = layers.softmax_with_cross_entropy(logits=predict, label=soft, soft_label=True)
    weighted = cost * weights
    sum_cost = layers.reduce_sum(weighted)
    token_num = layers.reduce_sum(weights)
    token_num.stop_gradient = True
    return sum_cost / token_num, sum_cost, predict, token_num


def infer(net: Any, label: Any, weights: Any, **inputs: Any) -> Any:
    return net(inputs)


def adam(net: Any) -> Any:
    return fluid.optimizer.AdamOptimizer(
        learning_rate=layers.noam_decay(MODEL, 3), beta1=0.9, beta2=0.98, epsilon=1e-9
    )


def test_both_modes_train_the_same() -> None:
    run = same(Task(lambda: Transformer("transformer"), outputs, adam, BATCHES, infer=infer))
    fixed = [name for name in run.last if name.endswith("pos_enc")]
    assert len(fixed) == 2
    for name in fixed:
        np.testing.assert_array_equal(run.last[name], positions())
        assert name not in run.first
    assert [rows[3][0] for rows in run.outputs] == [LENGTHS.sum()] * STEPS
    padding = next(name for name in run.first if "PrepareEmbedding_0" in name)
    np.testing.assert_array_equal(run.last[padding][0], run.first[padding][0])  # no gradient reaches it
