"""Updates in plans as one call, against one operator for each parameter, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import jit, nn, static
from engine.kernels.choice import kernels
from engine.program.passes.pipeline import level
from engine.program.run.fusion.updates import Update
from engine.utils import unique_name

RULES: dict[str, Any] = {
    "adam": lambda p: paddle.optimizer.Adam(0.1, parameters=p),
    "adamw": lambda p: paddle.optimizer.AdamW(0.1, parameters=p, grad_clip=nn.ClipGradByGlobalNorm(0.5)),
    "momentum": lambda p: paddle.optimizer.Momentum(0.1, 0.9, p, weight_decay=0.01),
    "scheduled": lambda p: paddle.optimizer.SGD(paddle.optimizer.lr.StepDecay(0.1, 2), p),
}


@pytest.fixture
def missed(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each call updated the parameters one by one."""
    made: list[bool] = []
    call = Update.__call__

    def noted(self: Update, *given: Any) -> None:
        call(self, *given)
        made.append(self.missed)

    monkeypatch.setattr(Update, "__call__", noted)
    return made


def _batches() -> list[Any]:
    random = np.random.RandomState(0)
    return [
        (random.randn(n, 4).astype("float32"), random.randn(n, 2).astype("float32")) for n in (3, 3, 2, 3)
    ]


def _network() -> Any:
    paddle.seed(5)
    return nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))


def _executed(rule: str, passes: int, between: Any = None) -> Any:
    """The fetched values of a Program, and the values of its variables at the end."""
    paddle.enable_static()
    try:
        main, startup, scope = static.Program(), static.Program(), static.Scope()
        with (
            static.program_guard(main, startup),
            static.scope_guard(scope),
            unique_name.guard(),
            level.guard(passes),
        ):
            x, y = static.data("x", [-1, 4]), static.data("y", [-1, 2])
            paddle.seed(5)
            loss = nn.functional.mse_loss(_network()(x), y)
            made = RULES[rule](None)
            made.minimize(loss)
            executor = static.Executor()
            executor.run(startup)
            found = []
            for images, labels in _batches():
                found.append(executor.run(main, {"x": images, "y": labels}, [loss])[0].tobytes())
                if between is not None:
                    between(executor, startup, scope, main)
            parameters = main.global_block().all_parameters()
            state = {p.name: scope.find_var(p.name).get_tensor().numpy().tobytes() for p in parameters}
            return (
                found,
                state,
                {k: np.asarray(v).tobytes() for k, v in made.state_dict().items() if k != "LR_Scheduler"},
            )
    finally:
        paddle.disable_static()


@pytest.mark.parametrize("rule", RULES)
def test_programs_of_an_executor(rule: str, missed: list[bool]) -> None:
    alone = _executed(rule, 0)
    assert missed == [], "without passes every operator is a separate call"
    assert _executed(rule, 1) == alone
    assert missed[0], "the first run finds parameters where the startup program left them"
    assert not missed[-1]


def test_values_that_are_replaced_between_runs(missed: list[bool]) -> None:
    def replaced(executor: Any, startup: Any, scope: Any, main: Any) -> None:
        name = main.global_block().all_parameters()[0].name
        tensor = scope.find_var(name).get_tensor()
        tensor.set(np.full(np.asarray(tensor).shape, 0.25, "float32"), paddle.CPUPlace())

    def begun_again(executor: Any, startup: Any, scope: Any, main: Any) -> None:
        executor.run(startup)

    for between in (replaced, begun_again):
        assert _executed("adam", 1, between) == _executed("adam", 0, between)


def test_a_converted_step_and_steps_outside_of_it_share_an_arena(missed: list[bool]) -> None:
    seen = []
    for converted in (True, False):
        network = _network()
        rule = RULES["adam"](network.parameters())

        def step(x: Any, y: Any, network: Any = network, rule: Any = rule) -> Any:
            loss = nn.functional.mse_loss(network(x), y)
            loss.backward()
            rule.step()
            rule.clear_grad(set_to_zero=False)
            return loss

        whole = jit.to_static(step) if converted else step
        losses = []
        for n, (x, y) in enumerate(_batches() * 2):
            run = step if n in (2, 5) else whole
            losses.append(float(run(paddle.to_tensor(x), paddle.to_tensor(y))))
            if n == 3:
                network[0].weight._array = network[0].weight._array * 2
        owners = {id(p._array.base) for p in network.parameters()}
        seen.append((losses, [p.numpy().tobytes() for p in network.parameters()]))
        assert len(owners) == 1
    assert seen[0] == seen[1]
    assert True in missed
    assert False in missed


def test_compiled_kernels_take_over(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("llvmlite")
    calls: list[Any] = []
    found = Update._found

    def noted(self: Update, arrays: Any) -> Any:
        place = found(self, arrays)
        calls.append(place)
        return place

    monkeypatch.setattr(Update, "_found", noted)
    weights = []
    for choice in ("fast", "numpy"):
        with kernels.guard(choice):
            network = _network()
            rule = RULES["adam"](network.parameters())

            def step(x: Any, network: Any = network, rule: Any = rule) -> Any:
                (network(x) ** 2).mean().backward()
                rule.step()
                rule.clear_grad()

            whole = jit.to_static(step)
            for n in range(5):
                whole(paddle.to_tensor(_batches()[0][0]))
                if n == 2 and choice == "fast":
                    assert calls[-1].kernel._kernels.came.wait(60)
            weights.append([p.numpy() for p in network.parameters()])
            assert calls[-1].kernel.report() == choice
    # Other operators of the step are compiled as well, to float32 rounding.
    for ours, theirs in zip(*weights, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6)
