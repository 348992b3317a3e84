"""Kernels under the address sanitizer: reads and writes outside an array, or outside shared memory.

A child process preloads the sanitizer, compiles the sources with it, and runs the tests of this folder.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cupy_stand_in import compiler
from tests.cupy_stand_in.module import gpu

LONG = bool(os.environ.get("MODEL_STUDIO_LONG"))
# Without these: other types of elements than the first, large arrays, and tests that launch no kernel of
# ours.
LEFT_OUT = ("dtype", "half", "narrow", "float16", "large", "cublaslt", "sanitizer")
WRONG = """
import sys
import numpy as np
from tests.cupy_stand_in.module import installed
with installed() as cupy:
    sources = {
        "right": ("__shared__ float s[10];", "", 9),
        "behind": ("", "x[t + 1] = 1;", 9),
        "before": ("", "x[t - 1] = 1;", 9),
        "fixed": ("__shared__ float s[10]; __shared__ float r[10]; r[t] = 1;", "x[t] = r[0];", 10),
        "asked": ("extern __shared__ float s[];", "", 10),
    }
    for name in sys.argv[1:]:
        room, more, most = sources[name]
        write = "s[t + 1 > MOST ? 0 : t + 1] = 1; __syncthreads(); x[t] = s[t];" if room else ""
        code = 'extern "C" __global__ void NAME(float *x) { int t = threadIdx.x; ROOM WRITE MORE }'
        code = code.replace("WRITE", write).replace("NAME", name).replace("ROOM", room).replace("MORE", more)
        x = cupy.zeros(10, np.float32)
        kernel = cupy.RawModule(code=code.replace("MOST", str(most))).get_function(name)
        kernel((2,), (10,), (x,), shared_mem=40 if name == "asked" else 0)
"""

pytestmark = pytest.mark.skipif(gpu() or not compiler.sanitizer(), reason="needs g++ with libasan and no GPU")


def _reports(folder: Path, *command: str) -> str:
    """The sanitizer's output for a Python program."""
    environment = os.environ | {
        "LD_PRELOAD": str(compiler.sanitizer()),
        "ASAN_OPTIONS": f"detect_leaks=0:halt_on_error=0:log_path={folder / 'report'}",
        "MODEL_STUDIO_SHIM_ASAN": "all" if LONG else "few",
        "PYTHONPATH": os.pathsep.join([".", *sys.path]),
    }
    for name in [name for name in environment if name.startswith(("PYTEST_", "COV_", "COVERAGE"))]:
        del environment[name]
    done = subprocess.run(
        [sys.executable, *command], env=environment, capture_output=True, text=True, timeout=3600
    )
    found = "".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("report*")))
    if not found:
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return found


def test_accesses_outside_an_array_are_reported(tmp_path: Path) -> None:
    assert not _reports(tmp_path, "-c", WRONG, "right")
    found = _reports(tmp_path, "-c", WRONG, "behind", "before", "fixed", "asked")
    assert found.count("ERROR: AddressSanitizer") == 4, found
    assert " in behind" in found


@pytest.mark.slow
@pytest.mark.timeout(3600 if LONG else 900)
def test_kernels_access_only_their_arrays(tmp_path: Path) -> None:
    here = str(Path(__file__).parent)
    chosen = "not sanitizer" if LONG else " and ".join(f"not {word}" for word in LEFT_OUT)
    table = ["tests/engine/ops/test_on_gpu.py"] if LONG else []
    command = ["-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-k", chosen, here, *table]
    if os.environ.get("MODEL_STUDIO_HIDE_QT"):
        command += ["-p", "no:pytest-qt"]
    found = _reports(tmp_path, *command)
    assert not found, found[:6000]
