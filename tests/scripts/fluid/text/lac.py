"""Words and their tags in the manner of 1.8: stacked GRUs in both directions, a CRF whose Layers append operators."""
import argparse
import math
import os
import time

import numpy as np
import paddle
import paddle.fluid as fluid
from paddle.fluid.dygraph import to_variable
from paddle.fluid.dygraph.nn import Embedding, GRUUnit, Linear

np.set_printoptions(threshold=np.inf)

parser = argparse.ArgumentParser(__doc__)
parser.add_argument("--batch_size", type=int, default=8)
parser.add_argument("--word_emb_dim", type=int, default=16)
parser.add_argument("--grnn_hidden_dim", type=int, default=16)
parser.add_argument("--bigru_num", type=int, default=2)
parser.add_argument("--base_learning_rate", type=float, default=0.01)
parser.add_argument("--emb_learning_rate", type=float, default=2.0)
parser.add_argument("--crf_learning_rate", type=float, default=0.2)
parser.add_argument("--epoch", type=int, default=2)
parser.add_argument("--print_steps", type=int, default=10)
parser.add_argument("--validation_steps", type=int, default=25)
parser.add_argument("--save_steps", type=int, default=40)
parser.add_argument("--model_save_dir", type=str, default="./lac_models")
parser.add_argument("--use_cuda", type=bool, default=False)


def uniform(bound):
    return fluid.ParamAttr(
        initializer=fluid.initializer.Uniform(low=-bound, high=bound),
        regularizer=fluid.regularizer.L2DecayRegularizer(regularization_coeff=1e-4))


class DynamicGRU(fluid.dygraph.Layer):
    def __init__(self, size, h_0=None, param_attr=None, bias_attr=None, is_reverse=False):
        super(DynamicGRU, self).__init__()
        self.gru_unit = GRUUnit(size * 3, param_attr=param_attr, bias_attr=bias_attr, activation='tanh',
                                gate_activation='sigmoid', origin_mode=False)
        self.size, self.h_0, self.is_reverse = size, h_0, is_reverse

    def forward(self, inputs):
        hidden, res = self.h_0, []
        for i in range(inputs.shape[1]):
            if self.is_reverse:
                i = inputs.shape[1] - 1 - i
            input_ = fluid.layers.reshape(inputs[:, i:i + 1, :], [-1, inputs.shape[2]], inplace=False)
            hidden, reset, gate = self.gru_unit(input_, hidden)
            res.append(fluid.layers.reshape(hidden, [-1, 1, hidden.shape[1]], inplace=False))
        if self.is_reverse:
            res = res[::-1]
        return fluid.layers.concat(res, axis=1)


class BiGRU(fluid.dygraph.Layer):
    def __init__(self, input_dim, hidden_dim, init_bound, h_0=None):
        super(BiGRU, self).__init__()
        self.pre_gru = Linear(input_dim=input_dim, output_dim=hidden_dim * 3, param_attr=uniform(init_bound))
        self.gru = DynamicGRU(size=hidden_dim, h_0=h_0, param_attr=uniform(init_bound))
        self.pre_gru_r = Linear(input_dim=input_dim, output_dim=hidden_dim * 3, param_attr=uniform(init_bound))
        self.gru_r = DynamicGRU(size=hidden_dim, is_reverse=True, h_0=h_0, param_attr=uniform(init_bound))

    def forward(self, input_feature):
        forward = self.gru(self.pre_gru(input_feature))
        backward = self.gru_r(self.pre_gru_r(input_feature))
        return fluid.layers.concat(input=[forward, backward], axis=-1)


class Crf(fluid.dygraph.Layer):
    """What Linear_chain_crf and Crf_decoding share: the parameter that a name joins."""

    def __init__(self, param_attr, size=None, is_test=False, dtype='float32'):
        super(Crf, self).__init__()
        self._dtype, self._is_test = dtype, is_test
        self._transition = self.create_parameter(attr=param_attr, shape=[size + 2, size], dtype=self._dtype)

    @property
    def weight(self):
        return self._transition

    @weight.setter
    def weight(self, value):
        self._transition = value

    def _outputs(self, number):
        return [self._helper.create_variable_for_type_inference(dtype=self._dtype) for _ in range(number)]


class Linear_chain_crf(Crf):
    def forward(self, input, label, length=None):
        alpha, emission_exps, transition_exps, log_likelihood = self._outputs(4)
        this_inputs = {"Emission": [input], "Transition": self._transition, "Label": [label]}
        if length:
            this_inputs['Length'] = [length]
        self._helper.append_op(
            type='linear_chain_crf', inputs=this_inputs,
            outputs={"Alpha": [alpha], "EmissionExps": [emission_exps], "TransitionExps": transition_exps,
                     "LogLikelihood": log_likelihood},
            attrs={"is_test": self._is_test})
        return log_likelihood


class Crf_decoding(Crf):
    def forward(self, input, label=None, length=None):
        viterbi_path, = self._outputs(1)
        this_inputs = {"Emission": [input], "Transition": self._transition, "Label": label}
        if length:
            this_inputs['Length'] = [length]
        self._helper.append_op(type='crf_decoding', inputs=this_inputs,
                               outputs={"ViterbiPath": [viterbi_path]}, attrs={"is_test": self._is_test})
        return viterbi_path


class Chunk_eval(fluid.dygraph.Layer):
    def __init__(self, num_chunk_types, chunk_scheme, excluded_chunk_types=None):
        super(Chunk_eval, self).__init__()
        self.attrs = {"num_chunk_types": num_chunk_types, "chunk_scheme": chunk_scheme,
                      "excluded_chunk_types": excluded_chunk_types or []}

    def forward(self, input, label, seq_length=None):
        names = ["Precision", "Recall", "F1-Score", "NumInferChunks", "NumLabelChunks", "NumCorrectChunks"]
        made = [self._helper.create_variable_for_type_inference(dtype="float32" if i < 3 else "int64")
                for i in range(6)]
        this_input = {"Inference": [input], "Label": [label]}
        if seq_length:
            this_input["SeqLength"] = [seq_length]
        self._helper.append_op(type='chunk_eval', inputs=this_input,
                               outputs={name: [each] for name, each in zip(names, made)}, attrs=self.attrs)
        return tuple(made)


class lex_net(fluid.dygraph.Layer):
    def __init__(self, args, vocab_size, num_labels, length=None):
        super(lex_net, self).__init__()
        self.emb_lr = args.emb_learning_rate if 'emb_learning_rate' in dir(args) else 1.0
        self.crf_lr = args.crf_learning_rate if 'crf_learning_rate' in dir(args) else 1.0
        self.bigru_num, self.init_bound = args.bigru_num, 0.1
        self.word_embedding = Embedding(
            size=[vocab_size, args.word_emb_dim], dtype='float32',
            param_attr=fluid.ParamAttr(
                learning_rate=self.emb_lr, name="word_emb",
                initializer=fluid.initializer.Uniform(low=-self.init_bound, high=self.init_bound)))
        h_0 = to_variable(np.zeros((args.batch_size, args.grnn_hidden_dim), dtype="float32"))
        self.bigru_units = []
        for i in range(self.bigru_num):
            input_dim = args.word_emb_dim if i == 0 else args.grnn_hidden_dim * 2
            self.bigru_units.append(self.add_sublayer(
                "bigru_units%d" % i, BiGRU(input_dim, args.grnn_hidden_dim, self.init_bound, h_0=h_0)))
        self.fc = Linear(input_dim=args.grnn_hidden_dim * 2, output_dim=num_labels,
                         param_attr=uniform(self.init_bound))
        self.linear_chain_crf = Linear_chain_crf(
            param_attr=fluid.ParamAttr(name='crfw', learning_rate=self.crf_lr), size=num_labels)
        self.crf_decoding = Crf_decoding(
            param_attr=fluid.ParamAttr(name='crfw', learning_rate=self.crf_lr), size=num_labels)

    def forward(self, word, target=None, length=None):
        feature = self.word_embedding(word)
        for i in range(self.bigru_num):
            feature = self.bigru_units[i](feature)
        emission = self.fc(feature)
        if target is not None:
            crf_cost = self.linear_chain_crf(input=emission, label=target, length=length)
            avg_cost = fluid.layers.mean(x=crf_cost)
            self.crf_decoding.weight = self.linear_chain_crf.weight
            return avg_cost, self.crf_decoding(input=emission, length=length)
        return self.crf_decoding(input=emission, length=length)


def sentences(args, count, seed, longest=7):
    """Words of three kinds; a chunk has a first word of its kind, then words of any kind that continue it."""
    def reader():
        rng = np.random.RandomState(seed)
        for _ in range(count):
            length = rng.randint(3, longest + 1)
            words, tags, inside = [], [], None
            for _ in range(length):
                kind = rng.randint(0, 4)
                if kind == 3 and inside is not None:
                    words.append(30 + rng.randint(5)), tags.append(2 * inside + 1)
                elif kind == 2 or kind == 3:
                    words.append(20 + rng.randint(10)), tags.append(4)
                    inside = None
                else:
                    words.append(10 * kind + rng.randint(10)), tags.append(2 * kind)
                    inside = kind
            pad = longest - length
            yield (np.array(words + [35] * pad, 'int64'), np.array(tags + [0] * pad, 'int64'),
                   np.array(length, 'int64'))
    return reader


def create_dataloader(args, reader, place):
    loader = fluid.io.DataLoader.from_generator(capacity=50, use_double_buffer=True, iterable=True)
    loader.set_sample_list_generator(
        fluid.io.batch(fluid.io.shuffle(reader, buf_size=64), args.batch_size, drop_last=True), places=place)
    return loader


def do_train(args):
    place = fluid.CUDAPlace(fluid.dygraph.parallel.Env().dev_id) if args.use_cuda else fluid.CPUPlace()
    with fluid.dygraph.guard(place):
        fluid.default_startup_program().random_seed = 102
        fluid.default_main_program().random_seed = 102
        train_loader = create_dataloader(args, sentences(args, 240, 1), place)
        test_loader = create_dataloader(args, sentences(args, 48, 2), place)
        num_labels = 5
        model = lex_net(args, 36, num_labels)
        optimizer = fluid.optimizer.AdamOptimizer(learning_rate=args.base_learning_rate,
                                                  parameter_list=model.parameters())
        chunk_eval = Chunk_eval(int(math.ceil((num_labels - 1) / 2.0)), "IOB")
        chunk_evaluator = fluid.metrics.ChunkEvaluator()

        def test_process(reader):
            model.eval()
            chunk_evaluator.reset()
            for batch in reader():
                words, targets, length = batch
                crf_decode = model(words, length=length)
                counts = chunk_eval(input=crf_decode, label=targets, seq_length=length)[3:]
                chunk_evaluator.update(*[each.numpy() for each in counts])
            precision, recall, f1 = chunk_evaluator.eval()
            print("[test] P: %.5f, R: %.5f, F1: %.5f" % (precision, recall, f1))
            model.train()
            return f1

        step = 0
        for epoch_id in range(args.epoch):
            for batch in train_loader():
                words, targets, length = batch
                start_time = time.time()
                avg_cost, crf_decode = model(words, targets, length)
                avg_cost.backward()
                optimizer.minimize(avg_cost)
                model.clear_gradients()
                if step % args.print_steps == 0:
                    outputs = (avg_cost,) + chunk_eval(input=crf_decode, label=targets, seq_length=length)[:3]
                    avg_cost, precision, recall, f1_score = [np.mean(x.numpy()) for x in outputs]
                    print("[train] step = %d, loss = %.5f, P: %.5f, R: %.5f, F1: %.5f, elapsed time %.5f" % (
                        step, avg_cost, precision, recall, f1_score, time.time() - start_time))
                if step % args.validation_steps == 0:
                    test_process(test_loader)
                if step % args.save_steps == 0 and step != 0:
                    save_path = os.path.join(args.model_save_dir, "step_" + str(step))
                    paddle.fluid.save_dygraph(model.state_dict(), save_path)
                step += 1
        f1 = test_process(test_loader)
        fluid.save_dygraph(model.state_dict(), os.path.join(args.model_save_dir, "final"))

        again = lex_net(args, 36, num_labels)
        load_path = os.path.join(args.model_save_dir, "final")
        state_dict, _ = fluid.dygraph.load_dygraph(load_path)
        again.set_dict(state_dict)
        again.eval()
        words, targets, length = next(iter(test_loader()))
        model.eval()
        same = np.array_equal(again(words, length=length).numpy(), model(words, length=length).numpy())
        print("again", same, f1 > 0.95, sorted(os.listdir(args.model_save_dir)), len(state_dict))


if __name__ == "__main__":
    args = parser.parse_args()
    print(args)
    do_train(args)
