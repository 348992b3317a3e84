"""What scripts of 1.6 wrap around a Program: CompiledProgram, readers, decays, clips, a profile."""

import numpy as np
import paddle
import paddle.fluid as fluid
import paddle.fluid.profiler as profiler

BATCH, ROWS = 8, 64
TRUE = np.array([[1.0], [-2.0], [0.5]], "float32")


def rows():
    rng = np.random.RandomState(4)
    for _ in range(ROWS):
        x = rng.normal(size=3).astype("float32")
        yield x, x.dot(TRUE)


def build(rate, clip=None, is_train=True):
    main, startup = fluid.Program(), fluid.Program()
    main.random_seed = startup.random_seed = 5
    with fluid.program_guard(main, startup):
        with fluid.unique_name.guard():
            x = fluid.data(name="x", shape=[None, 3], dtype="float32")
            y = fluid.data(name="y", shape=[None, 1], dtype="float32")
            reader = fluid.io.PyReader(feed_list=[x, y], capacity=8, iterable=False)
            predict = fluid.layers.fc(
                input=x, size=1, param_attr=fluid.ParamAttr(name="fc_w"), bias_attr=False
            )
            avg_cost = fluid.layers.mean(fluid.layers.square_error_cost(input=predict, label=y))
            optimizer = None
            if is_train:
                if clip is not None:
                    fluid.clip.set_gradient_clip(clip)
                optimizer = fluid.optimizer.Momentum(
                    learning_rate=rate() if callable(rate) else rate, momentum=0.5
                )
                optimizer.minimize(avg_cost)
    return main, startup, reader, avg_cost, predict, optimizer


DECAYS = {
    "constant": 0.1,
    "piecewise": lambda: fluid.layers.piecewise_decay([8, 16], [0.2, 0.1, 0.05]),
    "cosine": lambda: fluid.layers.cosine_decay(0.2, step_each_epoch=8, epochs=6),
    "polynomial": lambda: fluid.layers.polynomial_decay(
        0.2, decay_steps=24, end_learning_rate=0.01, power=1.0
    ),
    "exponential": lambda: fluid.layers.exponential_decay(0.2, 8, 0.7),
    "natural": lambda: fluid.layers.natural_exp_decay(0.2, 8, 0.3),
    "inverse": lambda: fluid.layers.inverse_time_decay(0.2, 8, 0.5),
    "warmup": lambda: fluid.layers.linear_lr_warmup(
        fluid.layers.piecewise_decay([20], [0.1, 0.05]), 4, 0.01, 0.1
    ),
}
CLIPS = [
    None,
    fluid.clip.GradientClipByGlobalNorm(5.0),
    fluid.clip.GradientClipByNorm(5.0),
    fluid.clip.GradientClipByValue(5.0),
]


def main():
    place = fluid.CPUPlace()
    exe = fluid.Executor(place)
    batches = paddle.batch(rows, batch_size=BATCH)
    for number, (name, rate) in enumerate(DECAYS.items()):
        with fluid.scope_guard(fluid.Scope()):
            main_program, startup, reader, cost, predict, optimizer = build(rate, CLIPS[number % len(CLIPS)])
            exe.run(startup)
            compiled = fluid.compiler.CompiledProgram(main_program).with_data_parallel(
                loss_name=cost.name,
                build_strategy=fluid.BuildStrategy(),
                exec_strategy=fluid.ExecutionStrategy(),
            )
            reader.decorate_sample_list_generator(batches)
            for epoch in range(3):
                reader.start()
                try:
                    while True:
                        loss, rate_now = exe.run(
                            compiled, fetch_list=[cost.name, optimizer._global_learning_rate().name]
                        )
                except fluid.core.EOFException:
                    reader.reset()
            weight = np.array(fluid.global_scope().find_var("fc_w").get_tensor())
            assert np.abs(weight - TRUE).max() < 0.2, (name, weight)
            print("%s: lr %.4f loss %s" % (name, rate_now[0], "small" if np.mean(loss) < 0.1 else loss))

    with fluid.scope_guard(fluid.Scope()):
        main_program, startup, _, cost, predict, _ = build(0.1)
        exe.run(startup)
        test_program, _, _, test_cost, test_predict, _ = build(0.1, is_train=False)
        feeds = [main_program.global_block().var("x"), main_program.global_block().var("y")]
        loader = fluid.io.DataLoader.from_generator(feed_list=feeds, capacity=4, iterable=True)
        loader.set_sample_generator(rows, batch_size=BATCH, places=fluid.cpu_places(1))
        train_exe = fluid.ParallelExecutor(use_cuda=False, loss_name=cost.name, main_program=main_program)
        with profiler.profiler("CPU", "total", "./profile") as prof:
            for data in loader():
                (loss,) = train_exe.run(fetch_list=[cost.name], feed=data)
        with fluid.program_guard(main_program):
            feeder = fluid.DataFeeder(feed_list=["x", "y"], place=place, program=test_program)
        out = [exe.run(test_program, feed=feeder.feed(b), fetch_list=[test_cost])[0] for b in batches()]
        print("ParallelExecutor", np.array(loss).shape, "test", np.mean(out) < 3)


if __name__ == "__main__":
    main()
