"""with_data_parallel and ParallelExecutor in one process, where they change nothing.

Several processes: tests/engine/distributed/static_ranks.py.
"""

from __future__ import annotations

import numpy as np
import pytest

import engine as paddle
from engine import static
from engine.distributed.environment import RANK, SIZE


@pytest.fixture(autouse=True)
def _alone(monkeypatch):
    for name in (*RANK, *SIZE):
        monkeypatch.delenv(name, raising=False)
    paddle.enable_static()
    yield
    paddle.disable_static()


def built():
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        loss = static.nn.fc(static.data("x", [None, 3]), 1).mean()
        paddle.optimizer.SGD(0.1).minimize(loss)
    return main, startup, loss


def test_one_process_runs_the_program_itself():
    main, startup, loss = built()
    executor = static.Executor()
    feed = {"x": np.ones((2, 3), np.float32)}
    compiled = static.CompiledProgram(main).with_data_parallel(
        loss_name=loss.name,
        build_strategy=static.BuildStrategy(),
        exec_strategy=static.ExecutionStrategy(),
        places=static.cpu_places(1),
    )
    assert compiled._program is main
    with static.scope_guard(static.Scope()):
        executor.run(startup)
        losses = [executor.run(compiled, feed, [loss])[0] for _ in range(2)]
        parallel = static.ParallelExecutor(False, loss.name, main, share_vars_from=None)
        losses += [parallel.run([loss.name], [feed])[0], parallel.run([loss], feed_dict=feed)[0]]
        parallel.drop_local_exe_scopes()
    assert parallel.device_count == 1
    differences = np.diff([float(each) for each in losses])
    assert (differences < 0).all()  # each of the four was a step
    np.testing.assert_allclose(differences, differences[0], rtol=1e-4)  # the loss is linear


def test_unknown_losses_and_programs_are_refused():
    main, _, loss = built()
    compiled = static.CompiledProgram(main)
    with pytest.raises(ValueError, match="loss_name must be the name of a Variable of the Program: got 'no'"):
        compiled.with_data_parallel("no")
    with pytest.raises(TypeError, match="exec_strategy is a ExecutionStrategy: got int"):
        compiled.with_data_parallel(loss.name, exec_strategy=1)
    strategy = static.BuildStrategy()
    strategy.gradient_scale_strategy = static.BuildStrategy.GradientScaleStrategy.Customized
    with pytest.raises(NotImplementedError, match="must be CoeffNumDevice or One: got 2; scale the loss"):
        compiled.with_data_parallel(loss.name, strategy)
    compiled.with_data_parallel(loss)
    with pytest.raises(ValueError, match="was called before"):
        compiled.with_data_parallel(loss)


def test_names_of_fluid():
    from engine import fluid

    assert fluid.CompiledProgram is fluid.compiler.CompiledProgram is static.CompiledProgram
    assert fluid.ParallelExecutor is fluid.parallel_executor.ParallelExecutor
    assert issubclass(fluid.ParallelExecutor, static.ParallelExecutor)
