"""A worker of the engine times compiled kernels, also where plans take them in a later run."""

import importlib.util
from typing import Any

import pytest

from bench.contest import engine_contender
from bench.nets import Job
from bench.peers import answering
from bench.peers.protocol import Worker

JOB = Job("mlp", 16, (24, 24, 24, 10))


def asked(kernels: str, mode: str) -> tuple[dict[str, Any], float]:
    one = engine_contender(mode, kernels)
    worker = Worker(one.python, one.module, one.arguments, 1, limit=one.limit, environment=one.environment)
    try:
        begun = worker.repeat(2, f"train begin {JOB.text()}")
        return begun, worker.repeat(3, f"train check {JOB.text()}")["loss"]
    finally:
        worker.close()


def test_kernels_as_installed_have_come_before_steps_are_timed() -> None:
    if importlib.util.find_spec("llvmlite") is None:
        pytest.skip("llvmlite is not installed")
    plain, loss = asked("numpy", "static")
    assert "kernels" not in plain
    assert 0 < plain["first"] < 300
    for mode in ("layer", "static"):
        begun, compiled_loss = asked("auto", mode)
        assert sum(begun["kernels"]["fast"].values()) > 3
        assert "compiling" not in begun["kernels"]
        assert compiled_loss == pytest.approx(loss, rel=1e-5)


def test_losses_are_those_of_compiled_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """A check has too few steps for plans to take them by themselves."""
    served: list[Any] = []
    state = {"at once": False, "steps": 0, "waits": 0}

    class AtOnce:
        def __enter__(self) -> None:
            state["at once"] = True

        def __exit__(self, *_: object) -> None:
            state["at once"] = False

    def make(kind: str, job: Job) -> Any:
        def step() -> float:
            state["steps"] += 1
            return 1.0 if state["at once"] else 0.0

        return step, float

    def wait() -> None:
        state["waits"] = state["steps"]

    monkeypatch.setattr(answering, "serve", lambda version, repeat: served.append(repeat))
    answering.answer_jobs("fake", make, answering.Compiled(20, wait, lambda: {"fast": {}}, AtOnce))
    (repeat,) = served
    assert repeat(3, f"train check {JOB.text()}") == {"loss": 1.0}
    state["steps"] = 0
    begun = repeat(3, f"train begin {JOB.text()}")
    assert begun["kernels"] == {"fast": {}}
    assert state["waits"] > 20
    assert state["steps"] > state["waits"]  # what it says of a step's time comes after the wait
