"""Many threads, sessions and processes at once get what one alone gets, where docs/guide/threads.md says so.

Attacked: gradients of one model from eight threads, graphs that two threads walk, one model, function,
predictor, loader and random generator used by eight threads, two trainings in two folders. What must hold: no
update, batch or number is lost or given twice, and what cannot be right raises the engine's own error.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import GradientError
from engine.nn import functional
from studio.session.runs.run_history import read_history
from studio.session.runs.runs_folder import list_runs
from studio.session.session import Session
from tests.robust.at_once import switching_often, together

LONG = bool(os.environ.get("MODEL_STUDIO_LONG"))
THREADS = 8
ROUNDS = 5000 if LONG else 24


@pytest.fixture(autouse=True)
def _switching_often() -> Iterator[None]:
    with switching_often():
        yield


def ones(*shape: int) -> Any:
    return paddle.ones(list(shape))


class Net(paddle.nn.Layer):
    """Gradients of all parameters are integers: lost updates show, rounding does not."""

    def __init__(self) -> None:
        super().__init__()
        one = paddle.ParamAttr(initializer=paddle.nn.initializer.Constant(1.0))
        self.first = paddle.nn.Linear(8, 64, weight_attr=one)
        self.last = paddle.nn.Linear(64, 64, weight_attr=one)

    def forward(self, x: Any) -> Any:
        return self.last(functional.relu(self.first(x))).sum()


# ----- gradients ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("converted", [False, True], ids=["eager", "converted"])
def test_no_update_of_eight_threads_is_lost(converted: bool) -> None:
    net = Net()
    call = paddle.jit.to_static(net) if converted else net
    x = ones(1, 8)
    call(x).backward()
    once = [p.grad.numpy() for p in net.parameters()]
    net.clear_gradients()

    def work(_: int) -> None:
        for _ in range(ROUNDS):
            call(x).backward()

    together(THREADS, work)
    for parameter, gradient in zip(net.parameters(), once, strict=True):
        np.testing.assert_array_equal(parameter.grad.numpy(), gradient * (THREADS * ROUNDS))


@pytest.mark.parametrize("to_zero", [True, False], ids=["to zeros", "to None"])
@pytest.mark.parametrize("held", [True, False], ids=["held", "not held"])
def test_a_gradient_is_cleared_before_or_after_an_update_never_within(to_zero: bool, held: bool) -> None:
    net = Net()
    x = ones(1, 8)
    net(x).backward()
    seen = net.last.bias.grad if held else None
    net.last.bias.clear_gradient(set_to_zero=to_zero)

    def work(n: int) -> None:
        for _ in range(ROUNDS):
            if n:
                net(x).backward()
            else:
                net.last.bias.clear_gradient(set_to_zero=to_zero)

    together(THREADS, work)
    left = net.last.bias.grad
    if left is not None:
        values = set(left.numpy().ravel().tolist())
        assert len(values) == 1  # every element has seen the same updates
        assert values.pop() <= (THREADS - 1) * ROUNDS
    if held:
        assert len(set(seen.numpy().ravel().tolist())) == 1


def test_a_graph_that_two_threads_walk_gives_whole_gradients_or_an_error() -> None:
    net = Net()
    x = ones(1, 8)
    net(x).backward()
    once = [p.grad.numpy() for p in net.parameters()]
    walked, refused = 0, list[str]()
    for _ in range(ROUNDS):
        net.clear_gradients()
        shared = functional.relu(net.first(x))
        losses = [net.last(shared).sum() for _ in range(2)]

        def walk(n: int, losses: Any = losses) -> bool:
            try:
                losses[n].backward()
            except GradientError as error:
                refused.append(str(error))
                return False
            return True

        done = sum(together(2, walk))
        assert done > 0
        walked += done
        for parameter, gradient in zip(net.parameters(), once, strict=True):
            np.testing.assert_array_equal(parameter.grad.numpy(), gradient * done)
    assert walked + len(refused) == 2 * ROUNDS
    assert all("freed by an earlier backward" in message for message in refused)


def test_a_kept_graph_is_walked_by_all_threads() -> None:
    net = Net()
    loss = net(ones(1, 8))
    together(THREADS, lambda _: [loss.backward(retain_graph=True) for _ in range(10)])
    np.testing.assert_array_equal(net.last.bias.grad.numpy(), np.full(64, THREADS * 10, "float32"))


def test_gradients_of_threads_then_one_step_equal_those_of_one_thread() -> None:
    def trained(run: Callable[[Callable[[int], None]], Any]) -> list[Any]:
        net = Net()
        rule = paddle.optimizer.Adam(learning_rate=0.01, parameters=net.parameters())
        for step in range(3):
            run(lambda n, step=step: (net(ones(1, 8) * float(n + step))).backward())  # type: ignore[misc]
            rule.step()
            rule.clear_grad()
        return [p.numpy() for p in net.parameters()]

    alone = trained(lambda work: [work(n) for n in range(THREADS)])
    for expected, got in zip(alone, trained(lambda work: together(THREADS, work)), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-5)  # sums in another order


# ----- one model, used by all -----------------------------------------------------------------------------


def inputs(count: int, rows: int = 2) -> list[Any]:
    rng = np.random.default_rng(5)
    return [paddle.to_tensor(rng.standard_normal((rows + n % 3, 8)).astype("float32")) for n in range(count)]


@pytest.mark.parametrize("converted", [False, True], ids=["eager", "converted"])
def test_one_model_predicts_for_all_threads(converted: bool) -> None:
    net = paddle.nn.Sequential(
        paddle.nn.Linear(8, 16), paddle.nn.BatchNorm1D(16), paddle.nn.ReLU(), paddle.nn.Linear(16, 4)
    )
    net.eval()
    xs = inputs(THREADS)
    with paddle.no_grad():
        expected = [net(x).numpy() for x in xs]
    call = paddle.jit.to_static(net) if converted else net

    def work(n: int) -> None:
        with paddle.no_grad():
            for _ in range(ROUNDS // 2):
                np.testing.assert_allclose(call(xs[n]).numpy(), expected[n], rtol=1e-5, atol=1e-6)

    together(THREADS, work)


@pytest.fixture
def saved(tmp_path: Path) -> str:
    net = paddle.nn.Sequential(paddle.nn.Linear(8, 16), paddle.nn.ReLU(), paddle.nn.Linear(16, 4))
    net.eval()
    prefix = str(tmp_path / "model")
    paddle.jit.save(net, prefix, input_spec=[paddle.static.InputSpec([None, 8], "float32")])
    return prefix


def test_a_loaded_model_and_predictors_predict_for_all_threads(saved: str) -> None:
    from engine import inference

    model = paddle.jit.load(saved)
    first = inference.create_predictor(inference.Config(saved + ".pdmodel", saved + ".pdiparams"))
    clones = [first.clone() for _ in range(THREADS)]
    xs = inputs(THREADS)
    with paddle.no_grad():
        expected = [model(x).numpy() for x in xs]

    def work(n: int) -> None:
        handle = clones[n].get_input_handle(clones[n].get_input_names()[0])
        result = clones[n].get_output_handle(clones[n].get_output_names()[0])
        for _ in range(ROUNDS // 4):
            np.testing.assert_allclose(model(xs[n]).numpy(), expected[n], rtol=1e-5, atol=1e-6)
            handle.copy_from_cpu(xs[n].numpy())
            clones[n].run()
            np.testing.assert_allclose(result.copy_to_cpu(), expected[n], rtol=1e-5, atol=1e-6)
            # One predictor for all, with inputs that belong to the call.
            np.testing.assert_allclose(first.run([xs[n]])[0].numpy(), expected[n], rtol=1e-5, atol=1e-6)

    together(THREADS, work)


def test_models_are_saved_and_loaded_by_all_threads(tmp_path: Path) -> None:
    def work(n: int) -> None:
        for turn in range(3):
            net = paddle.nn.Linear(8, n + 1)
            net.eval()
            prefix = str(tmp_path / f"{n}-{turn}")
            paddle.jit.save(net, prefix, input_spec=[paddle.static.InputSpec([None, 8], "float32")])
            x = ones(2, 8)
            np.testing.assert_allclose(
                paddle.jit.load(prefix)(x).numpy(), net(x).numpy(), rtol=1e-5, atol=1e-6
            )
            paddle.save(net.state_dict(), prefix + ".pdparams")
            weights = paddle.load(prefix + ".pdparams")
            np.testing.assert_array_equal(weights["weight"].numpy(), net.weight.numpy())

    together(THREADS, work)


# ----- random numbers and data ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["mt19937_64", "philox"])
def test_threads_draw_each_number_once(kind: str) -> None:
    paddle.seed(7, generator=kind)
    draws = ROUNDS
    alone = sorted(tuple(paddle.rand([5]).numpy().tolist()) for _ in range(THREADS * draws))
    paddle.seed(7, generator=kind)
    found = together(THREADS, lambda _: [tuple(paddle.rand([5]).numpy().tolist()) for _ in range(draws)])
    assert sorted(row for rows in found for row in rows) == alone
    paddle.seed(0, generator="mt19937_64")


class Numbers(paddle.io.Dataset):
    def __getitem__(self, index: int) -> Any:
        return np.array([index], "int64")

    def __len__(self) -> int:
        return 96


def rows(batches: Any) -> list[int]:
    return [int(v) for batch in batches for v in batch.numpy().ravel()]


def test_each_thread_iterates_over_one_loader_for_itself() -> None:
    loader = paddle.io.DataLoader(Numbers(), batch_size=4, shuffle=True)
    found = together(THREADS, lambda _: rows(loader))
    assert all(sorted(each) == list(range(96)) for each in found)


def test_threads_share_the_batches_of_one_iterator() -> None:
    for _ in range(5):
        batches = iter(paddle.io.DataLoader(Numbers(), batch_size=4))
        found = together(THREADS, lambda _, batches=batches: rows(batches))
        assert sorted(v for each in found for v in each) == list(range(96))


# ----- modes ----------------------------------------------------------------------------------------------


def test_guards_belong_to_their_thread() -> None:
    inside = threading.Barrier(2, timeout=60)

    def work(n: int) -> Any:
        if n == 0:
            with paddle.no_grad(), paddle.static.program_guard(paddle.static.Program()):
                inside.wait()
                inside.wait()
                return paddle.is_grad_enabled()
        inside.wait()
        found = (paddle.is_grad_enabled(), (ones(2) * 2).shape)
        inside.wait()
        return found

    assert together(2, work) == [False, (True, [2])]


def test_a_mode_switched_without_a_guard_holds_in_new_threads() -> None:
    paddle.enable_static()
    try:
        assert together(2, lambda _: paddle.in_dynamic_mode()) == [False, False]
    finally:
        paddle.disable_static()
    assert together(2, lambda _: paddle.in_dynamic_mode()) == [True, True]


# ----- sessions and processes -----------------------------------------------------------------------------


def test_two_sessions_of_one_process_train_into_one_place(tmp_path: Path) -> None:
    """Two trainings at once, each in a process and a folder, give the same bits."""
    sessions = [Session(runs_folder=tmp_path / "runs") for _ in range(2)]
    problems: list[Any] = []
    try:
        for session in sessions:
            session.problem.connect(problems.append)
            for name, value in (("model", "linear"), ("batch_size", 500), ("seed", 5)):
                session.change_setting(name, value)
            assert session.execute("start") == ""
            # Its name is taken once the folder is there; a start in the same moment is refused (decision 47).
            assert session.wait_until(lambda s=session: Path(s.train.folder).is_dir(), 100.0), problems
        folders = {session.train.folder for session in sessions}
        assert len(folders) == 2
        for session in sessions:
            assert session.wait_until(lambda session=session: not session.busy(), 100.0), problems
            assert session.train.state == "finished", problems
    finally:
        for session in sessions:
            session.close()
    runs = list_runs(tmp_path / "runs")
    assert {str(run.path) for run in runs} == folders
    histories = [read_history(run.path) for run in runs]
    assert len(histories[0].losses) > 5
    assert histories[0].losses == histories[1].losses
