"""A language model in the manner of ptb_lm: a static LSTM over steps, fed by py_reader, gradient clip."""

import argparse
import time

import numpy as np
import paddle.fluid as fluid
import paddle.fluid.layers as layers


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--use_gpu", type=bool, default=False)
    parser.add_argument("--max_epoch", type=int, default=3)
    parser.add_argument("--hidden", type=int, default=24)
    return parser.parse_args()


def lm_model(hidden_size, vocab_size, batch_size, num_layers=2, num_steps=6, init_scale=0.1):
    py_reader = layers.py_reader(
        capacity=16,
        shapes=[[batch_size, num_steps, 1], [batch_size * num_steps, 1]],
        dtypes=["int64", "int64"],
        lod_levels=[0, 0],
        use_double_buffer=True,
    )
    x, y = layers.read_file(py_reader)
    init_hidden = layers.data(
        name="init_hidden", shape=[num_layers, batch_size, hidden_size], append_batch_size=False
    )
    init_cell = layers.data(
        name="init_cell", shape=[num_layers, batch_size, hidden_size], append_batch_size=False
    )
    embedded = layers.embedding(
        input=x,
        size=[vocab_size, hidden_size],
        dtype="float32",
        is_sparse=False,
        param_attr=fluid.ParamAttr(
            name="embedding_para", initializer=fluid.initializer.UniformInitializer(-init_scale, init_scale)
        ),
    )
    embedded = layers.reshape(embedded, shape=[-1, num_steps, hidden_size])
    hiddens, cells, weights = [], [], []
    for i in range(num_layers):
        weights.append(
            (
                layers.create_parameter(
                    [hidden_size * 2, hidden_size * 4],
                    dtype="float32",
                    name="fc_weight1_%d" % i,
                    default_initializer=fluid.initializer.UniformInitializer(-init_scale, init_scale),
                ),
                layers.create_parameter(
                    [hidden_size * 4],
                    dtype="float32",
                    name="fc_bias1_%d" % i,
                    default_initializer=fluid.initializer.Constant(0.0),
                ),
            )
        )
        hidden = layers.slice(init_hidden, axes=[0], starts=[i], ends=[i + 1])
        cell = layers.slice(init_cell, axes=[0], starts=[i], ends=[i + 1])
        hiddens.append(layers.reshape(hidden, shape=[-1, hidden_size]))
        cells.append(layers.reshape(cell, shape=[-1, hidden_size]))
    outputs = []
    for step in range(num_steps):
        value = layers.reshape(
            layers.slice(embedded, axes=[1], starts=[step], ends=[step + 1]), shape=[-1, hidden_size]
        )
        for i in range(num_layers):
            gates = layers.elementwise_add(
                layers.matmul(layers.concat([value, hiddens[i]], 1), weights[i][0]), weights[i][1]
            )
            a, j, f, o = layers.split(gates, num_or_sections=4, dim=-1)
            cells[i] = cells[i] * layers.sigmoid(f) + layers.sigmoid(a) * layers.tanh(j)
            hiddens[i] = layers.tanh(cells[i]) * layers.sigmoid(o)
            value = hiddens[i]
        outputs.append(layers.reshape(value, shape=[-1, 1, hidden_size]))
    output = layers.reshape(layers.concat(outputs, axis=1), shape=[-1, hidden_size])
    logits = layers.fc(output, size=vocab_size, bias_attr=True)
    loss = layers.softmax_with_cross_entropy(logits=logits, label=y, soft_label=False)
    loss = layers.reshape(loss, shape=[-1, num_steps])
    loss = layers.reduce_sum(layers.reduce_mean(loss, dim=[0]))
    last_hidden = layers.stack(hiddens, axis=0)
    last_cell = layers.stack(cells, axis=0)
    loss.persistable = True
    return loss, last_hidden, last_cell, py_reader


def main():
    args = parse_args()
    vocab, batch, steps, hidden = 12, 4, 6, args.hidden
    text = np.tile(np.arange(vocab), 80)
    main_program, startup_program = fluid.Program(), fluid.Program()
    startup_program.random_seed = main_program.random_seed = 33
    with fluid.program_guard(main_program, startup_program):
        with fluid.unique_name.guard():
            loss, last_hidden, last_cell, reader = lm_model(hidden, vocab, batch)
            fluid.clip.set_gradient_clip(clip=fluid.clip.GradientClipByGlobalNorm(clip_norm=5.0))
            rate = layers.create_global_var(
                name="learning_rate", shape=[1], value=1.0, dtype="float32", persistable=True
            )
            fluid.optimizer.SGD(learning_rate=rate).minimize(loss)
    test_program = main_program.clone(for_test=True)

    place = fluid.CUDAPlace(0) if args.use_gpu else fluid.CPUPlace()
    exe = fluid.Executor(place)
    exe.run(startup_program)

    def batches():
        rows = text[: len(text) // batch * batch].reshape(batch, -1)
        for at in range(0, rows.shape[1] - steps - 1, steps):
            x, y = rows[:, at : at + steps], rows[:, at + 1 : at + steps + 1]
            yield x.reshape(batch, steps, 1).astype("int64"), y.reshape(-1, 1).astype("int64")

    reader.decorate_tensor_provider(batches)
    print("begin to load data")
    for epoch in range(args.max_epoch):
        begin = time.time()
        exe_hidden = np.zeros((2, batch, hidden), "float32")
        exe_cell = np.zeros((2, batch, hidden), "float32")
        total, iters = 0.0, 0
        fluid.global_scope().find_var("learning_rate").get_tensor().set(
            np.array([1.0 * 0.7 ** max(epoch - 1, 0)], dtype="float32"), place
        )
        reader.start()
        try:
            while True:
                cost, exe_hidden, exe_cell = exe.run(
                    main_program,
                    feed={"init_hidden": exe_hidden, "init_cell": exe_cell},
                    fetch_list=[loss.name, last_hidden.name, last_cell.name],
                    use_program_cache=True,
                )
                total += cost[0]
                iters += steps
        except fluid.core.EOFException:
            reader.reset()
        ppl = np.exp(total / iters)
        print("epoch %d; ppl: %.3f; time %d" % (epoch, ppl, (time.time() - begin) // 1000))
    assert ppl < 6, ppl
    reader.start()
    out = exe.run(
        test_program, feed={"init_hidden": exe_hidden * 0, "init_cell": exe_cell * 0}, fetch_list=[loss]
    )
    reader.reset()
    print("test loss shape", out[0].shape)
    fluid.io.save_persistables(executor=exe, dirname="ptb_model", main_program=main_program)
    print("save model finished")


if __name__ == "__main__":
    main()
