"""A GPU without memory: unused blocks are freed and it is asked again, then one line says what holds it."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import DeviceMemoryError
from engine.core.opdef import OPS
from engine.training.problem import describe_problem


class Full(MemoryError):
    """CuPy's error."""


class Pool:
    """A pool that gives nothing, or nothing before its blocks are freed."""

    def __init__(self, helps: bool) -> None:
        self.helps, self.freed = helps, 0

    def malloc(self, size: int) -> str:
        if self.freed and self.helps:
            return f"{size} bytes"
        raise Full

    def free_all_blocks(self) -> None:
        self.freed += 1

    def get_limit(self) -> int:
        return 6 << 30

    def used_bytes(self) -> int:
        return 5 << 30


@pytest.fixture
def malloc(cupy: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    from engine.kernels.cupy.out_of_memory import malloc

    monkeypatch.setattr(cupy.cuda, "memory", SimpleNamespace(OutOfMemoryError=Full), raising=False)
    return malloc


def test_it_is_asked_again_once_blocks_are_freed(malloc: Any) -> None:
    pool = Pool(helps=True)
    assert malloc(pool, 512) == "512 bytes"
    assert pool.freed == 1


def test_then_the_error_names_sizes_and_the_largest_tensors(malloc: Any) -> None:
    weights = paddle.to_tensor(np.zeros((300, 1000), "float32"))
    weights.name = "weights"
    with pytest.raises(DeviceMemoryError, match=r"no memory for 1\.50 GiB") as told:
        malloc(Pool(helps=False), 3 << 29)
    message = str(told.value)
    assert "this process may hold 6.00 GiB, arrays hold 5.00 GiB, the largest tensors are weights" in message
    assert "weights float32 [300, 1000] 1.14 MiB" in message
    problem = describe_problem(told.value)
    assert problem.where == "gpu:0"
    assert problem.do.startswith("take a smaller batch")


def test_an_operator_adds_its_name_and_the_users_line(malloc: Any, cupy: Any, monkeypatch: Any) -> None:
    def full(*_: Any, **__: Any) -> Any:
        return malloc(Pool(helps=False), 3 << 29)

    x = paddle.to_tensor(np.ones(3, "float32"))
    monkeypatch.setitem(OPS["tanh"].overrides, "cupy", (full, False))
    with pytest.raises(DeviceMemoryError, match=rf"{__file__}:\d+: tanh: gpu:0: no memory"):
        paddle.tanh(x)


def test_a_plan_adds_what_it_holds(malloc: Any, monkeypatch: Any) -> None:
    def full(*_: Any, **__: Any) -> Any:
        return malloc(Pool(helps=False), 3 << 29)

    @paddle.jit.to_static
    def function(x: Any) -> Any:
        return paddle.tanh(x @ x)

    monkeypatch.setitem(OPS["tanh"].overrides, "cupy", (full, False))
    with pytest.raises(DeviceMemoryError) as told:
        function(paddle.to_tensor(np.ones((500, 500), "float32")))
    message = str(told.value)
    assert message.startswith(f"{__file__}:")
    assert ": tanh: gpu:0: no memory for 1.50 GiB" in message
    assert "at its fullest the program holds matmul_v2 of test_out_of_memory.py" in message
    assert describe_problem(told.value).do.startswith("take a smaller batch")
