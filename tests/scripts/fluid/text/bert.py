"""BERT in the manner of 1.8: masked words and next sentences, warmup, weight decay by hand, fine-tuning."""
from __future__ import absolute_import
from __future__ import division
from __future__ import print_function

import argparse
import json
import multiprocessing
import os
import sys
import time

import numpy as np
import six
import paddle
import paddle.fluid as fluid
from paddle.fluid.dygraph import Embedding, LayerNorm, Linear, to_variable, Layer, guard
from paddle.fluid.dygraph.learning_rate_scheduler import LearningRateDecay

if six.PY2:
    reload(sys)
    sys.setdefaultencoding('utf8')


def str2bool(v):
    return v.lower() in ("true", "t", "1")


class ArgumentGroup(object):
    def __init__(self, parser, title, des):
        self._group = parser.add_argument_group(title=title, description=des)

    def add_arg(self, name, type, default, help, **kwargs):
        type = str2bool if type == bool else type
        self._group.add_argument("--" + name, default=default, type=type,
                                 help=help + ' Default: %(default)s.', **kwargs)


parser = argparse.ArgumentParser(__doc__)
model_g = ArgumentGroup(parser, "model", "model configuration and paths.")
model_g.add_arg("bert_config_path", str, "bert_config.json", "Path to the json file for bert model config.")
model_g.add_arg("checkpoints", str, "checkpoints", "Path to save checkpoints.")
model_g.add_arg("weight_sharing", bool, True, "If set, share weights between word embedding and masked lm.")
train_g = ArgumentGroup(parser, "training", "training options.")
train_g.add_arg("learning_rate", float, 0.01, "Learning rate used to train with warmup.")
train_g.add_arg("lr_scheduler", str, "linear_warmup_decay", "scheduler of learning rate.",
                choices=['linear_warmup_decay', 'noam_decay'])
train_g.add_arg("weight_decay", float, 0.01, "Weight decay rate for L2 regularizer.")
train_g.add_arg("num_train_steps", int, 140, "Total steps to perform pretraining.")
train_g.add_arg("warmup_steps", int, 10, "Total steps to perform warmup when pretraining.")
train_g.add_arg("use_fp16", bool, False, "Whether to use fp16 mixed precision training.")
data_g = ArgumentGroup(parser, "data", "Data paths")
data_g.add_arg("max_seq_len", int, 10, "Tokens' number of the longest seqence allowed.")
data_g.add_arg("batch_size", int, 16, "The total number of examples in one batch for training.")
run_type_g = ArgumentGroup(parser, "run_type", "running type options.")
run_type_g.add_arg("use_cuda", bool, False, "If set, use GPU for training.")
args = parser.parse_args()

CONFIG = {"attention_probs_dropout_prob": 0.1, "hidden_act": "relu", "hidden_dropout_prob": 0.05,
          "hidden_size": 16, "initializer_range": 0.2, "max_position_embeddings": 16,
          "num_attention_heads": 2, "num_hidden_layers": 2, "type_vocab_size": 2, "vocab_size": 20}


class BertConfig(object):
    def __init__(self, config_path):
        try:
            with open(config_path) as json_file:
                self._config_dict = json.load(json_file)
        except Exception:
            raise IOError("Error in parsing bert model config file '%s'" % config_path)

    def __getitem__(self, key):
        return self._config_dict[key]

    def print_config(self):
        for arg, value in sorted(six.iteritems(self._config_dict)):
            print('%s: %s' % (arg, value))
        print('------------------------------------------------')


class PrePostProcessLayer(Layer):
    def __init__(self, process_cmd, d_model, dropout_rate, name):
        super(PrePostProcessLayer, self).__init__()
        self.functors, self.exec_order = [], ""
        for cmd in process_cmd:
            if cmd == "a":
                self.functors.append(lambda x, y: x + y if y is not None else x)
            elif cmd == "n":
                self.functors.append(self.add_sublayer(
                    "layer_norm_%d" % len(self.sublayers(include_sublayers=False)),
                    LayerNorm(normalized_shape=d_model,
                              param_attr=fluid.ParamAttr(name=name + "_layer_norm_scale",
                                                         initializer=fluid.initializer.Constant(1.)),
                              bias_attr=fluid.ParamAttr(name=name + "_layer_norm_bias",
                                                        initializer=fluid.initializer.Constant(0.)))))
            elif cmd == "d":
                if not dropout_rate:
                    continue
                self.functors.append(
                    lambda x: fluid.layers.dropout(x, dropout_prob=dropout_rate, is_test=False))
            self.exec_order += cmd

    def forward(self, x, residual=None):
        for i, cmd in enumerate(self.exec_order):
            x = self.functors[i](x, residual) if cmd == "a" else self.functors[i](x)
        return x


def linear(name, input_dim, output_dim, init=None, act=None):
    return Linear(input_dim=input_dim, output_dim=output_dim,
                  param_attr=fluid.ParamAttr(name=name + ".w_0", initializer=init),
                  bias_attr=name + ".b_0", act=act)


class EncoderSubLayer(Layer):
    def __init__(self, config, init, name=""):
        super(EncoderSubLayer, self).__init__()
        size, dropout = config['hidden_size'], config['hidden_dropout_prob']
        self.name, self._n_head = name, config['num_attention_heads']
        self._dropout_rate, self._d_key = config['attention_probs_dropout_prob'], size // self._n_head
        self._q_fc = linear(name + '_query_fc', size, size, init)
        self._k_fc = linear(name + '_key_fc', size, size, init)
        self._v_fc = linear(name + '_value_fc', size, size, init)
        self._proj_fc = linear(name + '_output_fc', size, size, init)
        self._postprocess_layer = PrePostProcessLayer("dan", size, dropout, name=name + "_post_att")
        self._i2h = linear(name + '_ffn_fc_0', size, size * 4, init, act=config['hidden_act'])
        self._h2o = linear(name + '_ffn_fc_1', size * 4, size, init)
        self._postprocess_layer2 = PrePostProcessLayer("dan", size, dropout, name=name + "_post_ffn")

    def _heads(self, x):
        x = fluid.layers.reshape(x=x, shape=[0, 0, self._n_head, x.shape[-1] // self._n_head], inplace=False)
        return fluid.layers.transpose(x=x, perm=[0, 2, 1, 3])

    def forward(self, enc_input, attn_bias):
        q, k, v = [self._heads(fc(enc_input)) for fc in (self._q_fc, self._k_fc, self._v_fc)]
        product = fluid.layers.matmul(
            x=fluid.layers.scale(x=q, scale=self._d_key ** -0.5), y=k, transpose_y=True)
        if attn_bias is not None:
            product += attn_bias
        weights = fluid.layers.softmax(product)
        if self._dropout_rate:
            weights = fluid.layers.dropout(weights, dropout_prob=self._dropout_rate,
                                           dropout_implementation="upscale_in_train", is_test=False)
        trans_x = fluid.layers.transpose(fluid.layers.matmul(weights, v), perm=[0, 2, 1, 3])
        out = fluid.layers.reshape(x=trans_x, shape=[0, 0, trans_x.shape[2] * trans_x.shape[3]], inplace=False)
        attn_output = self._postprocess_layer(self._proj_fc(out), enc_input)
        return self._postprocess_layer2(self._h2o(self._i2h(attn_output)), attn_output)


class BertModelLayer(Layer):
    def __init__(self, config, return_pooled_out=True, use_fp16=False):
        super(BertModelLayer, self).__init__()
        self._emb_size, self._n_head = config['hidden_size'], config['num_attention_heads']
        self.return_pooled_out = return_pooled_out
        self._dtype = "float16" if use_fp16 else "float32"
        init = fluid.initializer.TruncatedNormal(scale=config['initializer_range'])
        sizes = [("_src_emb", "word_embedding", 'vocab_size'),
                 ("_pos_emb", "pos_embedding", 'max_position_embeddings'),
                 ("_sent_emb", "sent_embedding", 'type_vocab_size')]
        for attribute, name, key in sizes:
            setattr(self, attribute, Embedding(size=[config[key], self._emb_size], dtype=self._dtype,
                                               param_attr=fluid.ParamAttr(name=name, initializer=init)))
        self.pooled_fc = linear("pooled_fc", self._emb_size, self._emb_size, init, act="tanh")
        self.pre_process_layer = PrePostProcessLayer("nd", self._emb_size, config['hidden_dropout_prob'], "")
        self._encoder_sublayers = list()
        for i in range(config['num_hidden_layers']):
            self._encoder_sublayers.append(
                self.add_sublayer('esl_%d' % i, EncoderSubLayer(config, init, name='_layer_' + str(i))))
        self._last_layer = PrePostProcessLayer("", 3, config['hidden_dropout_prob'], "post_encoder")

    def forward(self, src_ids, position_ids, sentence_ids, input_mask):
        emb_out = self._src_emb(src_ids) + self._pos_emb(position_ids)
        emb_out = self.pre_process_layer(emb_out + self._sent_emb(sentence_ids))
        mask = fluid.layers.matmul(x=input_mask, y=input_mask, transpose_y=True)
        mask = fluid.layers.scale(x=mask, scale=10000.0, bias=-1.0, bias_after_scale=False)
        mask = fluid.layers.stack(x=[mask] * self._n_head, axis=1)
        mask.stop_gradient = True
        for layer in self._encoder_sublayers:
            emb_out = layer(emb_out, mask)
        enc_output = self._last_layer(emb_out)
        if not self.return_pooled_out:
            return enc_output
        feature = self.pooled_fc(fluid.layers.slice(input=enc_output, axes=[1], starts=[0], ends=[1]))
        return enc_output, fluid.layers.reshape(feature, shape=[-1, self._emb_size])


class PretrainModelLayer(Layer):
    def __init__(self, config, weight_sharing=True, use_fp16=False):
        super(PretrainModelLayer, self).__init__()
        self._emb_size, self._weight_sharing = config['hidden_size'], weight_sharing
        init = fluid.initializer.TruncatedNormal(scale=config['initializer_range'])
        self.bert_layer = BertModelLayer(config=config, return_pooled_out=True, use_fp16=use_fp16)
        self.pre_process_layer = PrePostProcessLayer(
            "n", self._emb_size, config['hidden_dropout_prob'], "pre_encoder")
        self.pooled_fc = linear("mask_lm_trans_fc", self._emb_size, self._emb_size, init, act="tanh")
        bias_attr = fluid.ParamAttr(name="mask_lm_out_fc.b_0", initializer=fluid.initializer.Constant(value=0.0))
        if not self._weight_sharing:
            self.out_fc = Linear(
                input_dim=self._emb_size, output_dim=config['vocab_size'],
                param_attr=fluid.ParamAttr(name="mask_lm_out_fc.w_0", initializer=init), bias_attr=bias_attr)
        else:
            self.fc_create_params = self.create_parameter(
                shape=[config['vocab_size']], dtype="float32", attr=bias_attr, is_bias=True)
        self.next_sent_fc = linear("next_sent_fc", self._emb_size, 2, init)

    def forward(self, src_ids, position_ids, sentence_ids, input_mask, mask_label, mask_pos, labels):
        mask_pos = fluid.layers.cast(x=mask_pos, dtype='int32')
        enc_output, next_sent_feat = self.bert_layer(src_ids, position_ids, sentence_ids, input_mask)
        rows = fluid.layers.reshape(x=enc_output, shape=[-1, self._emb_size])
        mask_feat = fluid.layers.gather(input=rows, index=mask_pos)
        mask_trans_feat = self.pre_process_layer(self.pooled_fc(mask_feat))
        if self._weight_sharing:
            fc_out = fluid.layers.matmul(x=mask_trans_feat, y=self.bert_layer._src_emb.weight, transpose_y=True)
            fc_out += self.fc_create_params
        else:
            fc_out = self.out_fc(mask_trans_feat)
        mask_lm_loss, mask_lm_softmax = fluid.layers.softmax_with_cross_entropy(
            logits=fc_out, label=mask_label, return_softmax=True)
        next_sent_loss, next_sent_softmax = fluid.layers.softmax_with_cross_entropy(
            logits=self.next_sent_fc(next_sent_feat), label=labels, return_softmax=True)
        lm_acc = fluid.layers.accuracy(input=mask_lm_softmax, label=mask_label)
        next_sent_acc = fluid.layers.accuracy(input=next_sent_softmax, label=labels)
        mean_mask_lm_loss = fluid.layers.mean(mask_lm_loss)
        return lm_acc, next_sent_acc, mean_mask_lm_loss, fluid.layers.mean(next_sent_loss) + mean_mask_lm_loss


class ClsModelLayer(Layer):
    def __init__(self, config, num_labels):
        super(ClsModelLayer, self).__init__()
        self.bert_layer = BertModelLayer(config=config, return_pooled_out=True)
        self.cls_fc = Linear(
            input_dim=config["hidden_size"], output_dim=num_labels,
            param_attr=fluid.ParamAttr(name="cls_out_w",
                                       initializer=fluid.initializer.TruncatedNormal(scale=0.02)),
            bias_attr=fluid.ParamAttr(name="cls_out_b", initializer=fluid.initializer.Constant(0.)))

    def forward(self, data_ids):
        enc_output, next_sent_feat = self.bert_layer(*data_ids[:4])
        cls_feats = fluid.layers.dropout(x=next_sent_feat, dropout_prob=0.1,
                                         dropout_implementation="upscale_in_train")
        ce_loss, probs = fluid.layers.softmax_with_cross_entropy(
            logits=self.cls_fc(cls_feats), label=data_ids[4], return_softmax=True)
        num_seqs = fluid.layers.create_tensor(dtype='int64')
        accuracy = fluid.layers.accuracy(input=probs, label=data_ids[4], total=num_seqs)
        return fluid.layers.mean(x=ce_loss), accuracy, num_seqs


class ConstantLR(LearningRateDecay):
    def __init__(self, learning_rate, begin=0, step=1, dtype='float32'):
        super(ConstantLR, self).__init__(begin, step, dtype)
        self.learning_rate = learning_rate

    def step(self):
        return self.learning_rate


class LinearDecay(LearningRateDecay):
    def __init__(self, learning_rate, warmup_steps, decay_steps, end_learning_rate=0.0001, power=1.0,
                 begin=0, step=1, dtype='float32'):
        super(LinearDecay, self).__init__(begin, step, dtype)
        self.learning_rate, self.end_learning_rate = learning_rate, end_learning_rate
        self.warmup_steps, self.decay_steps, self.power = warmup_steps, decay_steps, power

    def step(self):
        if self.step_num < self.warmup_steps:
            return self.create_lr_var(self.learning_rate * (self.step_num / self.warmup_steps))
        step_num = self.create_lr_var(min(self.step_num, self.decay_steps))
        return (self.learning_rate - self.end_learning_rate) * \
            ((1 - step_num / self.decay_steps) ** self.power) + self.end_learning_rate


class Optimizer(object):
    def __init__(self, warmup_steps, num_train_steps, learning_rate, model_cls, weight_decay,
                 scheduler='linear_warmup_decay', parameter_list=None):
        self.model_cls, self.weight_decay = model_cls, weight_decay
        if warmup_steps == 0:
            self.scheduled_lr = ConstantLR(learning_rate)
        elif scheduler == 'noam_decay':
            self.scheduled_lr = fluid.dygraph.NoamDecay(1 / (warmup_steps * (learning_rate ** 2)), warmup_steps)
        else:
            self.scheduled_lr = LinearDecay(learning_rate, warmup_steps, num_train_steps, 0.0)
        self.optimizer = fluid.optimizer.Adam(learning_rate=self.scheduled_lr, parameter_list=parameter_list)

    def exclude_from_weight_decay(self, name):
        if name.find("layer_norm") > -1:
            return True
        return any(name.endswith(suffix) for suffix in ["_bias", "_b", ".b_0"])

    def optimization(self, loss):
        param_list = dict()
        grad_clip = fluid.dygraph_grad_clip.GradClipByGlobalNorm(1.0)
        loss.backward()
        if self.weight_decay > 0:
            for param in self.model_cls.parameters():
                param_list[param.name] = param * 1.0
                param_list[param.name].stop_gradient = True
        _, param_grads = self.optimizer.minimize(loss, grad_clip=grad_clip)
        if self.weight_decay > 0:
            for param, grad in param_grads:
                if self.exclude_from_weight_decay(param.name):
                    continue
                rate = self.scheduled_lr.step()
                if not isinstance(rate, float):
                    rate = rate.numpy()
                updated_param = param.numpy() - param_list[param.name].numpy() * self.weight_decay * rate
                param.set_value(fluid.dygraph.to_variable(updated_param))


def batches(count, seed, pretrain=True):
    """Two sentences of one word each behind 1, the second one's from the lower or the upper half. 3 is a mask."""
    def reader():
        rng, size = np.random.RandomState(seed), args.batch_size
        half = args.max_seq_len // 2
        for _ in range(count):
            labels = rng.randint(0, 2, (size, 1))
            first, second = rng.randint(4, 20, (size, 1)), rng.randint(4, 12, (size, 1)) + 8 * labels
            words = np.concatenate([np.repeat(first, half - 1, 1), np.repeat(second, half, 1)], 1)
            src = np.concatenate([np.ones((size, 1)), words], 1).astype('int64')
            mask_pos = rng.randint(1, half, size) + args.max_seq_len * np.arange(size)
            mask_label = src.reshape(-1)[mask_pos].reshape(-1, 1)
            if pretrain:
                src.reshape(-1)[mask_pos] = 3
            pos = np.tile(np.arange(args.max_seq_len), (size, 1)).astype('int64')
            sent = (pos >= half).astype('int64')
            mask = np.ones((size, args.max_seq_len, 1), 'float32')
            batch = [src, pos, sent, mask]
            batch += [mask_label, mask_pos.reshape(-1, 1).astype('int64')] if pretrain else []
            yield batch + [labels.astype('int64')]
    return reader


def create_data(batch):
    names = ["src_ids", "position_ids", "sentence_ids", "input_mask"]
    names += ["mask_label", "mask_pos", "labels"] if len(batch) == 7 else ["labels"]
    made = [to_variable(value, name) for value, name in zip(batch, names)]
    made[-1].stop_gradient = True
    return made


def train(args):
    bert_config = BertConfig(args.bert_config_path)
    bert_config.print_config()
    if args.use_cuda:
        place = fluid.CUDAPlace(fluid.dygraph.parallel.Env().dev_id)
        dev_count = fluid.core.get_cuda_device_count()
    else:
        place = fluid.CPUPlace()
        dev_count = int(os.environ.get("CPU_NUM", multiprocessing.cpu_count()))
    with fluid.dygraph.guard(place):
        fluid.default_startup_program().random_seed = 3
        fluid.default_main_program().random_seed = 3
        train_data_loader = fluid.io.DataLoader.from_generator(capacity=50)
        train_data_loader.set_batch_generator(batches(args.num_train_steps, 1), places=place)
        bert = PretrainModelLayer(config=bert_config, weight_sharing=args.weight_sharing, use_fp16=args.use_fp16)
        optimizer = Optimizer(
            warmup_steps=args.warmup_steps, num_train_steps=args.num_train_steps,
            learning_rate=args.learning_rate, model_cls=bert, weight_decay=args.weight_decay,
            scheduler=args.lr_scheduler, parameter_list=bert.parameters())
        time_begin, costs = time.time(), []
        for steps, batch in enumerate(train_data_loader(), 1):
            lm_acc, next_acc, mask_lm_cost, total_cost = bert(*create_data(batch))
            optimizer.optimization(total_cost)
            bert.clear_gradients()
            costs.append(total_cost.numpy()[0])
            if steps % 20 == 0:
                print("step: %d, loss: %f, ppl: %f, lm_acc: %f, next_sent_acc: %f, lr: %f, speed: %f steps/s"
                      % (steps, total_cost.numpy(), np.exp(mask_lm_cost.numpy()), lm_acc.numpy(),
                         next_acc.numpy(), optimizer.optimizer.current_step_lr(),
                         20 / (time.time() - time_begin)))
        print("pretrained", np.mean(costs[-10:]) < 0.6 * np.mean(costs[:10]))
        save_path = os.path.join(args.checkpoints, "final")
        if fluid.dygraph.parallel.Env().local_rank == 0:
            if not os.path.exists(save_path):
                os.makedirs(save_path)
            fluid.save_dygraph(bert.state_dict(), os.path.join(save_path, "pretrained_bert"))
            fluid.save_dygraph(optimizer.optimizer.state_dict(), os.path.join(save_path, "pretrained_bert"))

        model_dict, opt_dict = fluid.load_dygraph(os.path.join(save_path, "pretrained_bert"))
        bert.load_dict(model_dict)
        optimizer.optimizer.set_dict(opt_dict)
        print("resumed", len(model_dict), len(opt_dict), opt_dict["global_step"])
    return save_path


def fine_tune(args, save_path):
    bert_config = BertConfig(args.bert_config_path)
    with guard(fluid.CPUPlace()):
        fluid.default_main_program().random_seed = 5
        cls_model = ClsModelLayer(bert_config, 2)
        pretrained, _ = fluid.load_dygraph(os.path.join(save_path, "pretrained_bert"))
        weight = {"weight": pretrained["bert_layer._src_emb.weight"]}
        cls_model.bert_layer._src_emb.set_dict(weight)
        cls_model.bert_layer.pre_process_layer._sub_layers["layer_norm_0"].set_dict({
            "weight": pretrained["bert_layer.pre_process_layer.layer_norm_0.weight"],
            "bias": pretrained["bert_layer.pre_process_layer.layer_norm_0.bias"]})
        cls_model.bert_layer._encoder_sublayers[0]._postprocess_layer.layer_norm_0.set_dict({
            "weight": pretrained["bert_layer.esl_0._postprocess_layer.layer_norm_0.weight"],
            "bias": pretrained["bert_layer.esl_0._postprocess_layer.layer_norm_0.bias"]})
        optimizer = Optimizer(0, 10, 0.02, cls_model, 0.0, parameter_list=cls_model.parameters())
        for batch in batches(40, 2, pretrain=False)():
            loss, accuracy, num_seqs = cls_model(create_data(batch))
            optimizer.optimization(loss)
            cls_model.clear_gradients()
        cls_model.eval()
        total_cost, total_acc, total_num_seqs = [], [], []
        for batch in batches(4, 9, pretrain=False)():
            np_loss, np_acc, np_num_seqs = [each.numpy() for each in cls_model(create_data(batch))]
            total_cost.extend(np_loss * np_num_seqs)
            total_acc.extend(np_acc * np_num_seqs)
            total_num_seqs.extend(np_num_seqs)
        print("[evaluation] average acc: %f, sequences %d" % (
            np.sum(total_acc) / np.sum(total_num_seqs), np.sum(total_num_seqs)))


if __name__ == '__main__':
    with open(args.bert_config_path, "w") as out:
        json.dump(CONFIG, out)
    fine_tune(args, train(args))
