"""Plans on a GPU as CUDA graphs: recorded at the third call, replayed with the bits of a plain run."""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import nn, optimizer
from engine.core.errors import ArgumentError
from engine.core.spans import watch
from engine.kernels import choice
from engine.nn import functional as F
from engine.profiler.planned import planned_step
from engine.program.run.cuda_graph import replay
from engine.training.stepper import Stepper
from studio.cli.train.plan_output import show_plans
from tests.cupy_stand_in.counts import counted
from tests.cupy_stand_in.module import gpu

needs_counts = pytest.mark.skipif(gpu(), reason="the stand-in counts the work of a GPU")


@pytest.fixture(autouse=True)
def kernels(cupy: Any) -> Iterator[None]:
    """Kernels of the engine's own: CuPy's products can't be recorded."""
    with choice.kernels.guard("auto"), choice.cuda_graphs.guard("auto"):
        yield


def _batches(count: int, *shape: int) -> list[tuple[Any, Any]]:
    drawn = np.random.default_rng(3)
    return [
        (
            paddle.to_tensor(drawn.normal(size=shape).astype("float32")),
            paddle.to_tensor(drawn.integers(0, 4, (shape[0], 1))),
        )
        for _ in range(count)
    ]


def _plain() -> Any:
    return choice.cuda_graphs.guard("off")


def _plans(step: Any) -> list[str]:
    return [plan.graph for _, plan in step.concrete_program.plans()]


def _train(make: Callable[[], Any], shape: tuple[int, ...], plain: bool, at_once: bool) -> tuple[Any, ...]:
    """Losses of eight steps with Adam, the state after them, and how the plans ran."""
    with _plain() if plain else nullcontext():
        paddle.seed(5)
        network = make()
        adam = optimizer.Adam(0.01, parameters=network.parameters())

        @paddle.jit.to_static
        def step(x: Any, label: Any) -> Any:
            return F.cross_entropy(network(x), label)

        losses = []
        for x, label in _batches(8, *shape):
            if at_once:
                loss = step.with_gradients(x, label)
            else:
                loss = step(x, label)
                loss.backward()
            adam.step()
            adam.clear_grad()
            losses.append(float(loss))
        state = {name: value.numpy() for name, value in network.state_dict().items()}
        return losses, state, _plans(step)


def _mlp() -> Any:
    return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 4))


def _with_norm() -> Any:
    return nn.Sequential(
        nn.Conv2D(1, 3, 3), nn.BatchNorm2D(3), nn.ReLU(), nn.MaxPool2D(2), nn.Flatten(), nn.Linear(12, 4)
    )


def _with_dropout() -> Any:
    return nn.Sequential(nn.Linear(6, 8), nn.Dropout(0.5), nn.Linear(8, 8), nn.Dropout(0.3), nn.Linear(8, 4))


class _Sequences(nn.Layer):
    """A recurrent layer and an attending one."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(2, 4)
        self.attending = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.2)
        self.last = nn.Linear(12, 4)

    def forward(self, x: Any) -> Any:
        found, _ = self.lstm(x.reshape([-1, 3, 2]))
        return self.last(self.attending(found).flatten(1))


@pytest.mark.parametrize("at_once", [True, False], ids=["at once", "forward and backward"])
@pytest.mark.parametrize(
    ("make", "shape"),
    [(_mlp, (5, 6)), (_with_norm, (3, 1, 6, 6)), (_with_dropout, (5, 6)), (_Sequences, (2, 6))],
)
def test_a_training_run_is_bitwise_identical_to_a_plain_one(
    make: Callable[[], Any], shape: tuple[int, ...], at_once: bool
) -> None:
    losses, state, plans = _train(make, shape, plain=False, at_once=at_once)
    plain_losses, plain_state, plain_plans = _train(make, shape, plain=True, at_once=at_once)
    assert losses == plain_losses
    assert len(set(losses)) == 8
    for (name, value), other in zip(state.items(), plain_state.values(), strict=True):
        np.testing.assert_array_equal(value, other, err_msg=name)
    assert plans == ["graph"] * len(plain_plans)
    assert set(plain_plans) == {"plain: the setting cuda_graphs is off"}


@needs_counts
def test_a_replay_is_one_launch_and_the_copies_of_the_feed() -> None:
    network = _mlp()

    @paddle.jit.to_static
    def scores(x: Any) -> Any:
        return network(x)

    with paddle.no_grad():
        for x, _ in _batches(4, 5, 6):
            scores(x)
        x, _ = _batches(1, 5, 6)[0]
        with counted() as done:
            found = scores(x)
    assert (done.launches, done.waits, done.to_host, done.to_device) == (2, 0, 0, 0), done.lines("waits")
    np.testing.assert_allclose(found.numpy(), network(x).numpy(), rtol=1e-6)


def test_a_loaded_model_predicts_with_a_graph(tmp_path: Path) -> None:
    network = _with_norm()
    network.eval()
    paddle.jit.save(
        network, str(tmp_path / "net"), [paddle.static.InputSpec([None, 1, 6, 6], "float32", "x")]
    )
    loaded = paddle.jit.load(str(tmp_path / "net"))
    for x, _ in _batches(5, 3, 1, 6, 6):
        np.testing.assert_allclose(loaded(x).numpy(), network(x).numpy(), rtol=1e-5, atol=1e-6)
    plans = [plan for each in loaded.functions["forward"]._runners.values() for _, plan in each.plans()]
    # The first prediction is that of the model as it was saved; those after it have one of their own.
    assert [plan.graph for plan in plans] == ["plain", "graph"]


def test_the_plan_of_a_training_step_is_shown_as_a_graph(capsys: pytest.CaptureFixture[str]) -> None:
    network = _with_norm()
    stepper = Stepper(network, optimizer.Adam(parameters=network.parameters()), True, (1, 6, 6))
    for x, label in _batches(3, 3, 1, 6, 6):
        before = [part.graph for part in planned_step(stepper).parts]
        stepper.train(x, label)
    found = planned_step(stepper)
    assert (before, [part.graph for part in found.parts]) == (["plain"], ["graph"])
    show_plans(found)
    assert (
        f"forward and backward: {len(found.parts[0].rows)} operators, as a CUDA graph"
        in capsys.readouterr().out
    )


@needs_counts
def test_a_replayed_training_step_waits_only_for_fetched_values() -> None:
    def steps() -> tuple[list[Any], Any]:
        paddle.seed(3)
        network = _with_norm()
        stepper = Stepper(network, optimizer.Adam(parameters=network.parameters()), True, (1, 6, 6))
        found = []
        for x, label in _batches(6, 3, 1, 6, 6):
            with counted() as done:
                found.append((*stepper.train(x, label), stepper.gradient_norm))
        return found, done

    found, done = steps()
    with _plain():
        plain, plain_done = steps()
    assert found == plain
    assert (done.waits, done.to_host, done.to_device) == (3, 3, 0), done.lines("waits")
    # The graph, its feed, two copies of numbers, the norm and one update.
    assert done.launches < 16
    assert plain_done.launches > 2 * done.launches


def test_a_recording_of_spans_sees_the_operators_one_by_one() -> None:
    @paddle.jit.to_static
    def twice(x: Any) -> Any:
        return paddle.tanh(x) @ x

    class Names:
        shapes = details = False

        def __init__(self) -> None:
            self.found: list[str] = []

        def add(self, kind: str, name: str, *_: Any) -> None:
            self.found.append(name)

    x = paddle.ones([3, 3])
    for _ in range(4):
        twice(x)
    names = Names()
    watch.start(names)  # type: ignore[arg-type]
    try:
        twice(x)
    finally:
        watch.stop()
    assert _plans(twice) == ["graph"]
    assert names.found == ["tanh", "matmul_v2"]


def test_a_result_that_the_caller_keeps_is_not_written_again() -> None:
    @paddle.jit.to_static
    def twice(x: Any) -> Any:
        return x * 2.0

    results = [twice(paddle.full([3], float(n))) for n in range(7)]
    assert [float(each[0]) for each in results] == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0]
    views = [twice(paddle.full([3], float(n)))[1:] for n in range(4)]
    assert [float(each[0]) for each in views] == [0.0, 2.0, 4.0, 6.0]
    strided = [paddle.as_strided(twice(paddle.full([3], float(n))), [2], [1]) for n in range(6)]
    assert [float(each[0]) for each in strided] == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
    assert _plans(twice) == ["graph"]


def test_memory_of_a_retained_result_is_not_written_again(cupy: Any) -> None:
    @paddle.jit.to_static
    def twice(x: Any) -> Any:
        return x * 2.0

    results = []
    for n in range(6):  # as CuPy's as_strided makes arrays: they do not know whose memory it is
        found = twice(paddle.full([3], float(n)))._array
        results.append(cupy.ndarray((2,), found.dtype, found.data + 4))
        del found
    assert [float(each[1]) for each in results] == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]


def test_a_result_outlives_its_graph() -> None:
    @paddle.jit.to_static
    def twice(x: Any) -> Any:
        return x * 2.0

    for n in range(4):
        results = twice(paddle.full([300], float(n)))
    replay.let_go_of_all()
    del twice
    gc.collect()
    others = [paddle.full([300], 9.0) for _ in range(20)]
    assert results.numpy().tolist() == [6.0] * 300
    assert len(others) == 20


def test_a_replay_drops_other_elements_each_time() -> None:
    @paddle.jit.to_static
    def drop(x: Any) -> Any:
        return F.dropout(x, 0.5)

    def masks() -> list[tuple[float, ...]]:
        paddle.seed(7)
        return [tuple(drop(paddle.ones([40])).numpy().tolist()) for _ in range(7)]

    found = masks()
    assert _plans(drop) == ["graph"]
    assert len(set(found)) == 7
    assert masks() == found
    with _plain():
        assert masks() == found


def test_moved_weights_are_noticed() -> None:
    network = nn.Linear(3, 2)

    @paddle.jit.to_static
    def scores(x: Any) -> Any:
        return network(x)

    x = paddle.ones([4, 3])
    with paddle.no_grad():
        for n in range(12):
            if n % 3 == 2:
                network.weight._array = network.weight._array.copy() * 1.5
            np.testing.assert_array_equal(scores(x).numpy(), network(x).numpy())
            if n in (5, 7):
                network.weight.set_value(paddle.full([3, 2], float(n)))


def test_a_rate_that_changes_is_not_part_of_the_graph(cupy: Any) -> None:
    batches = [x.numpy() for x, _ in _batches(8, 4, 3)]

    def run() -> list[float]:
        paddle.seed(2)
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup):
            x = paddle.static.data("x", [4, 3])
            loss = paddle.mean(paddle.static.nn.fc(x, 2) ** 2)
            rate = optimizer.lr.ExponentialDecay(0.1, 0.5)
            optimizer.Adam(rate).minimize(loss)
        executor, scope = paddle.static.Executor(paddle.CUDAPlace(0)), paddle.static.Scope()
        found = []
        with paddle.static.scope_guard(scope):
            executor.run(startup)
            for batch in batches:
                (value,) = executor.run(main, feed={"x": batch}, fetch_list=[loss])
                found.append(float(value))
                rate.step()
        ways.append([compiled.plan.graph for compiled in main.plans.values()])
        return found

    ways: list[list[str]] = []

    paddle.enable_static()
    try:
        found = run()
        with _plain():
            plain = run()
    finally:
        paddle.disable_static()
    assert found == plain
    assert ways == [["graph"], ["plain: the setting cuda_graphs is off"]]


def test_an_operator_that_cannot_be_recorded_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    @paddle.jit.to_static
    def choose(x: Any) -> Any:
        if x.sum() > 0:
            return x + 1.0
        return x - 1.0

    @paddle.jit.to_static
    def places(x: Any) -> Any:
        return paddle.nonzero(x) + 1

    @paddle.jit.to_static
    def decompose(x: Any) -> Any:
        return paddle.linalg.svd(x * 2.0)[1] + 1.0

    x = paddle.to_tensor(np.eye(3, dtype="float32"))
    want = [f(x).numpy() for f in (choose, places, decompose)]
    with caplog.at_level(logging.INFO, "engine.program.run.cuda_graph.replay"):
        for _ in range(5):
            for function, each in zip((choose, places, decompose), want, strict=True):
                np.testing.assert_array_equal(function(x).numpy(), each)
    messages = [record.getMessage() for record in caplog.records]
    assert len(messages) == 3
    assert "conditional_block (test_replay.py:" in messages[0]
    assert "the host looks at values" in messages[0]
    assert "where_index (test_replay.py:" in messages[1]
    assert "the shape of its result depends on values" in messages[1]
    assert "svd (test_replay.py:" in messages[2]
    assert _plans(choose)[0].startswith("plain: conditional_block")


def test_a_recording_that_fails_has_changed_nothing(cupy: Any) -> None:
    norm = nn.BatchNorm1D(3)

    def function(x: Any) -> Any:
        return paddle.linalg.svd(norm(x))[1]

    static = paddle.jit.to_static(function)
    means = []
    for n, (x, _) in enumerate(_batches(5, 4, 3)):
        before = norm._mean.numpy()
        with paddle.no_grad():
            static(x)
        np.testing.assert_allclose(
            norm._mean.numpy(), 0.9 * before + 0.1 * x.numpy().mean(0), rtol=1e-5, err_msg=str(n)
        )
        means.append(norm._mean.numpy())
    assert _plans(static)[0].startswith("plain: svd")
    assert not cupy.cuda.get_current_stream().is_capturing()


def test_a_copy_from_the_host_is_not_recorded() -> None:
    from engine.core.operators.opdef import OPS

    tanh = OPS["tanh"].kernel

    def copying(xp: Any, x: Any, *, out: Any = None) -> Any:
        return tanh(xp, x) + xp.asarray(np.ones(3, "float32"))

    @paddle.jit.to_static
    def function(x: Any) -> Any:
        return paddle.tanh(x)

    override = OPS["tanh"].overrides.get("cupy")
    OPS["tanh"].override("cupy", copying)
    try:
        for _ in range(4):
            function(paddle.zeros([3]))
    finally:
        OPS["tanh"].overrides.pop("cupy")
        if override is not None:
            OPS["tanh"].override("cupy", *override[:1], direct=override[1])
    assert _plans(function)[0].startswith("plain: tanh (test_replay.py:")


def test_few_graphs_are_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay, "CACHED", 2)
    replay.let_go_of_all()

    @paddle.jit.to_static(input_spec=[paddle.static.InputSpec([None], "float32")])
    def twice(x: Any) -> Any:
        return x * 2.0

    for _ in range(4):
        for length in (2, 3, 4):
            assert float(twice(paddle.ones([length])).sum()) == 2.0 * length
    assert sorted(_plans(twice)) in (["graph", "graph", "plain"], ["graph", "plain", "plain"])


def test_a_choice_that_does_not_exist_is_refused() -> None:
    @paddle.jit.to_static
    def twice(x: Any) -> Any:
        return x * 2.0

    with choice.cuda_graphs.guard("sometimes"), pytest.raises(ArgumentError, match="takes auto, off"):
        twice(paddle.ones([2]))
