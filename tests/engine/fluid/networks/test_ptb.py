"""A language model of stacked LSTMs: parameters made in ``_build_once``, states carried from step to step."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine import fluid
from engine.fluid.dygraph import Embedding
from tests.engine.fluid.networks.training import STEPS, Task, same

RNG = np.random.default_rng(4)
BATCH, LENGTH, HIDDEN, LAYERS, WORDS, SCALE = 3, 4, 6, 2, 11, 0.1
STATE = np.zeros((LAYERS, BATCH, HIDDEN), np.float32)
BATCHES = [
    {
        "x": RNG.integers(0, WORDS, (BATCH, LENGTH, 1)),
        "y": RNG.integers(0, WORDS, (BATCH * LENGTH, 1)),
        "init_hidden": STATE,
        "init_cell": STATE,
    }
    for _ in range(STEPS)
]


def uniform() -> Any:
    return fluid.initializer.UniformInitializer(low=-SCALE, high=SCALE)


class SimpleLSTMRNN(fluid.dygraph.Layer):
    def __init__(self, name_scope: str, dropout: float) -> None:
        super().__init__(name_scope)
        self._dropout = dropout
        self.weights: list[Any] = []
        self.biases: list[Any] = []

    def _build_once(self, embedding: Any, init_hidden: Any, init_cell: Any) -> None:
        for i in range(LAYERS):
            weight = self.create_parameter(
                attr=fluid.ParamAttr(initializer=uniform()),
                shape=[HIDDEN * 2, HIDDEN * 4],
                dtype="float32",
                default_initializer=uniform(),
            )
            self.weights.append(self.add_parameter(f"w_{i}", weight))
            bias = self.create_parameter(
                attr=fluid.ParamAttr(initializer=uniform()),
                shape=[HIDDEN * 4],
                dtype="float32",
                default_initializer=fluid.initializer.Constant(0.0),
            )
            self.biases.append(self.add_parameter(f"b_{i}", bias))

    def forward(self, embedding: Any, init_hidden: Any, init_cell: Any) -> Any:
        hidden, cell = ([self._layer(state, i) for i in range(LAYERS)] for state in (init_hidden, init_cell))
        rows = []
        for index in range(LENGTH):
            x = fluid.layers.slice(embedding, axes=[1], starts=[index], ends=[index + 1])
            x = fluid.layers.reshape(x, shape=[-1, HIDDEN])
            for k in range(LAYERS):
                joined = fluid.layers.concat([x, hidden[k]], 1)
                gates = fluid.layers.matmul(x=joined, y=self.weights[k])
                gates = fluid.layers.elementwise_add(gates, self.biases[k])
                i, j, f, o = fluid.layers.split(gates, num_or_sections=4, dim=-1)
                cell[k] = cell[k] * fluid.layers.sigmoid(f) + fluid.layers.sigmoid(i) * fluid.layers.tanh(j)
                x = hidden[k] = fluid.layers.tanh(cell[k]) * fluid.layers.sigmoid(o)
                if self._dropout:
                    x = fluid.layers.dropout(
                        x, dropout_prob=self._dropout, dropout_implementation="upscale_in_train"
                    )
            rows.append(fluid.layers.reshape(x, shape=[1, -1, HIDDEN]))
        output = fluid.layers.transpose(fluid.layers.concat(rows, 0), perm=[1, 0, 2])
        return output, self._joined(hidden), self._joined(cell)

    def _layer(self, state: Any, i: int) -> Any:
        chosen = fluid.layers.slice(state, axes=[0], starts=[i], ends=[i + 1])
        return fluid.layers.reshape(chosen, shape=[-1, HIDDEN])

    def _joined(self, states: list[Any]) -> Any:
        joined = fluid.layers.reshape(fluid.layers.concat(states, 1), shape=[-1, LAYERS, HIDDEN])
        return fluid.layers.transpose(joined, perm=[1, 0, 2])


class PtbModel(fluid.dygraph.Layer):
    def __init__(self, name_scope: str, dropout: float) -> None:
        super().__init__(name_scope)
        self._dropout = dropout
        self.lstm = SimpleLSTMRNN(self.full_name(), dropout)
        self.embedding = Embedding(
            self.full_name(),
            size=[WORDS, HIDDEN],
            dtype="float32",
            is_sparse=False,
            param_attr=fluid.ParamAttr(name="embedding_para", initializer=uniform()),
        )
        self.softmax_weight = self.create_parameter(
            attr=fluid.ParamAttr(), shape=[HIDDEN, WORDS], dtype="float32", default_initializer=uniform()
        )
        self.softmax_bias = self.create_parameter(
            attr=fluid.ParamAttr(), shape=[WORDS], dtype="float32", default_initializer=uniform()
        )

    def build_once(self, *inputs: Any) -> None:
        raise AssertionError("scripts of 1.5 have such a method, which is never called")

    def forward(self, x: Any, y: Any, init_hidden: Any, init_cell: Any) -> Any:
        embedded = fluid.layers.reshape(self.embedding(x), shape=[-1, LENGTH, HIDDEN])
        if self._dropout:
            embedded = fluid.layers.dropout(
                embedded, dropout_prob=self._dropout, dropout_implementation="upscale_in_train"
            )
        output, hidden, cell = self.lstm(embedded, init_hidden, init_cell)
        projection = fluid.layers.matmul(output, self.softmax_weight)
        projection = fluid.layers.elementwise_add(projection, self.softmax_bias)
        projection = fluid.layers.reshape(projection, shape=[-1, WORDS])
        loss = fluid.layers.softmax_with_cross_entropy(logits=projection, label=y, soft_label=False)
        loss = fluid.layers.reshape(loss, shape=[-1, LENGTH])
        loss = fluid.layers.reduce_sum(fluid.layers.reduce_mean(loss, dim=[0]))
        loss.permissions = True
        return loss, hidden, cell


def outputs(net: Any, **inputs: Any) -> Any:
    return net(**inputs)


def sgd(net: Any) -> Any:
    if not fluid.in_dygraph_mode():
        fluid.clip.set_gradient_clip(clip=fluid.clip.GradientClipByGlobalNorm(clip_norm=0.2))
    rate = fluid.layers.piecewise_decay([2, 4], [1.0, 0.5, 0.25])
    return fluid.optimizer.SGDOptimizer(learning_rate=rate)


def clip() -> Any:
    """In a guard ``minimize`` clips, in static mode the parameters are marked."""
    return fluid.dygraph_grad_clip.GradClipByGlobalNorm(0.2) if fluid.in_dygraph_mode() else None


def test_both_modes_train_the_same() -> None:
    task = Task(
        lambda: PtbModel("ptb_model", dropout=0.2),
        outputs,
        sgd,
        BATCHES,
        clip,
        carried={"init_hidden": 1, "init_cell": 2},
        infer=outputs,
    )
    run = same(task)
    assert sorted(run.first) == [
        "ptb_model/PtbModel_0.w_0",
        "ptb_model/PtbModel_0.w_1",
        "ptb_model/PtbModel_0/Embedding_0.embedding_para",
        *(f"ptb_model/PtbModel_0/SimpleLSTMRNN_0.w_{n}" for n in range(4)),
    ]
    moved = sum(np.square(run.last[name] - value).sum() for name, value in run.first.items()) ** 0.5
    assert 0.2 < moved < 0.2 * (1.0 + 1.0 + 0.5 + 0.5 + 0.25) + 1e-4
