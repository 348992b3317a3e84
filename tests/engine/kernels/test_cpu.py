"""Kernels of the CPU replace the default ones; memory order of images."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import engine
from engine.core.operators.opdef import OPS
from engine.kernels import cpu


@pytest.mark.parametrize("name", sorted(cpu.UFUNCS))
def test_ufuncs_agree_with_the_kernels(name: str) -> None:
    opdef = OPS[name]
    assert opdef.kernel_for("cpu") == (cpu.UFUNCS[name], True)
    rng = np.random.default_rng(0)
    dtypes: tuple[Any, ...] = (np.float64, np.float32)
    if name.startswith("logical"):
        dtypes = (bool,)
    elif name.startswith("bitwise") or name in ("gcd", "lcm"):
        dtypes = (np.int64, np.int32)
    for dtype in dtypes:
        arrays = [np.asarray(rng.random((2, 3)) * 20 + 0.1).astype(dtype) for _ in opdef.inputs]
        want = opdef.kernel(np, *arrays)
        got = cpu.UFUNCS[name](*arrays)
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)
        out = np.empty_like(want)
        assert cpu.UFUNCS[name](*arrays, out=out) is out


_FAULTS = """
import resource, sys
import numpy as np
if len(sys.argv) > 1:
    from engine.kernels.cpu import keep_freed_memory
    assert keep_freed_memory()
def step():
    for _ in range(4):
        x = np.ones(300_000); y = x * 2.0
step()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    step()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's mallopt")
def test_freed_memory_is_used_again() -> None:
    """Pages requested anew in 20 steps of 160 arrays of 2.4 MB, in a separate process."""

    env = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}

    def faults(*arguments: str) -> int:
        command = [sys.executable, "-c", _FAULTS, *arguments]
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=env)
        return int(done.stdout)

    retained = faults("keep")
    assert retained < 1000
    assert retained < faults() / 10


_SHARED = """
import resource, threading
import numpy as np
from engine.kernels.cpu import keep_freed_memory
assert keep_freed_memory()
def fill():
    [np.ones(300_000) for _ in range(8)]
thread = threading.Thread(target=fill)
thread.start()
thread.join()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
fill()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's mallopt")
def test_memory_that_another_thread_freed_is_used_again() -> None:
    """Pages requested anew for 19 MB: 4,700 where the thread has its own."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    command = [sys.executable, "-c", _SHARED]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=env)
    assert int(done.stdout) < 1000


def test_the_users_own_settings_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "1000000")
    assert not cpu.keep_freed_memory()


def _is_batch_last(tensor: Any) -> bool:
    array = tensor._array
    return bool(array.strides[0] == array.itemsize and array.transpose(2, 1, 3, 0).flags.c_contiguous)


def test_images_stay_batch_last_from_convolution_to_convolution() -> None:
    """Then the next convolution reads long contiguous runs; only the time shows it."""
    conv = engine.nn.Conv2D(1, 4, 3)
    h = conv(engine.rand([5, 1, 12, 12]))
    assert h.shape == [5, 4, 10, 10]
    assert _is_batch_last(h)
    h = engine.nn.functional.relu(h)
    assert _is_batch_last(h)
    h = engine.nn.functional.max_pool2d(h, 2, 2)
    assert _is_batch_last(h)
    assert engine.flatten(h, 1)._array.flags.c_contiguous
    assert h.numpy().flags.c_contiguous
