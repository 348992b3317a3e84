"""Attention in the manner of 1.8: a decoder with masks, label smoothing, noam decay, and greedy decoding."""
from __future__ import print_function

import numpy as np
import six
import paddle.fluid as fluid
import paddle.fluid.layers as layers
from paddle.fluid.dygraph import Embedding, Layer, LayerNorm, Linear, to_variable

D, HEADS, VOCAB, LENGTH, BOS, EOS = 16, 2, 12, 5, 0, 1


def position_encoding_init(n_position, d_pos_vec):
    position = np.arange(n_position)
    timescales = 10000 ** (-np.arange(d_pos_vec // 2) / max(d_pos_vec // 2 - 1, 1))
    scaled = np.expand_dims(position, 1) * np.expand_dims(timescales, 0)
    return np.concatenate([np.sin(scaled), np.cos(scaled)], axis=1).astype("float32")


class PrePostProcessLayer(Layer):
    def __init__(self, process_cmd, d_model, dropout_rate):
        super(PrePostProcessLayer, self).__init__()
        self.functors = []
        for cmd in process_cmd:
            if cmd == "a":
                self.functors.append(lambda x, y: x + y if y is not None else x)
            elif cmd == "n":
                self.functors.append(self.add_sublayer("layer_norm_%d" % len(self.sublayers(include_sublayers=False)), LayerNorm(
                    normalized_shape=d_model, param_attr=fluid.ParamAttr(initializer=fluid.initializer.Constant(1.)),
                    bias_attr=fluid.ParamAttr(initializer=fluid.initializer.Constant(0.)))))
            elif cmd == "d":
                self.functors.append(lambda x: layers.dropout(x, dropout_prob=dropout_rate, is_test=not self.training))
        self.process_cmd = process_cmd

    def forward(self, x, residual=None):
        for cmd, functor in zip(self.process_cmd, self.functors):
            x = functor(x, residual) if cmd == "a" else functor(x)
        return x


class MultiHeadAttention(Layer):
    def __init__(self, d_model, n_head, dropout_rate=0.):
        super(MultiHeadAttention, self).__init__()
        self.n_head, self.d_key, self.dropout_rate = n_head, d_model // n_head, dropout_rate
        self.q_fc = Linear(d_model, d_model, bias_attr=False)
        self.k_fc = Linear(d_model, d_model, bias_attr=False)
        self.v_fc = Linear(d_model, d_model, bias_attr=False)
        self.proj_fc = Linear(d_model, d_model, bias_attr=False)

    def split(self, x):
        x = layers.reshape(x=x, shape=[0, 0, self.n_head, self.d_key])
        return layers.transpose(x=x, perm=[0, 2, 1, 3])

    def forward(self, queries, keys, values, attn_bias):
        keys = queries if keys is None else keys
        values = keys if values is None else values
        q, k, v = self.split(self.q_fc(queries)), self.split(self.k_fc(keys)), self.split(self.v_fc(values))
        product = layers.matmul(x=q, y=k, transpose_y=True, alpha=self.d_key ** -0.5)
        if attn_bias is not None:
            product += attn_bias
        weights = layers.softmax(product)
        if self.dropout_rate:
            weights = layers.dropout(weights, dropout_prob=self.dropout_rate, is_test=False)
        out = layers.transpose(layers.matmul(weights, v), perm=[0, 2, 1, 3])
        out = layers.reshape(x=out, shape=[0, 0, out.shape[2] * out.shape[3]])
        return self.proj_fc(out)


class FFN(Layer):
    def __init__(self, d_inner, d_model):
        super(FFN, self).__init__()
        self.fc1 = Linear(input_dim=d_model, output_dim=d_inner, act="relu")
        self.fc2 = Linear(input_dim=d_inner, output_dim=d_model)

    def forward(self, x):
        return self.fc2(self.fc1(x))


class Block(Layer):
    def __init__(self, cross):
        super(Block, self).__init__()
        self.pre1, self.att, self.post1 = PrePostProcessLayer("n", D, .1), MultiHeadAttention(D, HEADS), PrePostProcessLayer("da", D, .1)
        if cross:
            self.pre2, self.cross, self.post2 = PrePostProcessLayer("n", D, .1), MultiHeadAttention(D, HEADS), PrePostProcessLayer("da", D, .1)
        self.pre3, self.ffn, self.post3 = PrePostProcessLayer("n", D, .1), FFN(32, D), PrePostProcessLayer("da", D, .1)

    def forward(self, x, bias, memory=None, memory_bias=None):
        x = self.post1(self.att(self.pre1(x), None, None, bias), x)
        if memory is not None:
            x = self.post2(self.cross(self.pre2(x), memory, memory, memory_bias), x)
        return self.post3(self.ffn(self.pre3(x)), x)


class WordEmbedder(Layer):
    def __init__(self):
        super(WordEmbedder, self).__init__()
        self.word = Embedding(size=[VOCAB, D], padding_idx=None,
                              param_attr=fluid.ParamAttr(initializer=fluid.initializer.Normal(0., D ** -0.5)))
        self.pos = Embedding(size=[LENGTH + 2, D], param_attr=fluid.ParamAttr(
            initializer=fluid.initializer.NumpyArrayInitializer(position_encoding_init(LENGTH + 2, D)), trainable=False))

    def forward(self, words):
        pos = to_variable(np.tile(np.arange(words.shape[1], dtype='int64'), (words.shape[0], 1)))
        emb = layers.scale(x=self.word(words), scale=D ** 0.5)
        pos_enc = self.pos(pos)
        pos_enc.stop_gradient = True
        return emb + pos_enc


class Transformer(Layer):
    def __init__(self):
        super(Transformer, self).__init__()
        self.src, self.trg = WordEmbedder(), WordEmbedder()
        self.encoder, self.decoder = Block(False), Block(True)
        self.out = Linear(D, VOCAB, bias_attr=False)

    def forward(self, src, trg):
        memory = self.encoder(self.src(src), None)
        n = trg.shape[1]
        bias = to_variable(np.triu(np.full((1, 1, n, n), -1e9, 'float32'), 1))
        return self.out(self.decoder(self.trg(trg), bias, memory, None))

    def greedy(self, src):
        words = np.full((src.shape[0], 1), BOS, 'int64')
        for _ in six.moves.range(LENGTH):
            logits = self(src, to_variable(words))
            _, best = layers.topk(layers.softmax(logits[:, -1]), k=1)
            words = np.concatenate([words, best.numpy()], 1)
        return words[:, 1:]


class CrossEntropyCriterion(object):
    def __init__(self, label_smooth_eps):
        self.label_smooth_eps = label_smooth_eps

    def __call__(self, predict, label, weights):
        label_out = layers.label_smooth(label=layers.one_hot(input=label, depth=predict.shape[-1]), epsilon=self.label_smooth_eps)
        cost = layers.softmax_with_cross_entropy(logits=predict, label=label_out, soft_label=True)
        weighted_cost = cost * weights
        sum_cost = layers.reduce_sum(weighted_cost)
        token_num = layers.reduce_sum(weights)
        token_num.stop_gradient = True
        return sum_cost, sum_cost / token_num, token_num


def batches():
    while True:
        src = np.random.randint(2, VOCAB, (16, LENGTH)).astype('int64')
        trg = np.concatenate([np.full((16, 1), BOS), src[:, ::-1]], 1).astype('int64')
        yield src, trg[:, :-1], trg[:, 1:]


with fluid.dygraph.guard():
    np.random.seed(0)
    fluid.default_startup_program().random_seed = 1
    fluid.default_main_program().random_seed = 1
    transformer, criterion = Transformer(), CrossEntropyCriterion(0.1)
    optimizer = fluid.optimizer.Adam(
        learning_rate=fluid.layers.noam_decay(D, 60, learning_rate=0.5),
        beta1=0.9, beta2=0.997, epsilon=1e-9, parameter_list=transformer.parameters())
    transformer.train()
    for step_idx, (src, trg, lbl) in zip(range(300), batches()):
        logits = transformer(to_variable(src), to_variable(trg))
        logits = layers.reshape(logits, [-1, VOCAB])
        weights = to_variable(np.ones((lbl.size, 1), 'float32'))
        sum_cost, avg_cost, token_num = criterion(logits, to_variable(lbl.reshape(-1, 1)), weights)
        avg_cost.backward()
        optimizer.minimize(avg_cost)
        transformer.clear_gradients()
        if step_idx % 100 == 0:
            total_avg_cost = avg_cost.numpy()
            print("step_idx: %d, avg loss: %f, normalized loss: %f, ppl: %f" % (
                step_idx, total_avg_cost, total_avg_cost - 0.3, np.exp(min(total_avg_cost, 100))))
    transformer.eval()
    src, _, lbl = next(batches())
    print('right', (transformer.greedy(to_variable(src)) == lbl).mean() > 0.5, token_num.numpy())
