"""Scripts with ``Model`` that run here and on Paddle 2.6.2: each prints, and what it prints is compared.

A scenario takes ``paddle`` (the engine, or Paddle) and an empty folder. Weights and data are made by NumPy,
so that both compute the same. ``python tests/engine/hapi/record.py`` records them.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import tempfile
from typing import Any

import numpy as np

BATCH = (np.ones((4, 4), "float32"), np.ones((4, 1), "int64"))


def transcript(paddle: Any, scenario: Any) -> list[str]:
    """The lines that a scenario prints, without what differs between machines."""
    printed = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(printed):
        scenario(paddle, folder)
        text = printed.getvalue().replace(os.path.abspath(folder), "FOLDER")
    text = re.sub(r"\d+(s|ms|us)/step", "TIME/step", text).replace("\b", "")
    text = re.sub(r"ETA: [\d:]+s?", "ETA: TIME", text)
    text = re.sub(r"(cost|ips): [\d.]+", r"\1: TIME", text)
    return [line.rstrip() for line in text.replace("\r", "\n").split("\n") if line.strip()]


def shown(value: Any) -> Any:
    """Types and shapes as text, numbers rounded."""
    if isinstance(value, dict):
        return {k: shown(v) for k, v in sorted(value.items())}
    if isinstance(value, (list, tuple)):
        return type(value)(shown(v) for v in value)
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{list(value.shape)}"
    if isinstance(value, (float, np.floating)):
        return f"float {float(value):.5f}"  # NumPy's is printed in another way by each version of NumPy
    return value


def dataset(paddle: Any, count: int, base: Any = None) -> Any:
    class Data(base or paddle.io.Dataset):
        def __init__(self) -> None:
            drawn = np.random.RandomState(0)
            self.x = drawn.rand(count, 4).astype("float32")
            self.y = drawn.randint(0, 3, (count, 1)).astype("int64")

        def __getitem__(self, index: int) -> Any:
            return self.x[index], self.y[index]

        def __len__(self) -> int:
            return count

    return Data()


def fixed(net: Any, scale: float = 1.0) -> Any:
    """Weights that NumPy draws."""
    drawn = np.random.RandomState(1)
    for parameter in net.parameters():
        parameter.set_value(((drawn.rand(*parameter.shape) - 0.5) * scale).astype("float32"))
    return net


def network(paddle: Any) -> Any:
    nn = paddle.nn
    return fixed(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)))


def model(paddle: Any, metrics: bool = True, optimizer: str = "SGD", rate: Any = 0.1) -> Any:
    made = paddle.Model(network(paddle))
    made.prepare(
        getattr(paddle.optimizer, optimizer)(rate, parameters=made.parameters()),
        paddle.nn.CrossEntropyLoss(),
        paddle.metric.Accuracy() if metrics else None,
    )
    return made


def recorder(paddle: Any) -> Any:
    """A callback that prints each call; logs at the beginning of batches are those of the batch before."""

    class Recorder(paddle.callbacks.Callback):
        def set_params(self, params: Any) -> None:
            super().set_params(params)
            print("set_params", shown(params))

        def set_model(self, model: Any) -> None:
            super().set_model(model)
            print("set_model", type(model).__name__)

    def define(name: str, numbered: bool) -> None:
        def call(self: Any, *args: Any) -> None:
            number, logs = args if numbered else (None, *args)
            print(name, number, None if name.endswith("batch_begin") else shown(logs))

        setattr(Recorder, name, call)

    for edge in ("begin", "end"):
        define(f"on_epoch_{edge}", True)
        for kind in ("train", "eval", "predict"):
            define(f"on_{kind}_{edge}", kind == "none")
            define(f"on_{kind}_batch_{edge}", True)
    # What on_predict_end is given is left over from the run before it in Paddle.
    Recorder.on_predict_end = lambda self, logs=None: print("on_predict_end")  # type: ignore[attr-defined]
    Recorder.on_predict_batch_end = lambda self, step, logs=None: print(  # type: ignore[attr-defined]
        "on_predict_batch_end", step, logs["step"], logs["batch_size"]
    )
    return Recorder()


def tree(folder: str) -> list[str]:
    return sorted(os.path.relpath(os.path.join(top, f), folder) for top, _, fs in os.walk(folder) for f in fs)


# -- what is printed and called ------------------------------------------------------------------------------
def calls(paddle: Any, folder: str) -> None:
    made = model(paddle)
    made.fit(
        dataset(paddle, 10),
        dataset(paddle, 6),
        batch_size=4,
        epochs=2,
        verbose=0,
        shuffle=False,
        callbacks=[recorder(paddle)],
    )
    print(shown(made.evaluate(dataset(paddle, 6), 4, verbose=0, callbacks=recorder(paddle))))
    print(shown(made.predict(dataset(paddle, 6), 4, verbose=0, callbacks=[recorder(paddle)])))
    print(shown(made.predict(dataset(paddle, 6), 4, verbose=0, stack_outputs=True)))


def progress(paddle: Any, folder: str) -> None:
    for verbose in (0, 1, 2, 3):
        print("verbose", verbose)
        made = model(paddle)
        made.fit(
            dataset(paddle, 10),
            dataset(paddle, 6),
            batch_size=[4, 3],
            epochs=2,
            verbose=verbose,
            shuffle=False,
            log_freq=2,
        )
        made.evaluate(dataset(paddle, 6), batch_size=4, verbose=verbose, log_freq=1)
        made.predict(dataset(paddle, 6), batch_size=4, verbose=verbose)
        made.predict(dataset(paddle, 5), batch_size=1, verbose=verbose)


def many_steps(paddle: Any, folder: str) -> None:
    made = model(paddle, rate=0.001)
    made.fit(dataset(paddle, 30), batch_size=1, verbose=1, log_freq=7, shuffle=False)
    made.fit(dataset(paddle, 12), batch_size=1, verbose=2, log_freq=5, shuffle=False)
    made.prepare(made._optimizer, lambda out, label: out.sum() * 0.0001)
    made.fit([BATCH] * 3, verbose=2, log_freq=1)
    made.prepare(made._optimizer, lambda out, label: out.sum() * 12345.678)
    made.fit([BATCH] * 2, verbose=2, log_freq=1)
    made.prepare(made._optimizer, lambda out, label: out.sum() * float("nan"))
    made.fit([BATCH] * 2, verbose=2, log_freq=1)


def shuffled(paddle: Any, folder: str) -> None:
    model(paddle).fit(dataset(paddle, 10), batch_size=4, epochs=3, verbose=2, log_freq=1)
    model(paddle).fit(
        dataset(paddle, 10), dataset(paddle, 10), batch_size=4, verbose=2, log_freq=1, drop_last=True
    )


def iterables(paddle: Any, folder: str) -> None:
    """A list, a generator (of unknown length), a DataLoader."""
    for verbose in (1, 2):
        model(paddle).fit([BATCH] * 4, [BATCH] * 4, verbose=verbose, log_freq=2)
        model(paddle).fit((BATCH for _ in range(3)), verbose=verbose, log_freq=2, epochs=2)
        print(shown(model(paddle).evaluate((BATCH for _ in range(3)), verbose=verbose, log_freq=2)))
        print(shown(model(paddle).predict((BATCH[:1] for _ in range(3)), verbose=verbose)))
    loader = paddle.io.DataLoader(dataset(paddle, 10), batch_size=3)
    model(paddle).fit(loader, loader, verbose=2, log_freq=1, batch_size=7)
    model(paddle).fit([{"x": BATCH[0], "y": BATCH[1]}, [[BATCH[0]], [BATCH[1]]]], verbose=2, log_freq=1)


def iterations(paddle: Any, folder: str) -> None:
    made = model(paddle)
    made.fit(
        dataset(paddle, 10),
        dataset(paddle, 6),
        batch_size=4,
        epochs=3,
        verbose=2,
        shuffle=False,
        log_freq=1,
        num_iters=4,
    )
    print(made.stop_training)
    print(shown(made.evaluate([BATCH] * 3, verbose=2, num_iters=1)), made.stop_training)
    made.fit([BATCH] * 3, [BATCH], epochs=3, verbose=2)
    for count in (2, 6, 9):
        model(paddle).fit([BATCH] * 3, [BATCH] * 3, epochs=1, num_iters=count, verbose=2)
    model(paddle).fit((BATCH for _ in range(9)), [BATCH] * 3, verbose=2, log_freq=1, epochs=5, num_iters=2)


def frequencies(paddle: Any, folder: str) -> None:
    made = model(paddle, optimizer="Adam", rate=0.01)
    made.fit(
        dataset(paddle, 10),
        dataset(paddle, 6),
        batch_size=4,
        epochs=5,
        verbose=2,
        save_dir=folder + "/a",
        save_freq=2,
        eval_freq=3,
        log_freq=2,
        shuffle=False,
    )
    model(paddle).fit([BATCH], epochs=2, verbose=2, save_dir=folder + "/b")
    model(paddle).fit(
        [BATCH], epochs=3, verbose=2, callbacks=[paddle.callbacks.ModelCheckpoint(2, folder + "/c")]
    )
    print(tree(folder))


def accumulated(paddle: Any, folder: str) -> None:
    for every in (2, 3):
        data = [BATCH, (BATCH[0] * 2, BATCH[1] - 1)] * 2 + [BATCH]
        model(paddle).fit(data, verbose=2, log_freq=1, epochs=2, accumulate_grad_batches=every)


# -- batches, losses, metrics, inputs ------------------------------------------------------------------------
def batches(paddle: Any, folder: str) -> None:
    x, y = BATCH
    made = model(paddle)
    print(shown(made.train_batch([x], [y])), made.mode, made.network.training)
    print(shown(made.eval_batch([paddle.to_tensor(x)], [y])), made.mode, made.network.training)
    print(shown(made.predict_batch([x])), made.mode)
    made = model(paddle, metrics=False)
    print([float(made.train_batch([x], [y], update=u)[0]) for u in (False, False, True, True)])
    bare = paddle.Model(network(paddle))
    print(shown(bare.predict_batch([x])))
    bare.prepare()
    print(shown(bare.eval_batch([x], [y])), bare.evaluate([BATCH], verbose=2))
    bare.prepare(metrics=paddle.metric.Accuracy())
    print(shown(bare.eval_batch([x], [y])), shown(bare.evaluate([BATCH], verbose=2)))
    bare.prepare(loss=paddle.nn.CrossEntropyLoss())
    print(shown(bare.eval_batch([x], [y])), shown(bare.evaluate([BATCH], verbose=2)))


def two_inputs(paddle: Any, folder: str) -> None:
    nn, functional, base = paddle.nn, paddle.nn.functional, dataset(paddle, 6)

    class Two(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = network(paddle), network(paddle)

        def forward(self, x: Any, y: Any) -> Any:
            return self.a(x), self.b(y)

    class Data(paddle.io.Dataset):
        def __getitem__(self, index: int) -> Any:
            return base.x[index], base.x[index] * 2, base.y[index], base.y[(index + 1) % 6]

        def __len__(self) -> int:
            return 6

    class Pair(paddle.metric.Metric):
        def __init__(self) -> None:
            super().__init__()
            self.reset()

        def compute(self, a: Any, b: Any, y: Any, z: Any) -> Any:
            hit = [(v.argmax(-1, keepdim=True) == label).astype("float32") for v, label in ((a, y), (b, z))]
            return hit[0], hit[1]

        def update(self, first: Any, second: Any) -> Any:
            print("update", shown(first), shown(second))
            self.found.append((float(first.mean()), float(second.mean())))
            return self.found[-1]

        def reset(self) -> None:
            self.found: list[Any] = []

        def accumulate(self) -> Any:
            return tuple(np.mean(self.found, axis=0))

        def name(self) -> Any:
            return ["first", "second"]

    def loss(a: Any, b: Any, y: Any, z: Any) -> Any:
        return [functional.cross_entropy(a, y), functional.cross_entropy(b, z)]

    spec = paddle.static.InputSpec
    specs = [spec([None, 4], "float32", n) for n in "xy"], [spec([None, 1], "int64", n) for n in "lk"]
    for given in ((), specs):
        made = paddle.Model(Two(), *given)
        made.prepare(paddle.optimizer.SGD(0.1, parameters=made.parameters()), loss, [Pair()])
        made.fit(Data(), Data(), batch_size=4, verbose=2, log_freq=1, shuffle=False)
        print(shown(made.evaluate(Data(), batch_size=4, verbose=0)))
        print(shown(made.predict(Data(), batch_size=4, verbose=2)))
        print(shown(made.predict(Data(), batch_size=4, verbose=0, stack_outputs=True)))
        print(shown(made.train_batch([BATCH[0]] * 2, [BATCH[1]] * 2)))


def several_metrics(paddle: Any, folder: str) -> None:
    made = model(paddle)
    metrics = [paddle.metric.Accuracy(topk=(1, 2)), paddle.metric.Accuracy(name="b")]
    made.prepare(made._optimizer, paddle.nn.CrossEntropyLoss(), metrics)
    made.fit(dataset(paddle, 6), batch_size=4, verbose=2, log_freq=1, shuffle=False)
    print(shown(made.train_batch([BATCH[0]], [BATCH[1]])))
    print(shown(made.evaluate(dataset(paddle, 6), batch_size=4, verbose=2)))


def unlike(paddle: Any, folder: str) -> None:
    """Calls that are refused, by the class that a script catches."""
    made = model(paddle)
    bare = paddle.Model(network(paddle))
    for kind, call in (
        (AssertionError, lambda: made.fit(None)),
        (AssertionError, lambda: made.fit([BATCH], num_iters=0)),
        (AssertionError, lambda: bare.train_batch([BATCH[0]], [BATCH[1]])),
        (AssertionError, lambda: bare.prepare(metrics=3)),
        (AssertionError, lambda: made.load(folder + "/absent")),
        (TypeError, lambda: bare.prepare(loss=3)),
        (ValueError, lambda: bare.prepare(amp_configs="O9")),
        (ValueError, lambda: bare.prepare(amp_configs={"unknown": 1})),
        (ValueError, lambda: paddle.callbacks.LRScheduler(True, True)),
        (ValueError, lambda: paddle.callbacks.ReduceLROnPlateau(factor=1.0)),
        (ImportError, lambda: paddle.callbacks.WandbCallback()),
    ):
        try:
            call()
        except kind:
            print("refused as", kind.__name__)


def summaries(paddle: Any, folder: str) -> None:
    def shapes(made: Any, *given: Any) -> None:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            counts = made.summary(*given)
        print({name: int(count) for name, count in counts.items()})
        # The names of layers count the layers of a process.
        print(re.sub(r" *\w+-\d+ *", " LAYER ", printed.getvalue()))

    made = model(paddle)
    shapes(made, (2, 4))
    made.train_batch([BATCH[0]], [BATCH[1]])
    shapes(made)
    shapes(paddle.Model(network(paddle), [paddle.static.InputSpec([None, 4], "float32", "x")]))
    paddle.enable_static()
    try:
        shapes(static_model(paddle), (3, 4))
        shapes(static_model(paddle))
    finally:
        paddle.disable_static()


# -- callbacks -----------------------------------------------------------------------------------------------
def stopping(paddle: Any, folder: str) -> None:
    callbacks = paddle.callbacks
    for options in (
        {"monitor": "loss", "mode": "min", "patience": 1},
        {"monitor": "acc", "patience": 2, "verbose": 0, "min_delta": 0.1, "baseline": 0.4},
        {"save_best_model": False},
    ):
        made = model(paddle, optimizer="Adam", rate=0.05)
        stop = callbacks.EarlyStopping(**options)
        made.fit(
            dataset(paddle, 10),
            dataset(paddle, 6),
            batch_size=4,
            epochs=8,
            verbose=2,
            log_freq=100,
            shuffle=False,
            save_dir=folder,
            save_freq=100,
            callbacks=[stop],
        )
        print(stop.stopped_epoch, stop.wait_epoch, shown(stop.best_value))
    print(tree(folder))
    made.stop_training = False
    made.fit(dataset(paddle, 10), batch_size=4, epochs=2, verbose=2, callbacks=[callbacks.EarlyStopping()])

    class Stop(callbacks.Callback):
        def on_train_batch_end(self, step: int, logs: Any = None) -> None:
            self.model.stop_training = True

    model(paddle).fit([BATCH] * 3, [BATCH], verbose=2, log_freq=1, epochs=3, callbacks=Stop())


def rates(paddle: Any, folder: str) -> None:
    callbacks = paddle.callbacks

    class Rate(callbacks.Callback):
        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            print("rate", round(self.model._optimizer.get_lr(), 8))

    def schedule(size: int) -> Any:
        return paddle.optimizer.lr.StepDecay(0.1, size, 0.5)

    for every, given in ((2, []), (1, [callbacks.LRScheduler(by_step=False, by_epoch=True)])):
        model(paddle, optimizer="Adam", rate=schedule(every)).fit(
            dataset(paddle, 10), batch_size=4, epochs=2, verbose=2, shuffle=False, callbacks=[*given, Rate()]
        )


def order(paddle: Any, folder: str) -> None:
    class Mine(paddle.callbacks.Callback):
        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            print("mine", shown(logs["loss"]), shown(logs["acc"]), logs["step"])
            logs["extra"] = 5

        def on_eval_end(self, logs: Any = None) -> None:
            print("mine", logs["extra"])

    made = model(paddle)
    made.fit([BATCH] * 2, [BATCH], verbose=2, callbacks=[Mine()], save_dir=folder)
    bar = paddle.callbacks.ProgBarLogger(1, 2)
    made.fit([BATCH] * 2, [BATCH], verbose=0, callbacks=[Mine(), bar])


# -- state ---------------------------------------------------------------------------------------------------
def saving(paddle: Any, folder: str) -> None:
    made = model(paddle, optimizer="Adam")
    made.train_batch([BATCH[0]], [BATCH[1]])
    made.save(folder + "/state/x")
    made.save(folder + "/bare/y", training=False)
    print(tree(folder), sorted(paddle.load(folder + "/state/x.pdparams")))
    again = model(paddle)
    again.load(folder + "/state/x")
    again.load(folder + "/state/x.pdparams", reset_optimizer=True)
    print(
        shown(again.eval_batch([BATCH[0]], [BATCH[1]])[0]), shown(made.eval_batch([BATCH[0]], [BATCH[1]])[0])
    )
    print(np.allclose(again.predict_batch([BATCH[0]])[0], made.predict_batch([BATCH[0]])[0]))
    loaded = paddle.jit.load(folder + "/bare/y")
    print(np.allclose(loaded(paddle.to_tensor(BATCH[0])).numpy(), made.predict_batch([BATCH[0]])[0]))
    paddle.save(made.network.state_dict(), folder + "/only.pdparams")
    again.load(folder + "/only")
    nn = paddle.nn
    more = paddle.Model(nn.Sequential(*network(paddle), nn.Linear(3, 3)))
    more.load(folder + "/state/x", skip_mismatch=True)
    print(np.allclose(more.network[2].weight.numpy(), made.network[2].weight.numpy()))
    try:
        more.load(folder + "/state/x")
    except ValueError:
        print("refused")


def lenet(paddle: Any, folder: str) -> None:
    """The first script of the documents, with images that NumPy draws."""
    drawn = np.random.RandomState(3)
    labels = drawn.randint(0, 10, (64, 1)).astype("int64")
    pictures = drawn.rand(64, 1, 28, 28).astype("float32") * 0.1
    pictures[np.arange(64), 0, labels[:, 0] * 2] += 1.0

    class Pictures(paddle.io.Dataset):
        def __getitem__(self, index: int) -> Any:
            return pictures[index], labels[index]

        def __len__(self) -> int:
            return 64

    class LossHistory(paddle.callbacks.Callback):
        def on_train_begin(self, logs: Any = None) -> None:
            self.losses: list[float] = []

        def on_train_batch_end(self, step: int, logs: Any = None) -> None:
            self.losses.append(logs["loss"][0])

    made = paddle.Model(fixed(paddle.vision.models.LeNet(), 0.2))
    made.prepare(
        paddle.optimizer.Adam(0.002, parameters=made.parameters()),
        paddle.nn.CrossEntropyLoss(),
        paddle.metric.Accuracy(),
    )
    history = LossHistory()
    made.fit(Pictures(), Pictures(), batch_size=16, epochs=3, verbose=2, log_freq=2, callbacks=[history])
    print([round(v, 3) for v in history.losses])
    print(shown(made.evaluate(Pictures(), batch_size=16, verbose=0)))
    print(shown(made.predict(Pictures(), batch_size=16, stack_outputs=True, verbose=0)))


# -- static mode ---------------------------------------------------------------------------------------------
def static_model(paddle: Any, optimizer: str = "Adam", rate: Any = 0.1) -> Any:
    nn, spec = paddle.nn, paddle.static.InputSpec
    weight = np.arange(24).reshape(8, 3).astype("float32") / 24
    net = nn.Sequential(
        nn.Linear(4, 8, weight_attr=nn.initializer.Constant(0.1)),
        nn.ReLU(),
        nn.Linear(8, 3, weight_attr=nn.initializer.Assign(weight)),
    )
    made = paddle.Model(net, [spec([None, 4], "float32", "x")], [spec([None, 1], "int64", "y")])
    made.prepare(
        getattr(paddle.optimizer, optimizer)(rate, parameters=made.parameters()),
        nn.CrossEntropyLoss(),
        paddle.metric.Accuracy(),
    )
    return made


def static_mode(paddle: Any, folder: str) -> None:
    paddle.enable_static()
    try:
        made = static_model(paddle)
        made.fit(
            dataset(paddle, 10),
            dataset(paddle, 6),
            batch_size=4,
            epochs=2,
            verbose=2,
            log_freq=1,
            shuffle=False,
            save_dir=folder,
        )
        print(tree(folder))
        print(shown(made.evaluate(dataset(paddle, 7), batch_size=4, verbose=0)), made.mode)
        print(shown(made.predict(dataset(paddle, 6), batch_size=4, verbose=0)))
        for call in (made.train_batch, made.eval_batch):
            print(shown(call([BATCH[0]], [BATCH[1]])))
        made.fit([BATCH] * 4, [BATCH], epochs=2, verbose=2)
        try:
            made.train_batch([BATCH[0]], [BATCH[1]], update=False)
        except AssertionError:
            print("refused")
        stepped = static_model(paddle, "SGD", paddle.optimizer.lr.StepDecay(0.1, 2))
        stepped.fit([BATCH] * 4, verbose=2, log_freq=1)
        print(round(stepped._optimizer.get_lr(), 8))
    finally:
        paddle.disable_static()


SCENARIOS = [
    calls,
    progress,
    many_steps,
    shuffled,
    iterables,
    iterations,
    frequencies,
    accumulated,
    batches,
    two_inputs,
    several_metrics,
    unlike,
    stopping,
    rates,
    order,
    saving,
    lenet,
    static_mode,
    summaries,
]
