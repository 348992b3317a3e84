"""Sentiment of padded sentences in DyGraph of 1.7: DataLoader.from_generator, a text CNN, metrics."""

import argparse

import numpy as np
import paddle.fluid as fluid
from paddle.fluid.dygraph import Embedding, Linear
from paddle.fluid.dygraph.nn import Conv2D

parser = argparse.ArgumentParser()
parser.add_argument("--batch_size", type=int, default=16)
parser.add_argument("--vocab_size", type=int, default=30)
parser.add_argument("--padding_size", type=int, default=12)
parser.add_argument("--lr", type=float, default=0.05)
args = parser.parse_args()


class CNN(fluid.dygraph.Layer):
    def __init__(self, dict_dim, seq_len, hid_dim=16, win_size=3):
        super(CNN, self).__init__()
        self.dict_dim, self.emb_dim, self.seq_len = dict_dim, 8, seq_len
        self.embedding = Embedding(size=[dict_dim + 1, self.emb_dim], dtype="float32", is_sparse=False)
        self._conv = Conv2D(
            num_channels=1,
            num_filters=hid_dim,
            filter_size=[win_size, self.emb_dim],
            padding=[1, 0],
            act="tanh",
        )
        self._fc1 = Linear(input_dim=hid_dim, output_dim=16, act="softmax")
        self._fc_prediction = Linear(input_dim=16, output_dim=2, act="softmax")

    def forward(self, inputs, label=None):
        emb = self.embedding(inputs)
        mask = (inputs != self.dict_dim).astype("float32")
        mask = fluid.layers.unsqueeze(mask, [2]) if len(mask.shape) == 2 else mask
        emb = fluid.layers.expand_as(mask, emb) * emb
        emb = fluid.layers.reshape(emb, shape=[-1, 1, self.seq_len, self.emb_dim])
        conv = self._conv(emb)
        pooled = fluid.layers.reduce_max(conv, dim=[2, 3])
        prediction = self._fc_prediction(self._fc1(pooled))
        if label is not None:
            cost = fluid.layers.cross_entropy(input=prediction, label=label)
            avg_cost = fluid.layers.mean(x=cost)
            acc = fluid.layers.accuracy(input=prediction, label=label)
            return avg_cost, prediction, acc
        return prediction


def sentences(seed, count=320):
    def reader():
        rng = np.random.RandomState(seed)
        for _ in range(count):
            length = rng.randint(4, args.padding_size + 1)
            words = rng.randint(2, args.vocab_size, length)
            label = int(rng.randint(2))
            words[rng.randint(length)] = label
            doc = np.full(args.padding_size, args.vocab_size)
            doc[:length] = words
            yield doc.astype("int64"), np.array([label], "int64")

    return reader


def train():
    place = fluid.CPUPlace()
    with fluid.dygraph.guard(place):
        fluid.default_startup_program().random_seed = 90
        fluid.default_main_program().random_seed = 90
        train_loader = fluid.io.DataLoader.from_generator(capacity=24)
        train_loader.set_sample_generator(sentences(1), batch_size=args.batch_size, places=place)
        eval_loader = fluid.io.DataLoader.from_generator(capacity=24, return_list=True)
        eval_loader.set_sample_generator(sentences(2, 96), batch_size=args.batch_size, places=place)
        model = CNN(args.vocab_size, args.padding_size)
        sgd_optimizer = fluid.optimizer.Adagrad(learning_rate=args.lr, parameter_list=model.parameters())
        steps = 0
        for eop in range(4):
            for batch_id, (doc, label) in enumerate(train_loader()):
                steps += 1
                label.stop_gradient = True
                model.train()
                avg_cost, prediction, acc = model(doc, label)
                avg_cost.backward()
                sgd_optimizer.minimize(avg_cost)
                model.clear_gradients()
                if steps % 20 == 0:
                    print("step: %d, ave loss: %f, ave acc: %f" % (steps, avg_cost.numpy(), acc.numpy()))
                if batch_id == 2 and eop == 0:
                    break
            model.eval()
            accuracy = fluid.metrics.Accuracy()
            for doc, label in eval_loader():
                avg_cost, prediction, acc = model(doc, label)
                accuracy.update(acc.numpy(), label.shape[0])
            print("Final validation result: step: %d, ave acc: %f" % (steps, accuracy.eval()))
        assert accuracy.eval() > 0.9, accuracy.eval()
        fluid.dygraph.save_dygraph(model.state_dict(), "save_dir/cnn")

    with fluid.dygraph.guard(place):
        infer = CNN(args.vocab_size, args.padding_size)
        params, _ = fluid.load_dygraph("save_dir/cnn")
        infer.set_dict(params)
        infer.eval()
        for doc, label in eval_loader():
            print("again", np.mean(infer(doc).numpy().argmax(1) == label.numpy()[:, 0]) > 0.8)
            break


if __name__ == "__main__":
    train()
