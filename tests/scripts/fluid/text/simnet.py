"""Matching of sentences in the manner of 1.8: an encoder in its own file's classes, hinge loss, declarative."""
from __future__ import print_function

import collections
import time

import numpy as np
import six
import paddle.fluid as fluid
import paddle.fluid.layers as layers
from paddle.fluid.dygraph import Embedding, GRUUnit, Layer, Linear, declarative, to_variable
import paddle.fluid.param_attr as attr

VOCAB, DIM, SEQ, BATCH = 40, 16, 6, 8


class EmbeddingLayer(object):
    def __init__(self, dict_size, emb_dim, name="emb", padding_idx=None):
        self.dict_size, self.emb_dim, self.name, self.padding_idx = dict_size, emb_dim, name, padding_idx

    def ops(self):
        return Embedding(size=[self.dict_size, self.emb_dim], is_sparse=True, padding_idx=self.padding_idx,
                         param_attr=attr.ParamAttr(name=self.name, initializer=fluid.initializer.Xavier()))


class DynamicGRU(Layer):
    def __init__(self, size, param_attr=None, bias_attr=None, is_reverse=False, init_size=None):
        super(DynamicGRU, self).__init__()
        self.gru_unit = GRUUnit(size * 3, param_attr=param_attr, bias_attr=bias_attr)
        self.size, self.is_reverse = size, is_reverse

    def forward(self, inputs):
        hidden = to_variable(np.zeros((inputs.shape[0], self.size), dtype='float32'))
        res = []
        for i in range(inputs.shape[1]):
            if self.is_reverse:
                i = inputs.shape[1] - 1 - i
            input_ = inputs[:, i:i + 1, :]
            input_ = layers.reshape(input_, [-1, input_.shape[2]], inplace=False)
            hidden, reset, gate = self.gru_unit(input_, hidden)
            res.append(layers.reshape(hidden, [-1, 1, hidden.shape[1]], inplace=False))
        if self.is_reverse:
            res = res[::-1]
        return layers.concat(res, axis=1)


class HingeLoss(object):
    def __init__(self, conf_dict):
        self.margin = conf_dict["loss"]["margin"]

    def compute(self, pos, neg):
        return layers.reduce_mean(layers.relu(layers.elementwise_add(
            layers.elementwise_sub(neg, pos),
            layers.fill_constant_batch_size_like(pos, shape=[-1, 1], dtype='float32', value=self.margin))))


class GRU(Layer):
    def __init__(self, conf_dict):
        super(GRU, self).__init__()
        self.emb_layer = EmbeddingLayer(VOCAB, DIM, padding_idx=0).ops()
        self.fc_in = Linear(DIM, 3 * conf_dict['gru_dim'])
        self.gru = DynamicGRU(conf_dict['gru_dim'], init_size=DIM)
        self.proj_layer = Linear(conf_dict['gru_dim'], 16, act='tanh')

    def encode(self, ids):
        emb = self.emb_layer(ids)
        emb = layers.reshape(emb, shape=[-1, SEQ, DIM])
        h = self.gru(self.fc_in(emb))
        return self.proj_layer(layers.reduce_max(layers.tanh(h), dim=1))

    def forward(self, left, right):
        left, right = self.encode(left), self.encode(right)
        return layers.cos_sim(left, right)


def pairs():
    while True:
        left = np.random.randint(1, 20, (BATCH, SEQ))
        right = np.where(np.random.rand(BATCH, SEQ) < .2, np.random.randint(1, 20, (BATCH, SEQ)), left + 20)
        yield left.astype('int64'), right.astype('int64'), np.roll(right, 1, 0).astype('int64')


def train(conf_dict):
    net = GRU(conf_dict)
    loss = HingeLoss(conf_dict)
    optimizer = fluid.optimizer.AdamOptimizer(
        0.01, 0.9, 0.999, 1e-8, parameter_list=net.parameters(),
        grad_clip=fluid.clip.GradientClipByGlobalNorm(5.0))
    metric = fluid.metrics.Auc(name="auc")
    losses = []
    for step, (left, right, neg) in zip(six.moves.range(60), pairs()):
        left, right, neg = [to_variable(each.reshape(-1, 1)) for each in (left, right, neg)]
        pos_score = net(left, right)
        neg_score = net(left, neg)
        avg_cost = loss.compute(pos_score, neg_score)
        losses.append(np.mean(avg_cost.numpy()))
        avg_cost.backward()
        optimizer.minimize(avg_cost)
        net.clear_gradients()
        if step >= 40:
            scores = np.concatenate([pos_score.numpy(), neg_score.numpy()])
            labels = np.repeat([1, 0], BATCH).reshape(-1, 1)
            metric.update(preds=np.hstack([1 - (scores + 1) / 2, (scores + 1) / 2]), labels=labels)
        if step % 20 == 0:
            print("step: %d, average cost: %f, time: %s" % (step, losses[-1], time.strftime("%Y")))
    print("AUC of test: %.2f" % metric.eval(), losses[-1] < losses[0])
    return net


if __name__ == "__main__":
    conf = collections.OrderedDict([("loss", {"margin": 0.1}), ("gru_dim", 16)])
    with fluid.dygraph.guard():
        fluid.default_startup_program().random_seed = 1
        fluid.default_main_program().random_seed = 1
        np.random.seed(1)
        net = train(conf)
        fluid.save_dygraph(net.state_dict(), "simnet")
        model, _ = fluid.dygraph.load_dygraph("simnet")
        net.set_dict(model)
        net.eval()
        print("parameters", len(model), sorted(model)[0])
