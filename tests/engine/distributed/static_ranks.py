"""Static training on several processes against one with the whole batch, run by each rank of an MPI job."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import distributed as dist
from engine import fluid, static
from engine.distributed.static_training import parallelize
from engine.nn import functional as F
from tests.engine.distributed.ranks import RANK, SIZE

STEPS, BATCH = 20, 4 * SIZE
State = dict[str, np.ndarray[Any, Any]]


def batch(step: int) -> dict[str, Any]:
    drawn = np.random.RandomState(step)
    return {
        "image": drawn.uniform(-1, 1, (BATCH, 1, 12, 12)).astype(paddle.get_default_dtype()),
        "label": drawn.randint(0, 10, (BATCH, 1)),
    }


def share(feed: dict[str, Any]) -> dict[str, Any]:
    return {name: np.split(array, SIZE)[RANK] for name, array in feed.items()}


def network(optimizer: Callable[[], Any]) -> tuple[static.Program, static.Program, Any]:
    """A small LeNet: convolution, pooling, and two linear layers; the Programs and the loss."""
    main, startup = static.Program(), static.Program()
    with paddle.utils.unique_name.guard(), static.program_guard(main, startup):
        x = F.relu(
            static.nn.conv2d(static.data("image", [None, 1, 12, 12], paddle.get_default_dtype()), 4, 3)
        )
        x = F.relu(static.nn.conv2d(F.max_pool2d(x, 2, 2), 6, 3))
        scores = static.nn.fc(static.nn.fc(x, 12, activation="tanh"), 10)
        loss = F.cross_entropy(scores, static.data("label", [None, 1], "int64"))
        optimizer().minimize(loss)
    return main, startup, loss


def trained(
    optimizer: Callable[[], Any],
    run: Callable[[Any, Any, Any], Any],
    *,
    seed: int,
    alone: bool = False,
    build: Any = None,
) -> tuple[State, list[float]]:
    """The values after some steps, each process with its own seed and its part of the batch."""
    paddle.seed(seed)
    scope, executor = static.Scope(), static.Executor()
    with static.scope_guard(scope):
        main, startup, loss = (build or network)(optimizer)
        program = run(main, startup, loss)
        executor.run(startup)
        losses = []
        for step in range(STEPS):
            feed = batch(step) if alone else share(batch(step))
            if isinstance(program, static.ParallelExecutor):
                found = program.run([loss.name], [feed])
            else:
                found = executor.run(program, feed, [loss])
            losses.append(float(found[0]))
        kept = [v.name for v in main.list_vars() if v.persistable]
        return {name: np.array(scope.find_var(name).get_tensor()) for name in kept}, losses


def compiled(main: Any, startup: Any, loss: Any) -> Any:
    return static.CompiledProgram(main).with_data_parallel(loss_name=loss.name)


def one_by_one(main: Any, startup: Any, loss: Any) -> Any:
    strategy = static.BuildStrategy()
    strategy.fuse_all_reduce_ops = False
    return static.CompiledProgram(main, strategy).with_data_parallel(loss.name)


def executed(main: Any, startup: Any, loss: Any) -> Any:
    return static.ParallelExecutor(False, loss.name, main)


def in_place(main: Any, startup: Any, loss: Any) -> Any:
    parallelize(main, startup)
    return main


def transpiled(main: Any, startup: Any, loss: Any) -> Any:
    config = fluid.DistributeTranspilerConfig()
    config.mode = "collective"
    transpiler = fluid.DistributeTranspiler(config)
    transpiler.transpile(RANK, main, trainers=SIZE, startup_program=startup)
    return transpiler.get_trainer_program()


def transpiled_and_executed(main: Any, startup: Any, loss: Any) -> Any:
    config = fluid.DistributeTranspilerConfig()
    config.mode = "nccl2"
    ends = dist.ParallelEnv().trainer_endpoints
    fluid.DistributeTranspiler(config).transpile(
        RANK, main, trainers=",".join(ends), startup_program=startup, current_endpoint=ends[RANK]
    )
    return fluid.ParallelExecutor(False, loss.name, main, num_trainers=SIZE, trainer_id=RANK)


def plain(main: Any, startup: Any, loss: Any) -> Any:
    return main


def near(found: State, expected: State, tolerance: float) -> None:
    """Parameters, and what the optimizer keeps of them, against the largest value of each."""
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        largest = max(np.abs(array).max(), 1e-12)
        assert np.abs(found[name] - array).max() <= tolerance * largest, name


def of_all_ranks(value: Any) -> list[Any]:
    found: list[Any] = []
    dist.all_gather_object(found, value)
    return found


def equal_everywhere(state: State) -> None:
    """Every rank holds the same bits."""
    for other in of_all_ranks(state):
        for name, array in state.items():
            np.testing.assert_array_equal(other[name], array)


OPTIMIZERS: list[Callable[[], Any]] = [
    lambda: paddle.optimizer.SGD(0.05),
    lambda: paddle.optimizer.Momentum(
        0.01, 0.9, weight_decay=1e-3, grad_clip=paddle.nn.ClipGradByGlobalNorm(0.5)
    ),
    lambda: paddle.optimizer.Adam(paddle.optimizer.lr.StepDecay(0.001, 7)),
]


def parts_of_a_batch_train_as_the_whole() -> None:
    for optimizer in OPTIMIZERS:
        expected, whole = trained(optimizer, plain, seed=0, alone=True)
        first, losses = trained(optimizer, compiled, seed=RANK)
        near(first, expected, 2e-6)
        weights = [name for name in expected if name.endswith((".w_0", ".b_0"))]
        near(*({name: state[name] for name in weights} for state in (first, expected)), 1e-6)
        equal_everywhere(first)
        np.testing.assert_allclose(np.mean(of_all_ranks(losses), 0), whole, rtol=1e-5)
        for run in (one_by_one, executed, in_place, transpiled, transpiled_and_executed):
            again, _ = trained(optimizer, run, seed=RANK)
            for name, array in first.items():
                np.testing.assert_array_equal(again[name], array)


def in_double_precision_it_is_the_same() -> None:
    paddle.set_default_dtype("float64")
    for optimizer in OPTIMIZERS:
        expected, _ = trained(optimizer, plain, seed=0, alone=True)
        near(trained(optimizer, compiled, seed=RANK)[0], expected, 1e-13)
    paddle.set_default_dtype("float32")


def a_sum_is_the_mean_at_a_smaller_rate() -> None:
    def summed(main: Any, startup: Any, loss: Any) -> Any:
        strategy = static.BuildStrategy()
        strategy.gradient_scale_strategy = static.BuildStrategy.GradientScaleStrategy.One
        return static.CompiledProgram(main).with_data_parallel(loss.name, strategy)

    expected, _ = trained(lambda: paddle.optimizer.SGD(0.1), compiled, seed=RANK)
    found, _ = trained(lambda: paddle.optimizer.SGD(0.1 / SIZE), summed, seed=RANK)
    assert found.pop("learning_rate_0", None) is not expected.pop("learning_rate_0", 0)
    near(found, expected, 1e-6)


def gradients_in_a_loop_are_reduced() -> None:
    """The gradient of a parameter that only a loop reads, which no single gradient operator gives."""
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x = static.data("x", [3])
        w = static.create_parameter([3], "float32")
        i, total = paddle.zeros([], "int64"), x * 1.0
        _, total = static.nn.while_loop(lambda i, t: i < 2, lambda i, t: [i + 1, t * w], [i, total])
        loss = total.sum()
        paddle.optimizer.SGD(0.5).minimize(loss)
    made = compiled(main, startup, loss)
    executor = static.Executor()
    paddle.seed(RANK)
    executor.run(startup)
    x_of = [np.array([1.0, 2.0, 3.0], np.float32) * (rank + 1) for rank in range(SIZE)]
    first = of_all_ranks(np.array(static.global_scope().find_var(w.name).get_tensor()))[0]
    executor.run(made, {"x": x_of[RANK]}, [loss])
    gradient = np.mean([2 * first * each for each in x_of], 0)
    found = np.array(static.global_scope().find_var(w.name).get_tensor())
    np.testing.assert_allclose(found, first - 0.5 * gradient, rtol=1e-6)
    (fetched,) = executor.run(made, {"x": x_of[RANK]}, [main.gradients[0][1]])
    np.testing.assert_allclose(fetched, np.mean([2 * found * each for each in x_of], 0), rtol=1e-5)


def batch_norms_count_over_all() -> None:
    """With sync_batch_norm the net with batch norms trains as with the whole batch, running values too."""

    def normalized(optimizer: Callable[[], Any]) -> tuple[static.Program, static.Program, Any]:
        main, startup = static.Program(), static.Program()
        with paddle.utils.unique_name.guard(), static.program_guard(main, startup):
            x = static.nn.conv2d(static.data("image", [None, 1, 12, 12], "float64"), 4, 3, bias_attr=False)
            x = F.max_pool2d(static.nn.batch_norm(x, act="tanh"), 4, 4)
            scores = static.nn.fc(static.nn.batch_norm(static.nn.fc(x, 6, bias_attr=False)), 10)
            loss = F.cross_entropy(scores, static.data("label", [None, 1], "int64"))
            optimizer().minimize(loss)
        return main, startup, loss

    def synced(main: Any, startup: Any, loss: Any) -> Any:
        strategy = static.BuildStrategy()
        strategy.sync_batch_norm = True
        return static.CompiledProgram(main, strategy).with_data_parallel(loss.name)

    paddle.set_default_dtype("float64")
    expected, _ = trained(OPTIMIZERS[1], plain, seed=0, alone=True, build=normalized)
    found, _ = trained(OPTIMIZERS[1], synced, seed=RANK, build=normalized)
    near(found, expected, 1e-11)
    equal_everywhere(found)
    paddle.set_default_dtype("float32")


def what_is_refused() -> None:
    main, _, loss = network(OPTIMIZERS[0])
    with pytest.raises(ValueError, match="loss_name must be the name of a Variable"):
        static.CompiledProgram(main).with_data_parallel("no loss")
    with pytest.raises(ValueError, match=f"num_trainers is {SIZE + 1}: this job has {SIZE} processes"):
        static.ParallelExecutor(False, loss.name, main, num_trainers=SIZE + 1)


if __name__ == "__main__":
    paddle.enable_static()
    for check in (
        parts_of_a_batch_train_as_the_whole,
        in_double_precision_it_is_the_same,
        a_sum_is_the_mean_at_a_smaller_rate,
        gradients_in_a_loop_are_reduced,
        batch_norms_count_over_all,
        what_is_refused,
    ):
        check()
        sys.stdout.write(f"rank {RANK}: {check.__name__}\n")
        sys.stdout.flush()
    dist.barrier()
    sys.stdout.write(f"rank {RANK}: leaving\n")
