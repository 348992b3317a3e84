"""``Model`` on the built-in digits, its state, and where it does more than Paddle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import nn
from engine.core.errors import ArgumentError, DTypeError, UnreadyError
from engine.static import InputSpec
from engine.vision.datasets.digits import Digits
from engine.vision.models import LeNet
from engine.vision.transforms import ToTensor

X, Y = np.ones((4, 4), "float32"), np.ones((4, 1), "int64")


def digits(mode: str, count: int) -> Any:
    return Digits(mode=mode, count=count, transform=ToTensor())


def prepared(network: Any, rate: Any = 0.01, optimizer: Any = paddle.optimizer.Adam) -> paddle.Model:
    model = paddle.Model(network)
    model.prepare(
        optimizer(rate, parameters=model.parameters()), nn.CrossEntropyLoss(), paddle.metric.Accuracy()
    )
    return model


def linear(*, seed: int = 5) -> Any:
    paddle.seed(seed)
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))


def test_lenet_learns_the_digits_and_resumes_from_its_checkpoint(tmp_path: Path, capsys: Any) -> None:
    paddle.seed(1)
    train, test = digits("train", 512), digits("test", 128)
    model = prepared(LeNet(), 0.003)
    before = model.evaluate(test, batch_size=64, verbose=0)
    model.fit(train, test, batch_size=32, epochs=3, verbose=2, save_dir=str(tmp_path), save_freq=2)
    after = model.evaluate(test, batch_size=64, verbose=0)
    assert before["acc"] < 0.3
    assert after["acc"] > 0.6
    assert "step 16/16 - loss: " in capsys.readouterr().out
    assert {p.name for p in tmp_path.iterdir()} == {
        f"{name}.{suffix}" for name in ("0", "2", "final") for suffix in ("pdparams", "pdopt")
    }

    loaded = prepared(LeNet(), 0.003)
    loaded.load(str(tmp_path / "final"))
    assert loaded.evaluate(test, batch_size=64, verbose=0) == after
    (scores,) = loaded.predict(test, batch_size=50, stack_outputs=True, verbose=0)
    labels = np.array([test[n][1] for n in range(len(test))]).reshape(-1)
    assert (scores.argmax(1) == labels).mean() == pytest.approx(after["acc"])

    for each in (model, loaded):
        each.fit(train, batch_size=32, verbose=0, shuffle=False)
    for mine, other in zip(model.parameters(), loaded.parameters(), strict=True):
        np.testing.assert_array_equal(mine.numpy(), other.numpy())


def test_a_converted_network_trains_the_same() -> None:
    eager, converted = prepared(linear()), prepared(paddle.jit.to_static(linear()))
    for model in (eager, converted):
        model.fit([(X, Y)] * 3, verbose=0)
    np.testing.assert_allclose(converted.predict_batch(X)[0], eager.predict_batch(X)[0], rtol=1e-5, atol=1e-6)


def test_static_and_eager_mode_train_the_same(tmp_path: Path) -> None:
    eager = prepared(linear())
    eager.save(str(tmp_path / "first"))
    losses = [eager.train_batch(X, Y)[0][0] for _ in range(4)]
    paddle.enable_static()
    try:
        model = paddle.Model(
            linear(), InputSpec([None, 4], "float32", "x"), InputSpec([None, 1], "int64", "y")
        )
        model.prepare(
            paddle.optimizer.Adam(0.01, parameters=model.parameters()),
            nn.CrossEntropyLoss(),
            paddle.metric.Accuracy(),
        )
        model.load(str(tmp_path / "first"))
        found = [model.train_batch(X, Y)[0][0] for _ in range(2)]
        model.save(str(tmp_path / "state"))
        model.save(str(tmp_path / "inference"), training=False)
        there = model.predict_batch(X)[0]
        found += [model.train_batch(X, Y)[0][0] for _ in range(2)]

        paddle.seed(9)
        again = paddle.Model(
            linear(), InputSpec([None, 4], "float32", "x"), InputSpec([None, 1], "int64", "y")
        )
        again.prepare(paddle.optimizer.Adam(0.01, parameters=again.parameters()), nn.CrossEntropyLoss())
        again.load(str(tmp_path / "state"))
        resumed = [again.train_batch(X, Y)[0] for _ in range(2)]
    finally:
        paddle.disable_static()
    np.testing.assert_allclose(found, losses, rtol=1e-5)
    np.testing.assert_array_equal(resumed, found[2:])
    loaded = paddle.jit.load(str(tmp_path / "inference"))
    np.testing.assert_allclose(loaded(paddle.to_tensor(X)).numpy(), there, rtol=1e-6)


def test_static_mode_knows_training_from_evaluation() -> None:
    paddle.enable_static()
    try:
        net = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1D(3), nn.Dropout(0.5))
        model = paddle.Model(
            net, [InputSpec([None, 4], "float32", "x")], [InputSpec([None, 1], "int64", "y")]
        )
        model.prepare(paddle.optimizer.SGD(0.1, parameters=model.parameters()), nn.CrossEntropyLoss())
        x = np.random.default_rng(0).random((8, 4), "float32")
        y = np.zeros((8, 1), "int64")
        first = model.predict_batch(x)[0]
        np.testing.assert_array_equal(first, model.predict_batch(x)[0])
        model.train_batch(x, y)
        assert np.abs(model.predict_batch(x)[0] - first).max() > 1e-4  # running statistics have moved
        assert net[0].weight.block.program is paddle.static.default_main_program()
    finally:
        paddle.disable_static()


def test_two_static_models_of_one_program_keep_their_rates() -> None:
    paddle.enable_static()
    try:
        models = []
        for rate in (0.1, 0.7):
            net = nn.Linear(4, 3, weight_attr=nn.initializer.Constant(0.5))
            model = paddle.Model(
                net, [InputSpec([None, 4], "float32", "x")], [InputSpec([None, 1], "int64", "y")]
            )
            model.prepare(paddle.optimizer.SGD(rate, parameters=net.parameters()), nn.CrossEntropyLoss())
            models.append(model)
        moved = []
        for model in models:
            start = model.predict_batch(X)[0]
            model.train_batch(X, Y)
            moved.append(model.predict_batch(X)[0] - start)
    finally:
        paddle.disable_static()
    np.testing.assert_allclose(moved[1], moved[0] * 7, rtol=1e-4)


def test_an_iterable_dataset_has_no_known_length(capsys: Any) -> None:
    class Stream(paddle.io.IterableDataset):
        def __iter__(self) -> Any:
            return iter([(X[0], Y[0])] * 10)

    model = prepared(linear())
    model.fit(Stream(), Stream(), batch_size=4, verbose=2, log_freq=1)
    assert "step   3 - loss: " in capsys.readouterr().out
    (scores,) = model.predict(Stream(), batch_size=4, stack_outputs=True, verbose=0)
    assert scores.shape == (10, 3)


def test_a_limit_on_batches_ends_with_its_run() -> None:
    model, steps = prepared(linear()), []

    class Count(paddle.callbacks.Callback):
        def on_train_batch_end(self, step: int, logs: Any = None) -> None:
            steps.append(step)
            if step == 1:
                assert len(self.model.predict([(X,)] * 9, verbose=0)[0]) == 9
                self.model.evaluate([(X, Y)] * 9, verbose=0)

    model.fit([(X, Y)] * 9, verbose=0, num_iters=4, callbacks=Count())
    assert steps == [0, 1, 2, 3]

    class Broken(paddle.callbacks.Callback):
        def on_train_batch_end(self, step: int, logs: Any = None) -> None:
            raise KeyError("broken")

    with pytest.raises(KeyError):
        model.fit([(X, Y)] * 9, verbose=0, num_iters=4, callbacks=Broken())
    assert len(model.predict([(X,)] * 9, verbose=0)[0]) == 9


def test_the_state_of_another_optimizer_is_left_out_with_a_warning(tmp_path: Path) -> None:
    model = prepared(linear())
    model.train_batch(X, Y)
    model.save(str(tmp_path / "x"))
    other = prepared(linear(seed=6), optimizer=paddle.optimizer.SGD)
    with pytest.warns(UserWarning, match="optimizer's state is skipped"):
        other.load(str(tmp_path / "x"))
    np.testing.assert_array_equal(other.predict_batch(X)[0], model.predict_batch(X)[0])


def test_parameters_that_do_not_fit_change_nothing(tmp_path: Path) -> None:
    model = prepared(linear())
    model.save(str(tmp_path / "x"))
    other = prepared(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 5)))
    before = [p.numpy().copy() for p in other.parameters()]
    with pytest.raises(ArgumentError, match=r"2.weight receives a shape \[8, 3\]"):
        other.load(str(tmp_path / "x"))
    for parameter, value in zip(other.parameters(), before, strict=True):
        np.testing.assert_array_equal(parameter.numpy(), value)
    with pytest.warns(UserWarning, match="for 2.weight"), pytest.warns(UserWarning, match="for 2.bias"):
        other.load(str(tmp_path / "x"), skip_mismatch=True)
    np.testing.assert_array_equal(other.network[0].weight.numpy(), model.network[0].weight.numpy())


def test_an_inference_model_is_saved_without_dropout_and_leaves_the_mode(tmp_path: Path) -> None:
    net = nn.Sequential(nn.Linear(4, 3), nn.Dropout(0.5))
    net[0].eval()
    model = paddle.Model(net, [InputSpec([None, 4], "float32", "x")])
    model.save(str(tmp_path / "x"), training=False)
    assert (net.training, net[0].training, net[1].training) == (True, False, True)
    loaded = paddle.jit.load(str(tmp_path / "x"))
    expected = net[0](paddle.to_tensor(X)).numpy()
    np.testing.assert_allclose(loaded(paddle.to_tensor(X)).numpy(), expected, rtol=1e-6)
    with pytest.raises(UnreadyError, match="needs 'inputs'"):
        paddle.Model(net).save(str(tmp_path / "y"), training=False)


def test_refused() -> None:
    with pytest.raises(DTypeError, match="network must be a Layer: got int"):
        paddle.Model(3)  # type: ignore[arg-type]
    with pytest.raises(DTypeError, match="inputs must be InputSpecs: got str"):
        paddle.Model(linear(), "x")
    with pytest.raises(ArgumentError, match="with names"):
        paddle.Model(linear(), InputSpec([None, 4]))
    model = prepared(linear())
    model.prepare(model._optimizer, lambda out, label: out.sum(axis=1))
    with pytest.raises(DTypeError, match="a loss has shape"):
        model.evaluate([(X, Y)], verbose=0)
    with pytest.raises(UnreadyError, match="'input_size' or 'inputs'"):
        paddle.Model(linear()).summary()
    with pytest.raises(DTypeError, match="another iterable of batches: got int"):
        model.predict(3)
    with pytest.raises(ArgumentError, match="use_pure_fp16"):
        model.prepare(amp_configs={"use_pure_fp16": True})
    clipped = paddle.optimizer.SGD(0.1, parameters=model.parameters(), grad_clip=nn.ClipGradByValue(1.0))
    with pytest.raises(AssertionError, match="Only ClipGradByNorm"):
        model.prepare(clipped, amp_configs="O2")
