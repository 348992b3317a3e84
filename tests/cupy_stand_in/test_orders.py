"""A kernel whose result depends on which thread or block comes first is refused; one that is right is not."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.cupy_stand_in import orders
from tests.cupy_stand_in.module import installed
from tests.cupy_stand_in.raw import WouldCrash


@pytest.fixture(scope="module")
def cupy() -> Iterator[Any]:
    with installed() as top:
        yield top


@pytest.fixture(autouse=True)
def _every() -> Iterator[None]:
    with orders.repeated():
        yield


def _kernel(body: str) -> Any:
    from engine.kernels.cupy.source import Kernel, whole

    head = 'extern "C" __global__ void __launch_bounds__(256) f(int *y, int *z, float *x)'
    # Only variables that the body uses: NVRTC warns of each unused one.
    block = "int b = blockIdx.x; " if re.search(r"\bb\b", body) else ""
    return Kernel(whole(f"{head} {{ int t = threadIdx.x; {block}{body} }}", {}), "f")


def _run(cupy: Any, body: str, blocks: int = 3, threads: int = 96) -> list[Any]:
    made = [cupy.zeros(512, kind) for kind in (np.int32, np.int32, np.float32)]
    _kernel(body)((blocks,), (threads,), tuple(made))
    return [each.get() for each in made]


# Wrong kernels, and the orders that show it.
WRONG = {
    "no barrier before": "__shared__ int s[96]; s[t] = t; y[b * 96 + t] = s[(t + 40) % 96];",
    "no barrier after": """
        __shared__ int s[96];
        for (int n = 0; n < 3; n++) {
            s[t] = t + n; __syncthreads(); y[b * 96 + t] += s[(t + 40) % 96];
        }""",
    "no barrier of a warp": "__shared__ int s[96]; s[t] = t; y[b * 96 + t] = s[t ^ 1];",
    "a barrier of a warp for the block": """
        __shared__ int s[96]; s[t] = t; __syncwarp(); y[b * 96 + t] = s[(t + 40) % 96];""",
    "two threads, one place": "y[b * 96 + t / 2] = t;",
    "two blocks, one place": "if (t == 0) y[0] = b;",
    "a block reads another's": "if (t == 0) y[b + 1] = y[b] + 1;",
    "a sum of floats by compare and swap": """
        int old, now;
        do { old = *(int *)x; now = __float_as_int(__int_as_float(old) + 1.0f / (1 + t * t)); }
        while (atomicCAS((int *)x, old, now) != old);""",
    "the number of the thread that comes first": "if (t == 0) y[b] = atomicAdd(z, 1);",
}


@pytest.mark.parametrize("wrong", WRONG)
def test_kernels_that_depend_on_the_order_are_refused(cupy: Any, wrong: str) -> None:
    with pytest.raises(WouldCrash, match=r"f: with threads and blocks \w+ argument . differs from byte"):
        _run(cupy, WRONG[wrong])


def test_barriers_and_integer_sums_are_right_in_all_orders(cupy: Any) -> None:
    body = """
        __shared__ int s[96];
        for (int n = 0; n < 5; n++) {
            s[t] = t + n;
            __syncthreads();
            y[b * 96 + t] += s[(t + 40) % 96];
            __syncthreads();
        }
        for (int apart = 16; apart; apart /= 2) {
            s[t] = t * apart;
            __syncwarp();
            y[b * 96 + t] += s[t ^ apart] + __shfl_xor_sync(0xFFFFFFFFu, t, apart);
            __syncwarp();
        }
        atomicAdd(z, t);
        atomicMax(z + 1, b * 96 + t);
        x[b * 96 + t] = 1.0f / (1 + t);"""
    y, z, x = _run(cupy, body)
    t = np.arange(96)
    want = 5 * ((t + 40) % 96) + 10 + sum((t ^ n) * n + (t ^ n) for n in (16, 8, 4, 2, 1))
    assert (y[:288].reshape(3, 96) == want).all()
    assert z[:2].tolist() == [3 * t.sum(), 287]
    np.testing.assert_array_equal(x[:288], np.tile(1 / (1 + t), 3).astype(np.float32))


def test_the_first_note_for_the_host_wins(cupy: Any) -> None:
    pinned = cupy.cuda.alloc_pinned_memory(64)
    host = np.frombuffer(pinned, np.int32, 16)
    host[:] = 0
    memory = cupy.cuda.UnownedMemory(pinned.ptr, 64, pinned, 0)
    record = cupy.ndarray((16,), np.int32, cupy.cuda.MemoryPointer(memory, 0))
    kernel = _kernel("if (t == 0 && atomicCAS(y, 0, 7) == 0) y[2] = b;")
    kernel((3,), (32,), (record, None, None))
    assert host[[0, 2]].tolist() == [7, 0]


def test_the_first_launches_are_repeated_by_default(cupy: Any) -> None:
    body = WRONG["two blocks, one place"] + " z[1] = 0;"
    with orders.repeated("first"):
        for _ in range(orders.FIRST):
            with pytest.raises(WouldCrash, match="differs"):
                _run(cupy, body)
        assert _run(cupy, body)[0][0] == 2
    with orders.repeated("off"):
        assert _run(cupy, WRONG["two blocks, one place"])[0][0] == 2


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("MODEL_STUDIO_LONG"), reason="every launch of every test: --long")
@pytest.mark.timeout(3600)
def test_every_launch_of_the_tests_of_kernels_has_the_same_bits_in_all_orders() -> None:
    environment = os.environ | {"MODEL_STUDIO_SHIM_ORDERS": "all"}
    for name in [name for name in environment if name.startswith(("PYTEST_", "COV_", "COVERAGE"))]:
        del environment[name]
    folders = ["tests/engine/kernels/cupy", "tests/engine/gpu", "tests/engine/ops/test_on_gpu.py"]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        "-k",
        "not sanitizer",
        *folders,
    ]
    if os.environ.get("MODEL_STUDIO_HIDE_QT"):
        command += ["-p", "no:pytest-qt"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=3500)
    assert done.returncode == 0, done.stdout[-3000:]
