"""Where llvmlite is missing or damaged, NumPy computes everything, and the program says why."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

# A converted layer in an ordinary loop, a loaded model and an eager update, beyond the run that takes
# kernels.
SCRIPT = """
import gc
import hashlib
import logging
import sys

if "hidden" in sys.argv:
    sys.modules["llvmlite"] = None
import numpy as np

import engine as paddle
from engine import nn
from engine.program.run.kernels import Kernels

assert "llvmlite.binding" not in sys.modules
logging.basicConfig(stream=sys.stdout, format="%(levelname)s %(message)s")
paddle.seed(0)
net = nn.Sequential(nn.Conv2D(2, 8, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(512, 10), nn.Softmax())
run = paddle.jit.to_static(net)
rule = paddle.optimizer.Adam(parameters=net.parameters())
x = paddle.to_tensor(np.random.default_rng(0).standard_normal((16, 2, 8, 8)).astype("float32"))
for _ in range(25):
    loss = (run(x) ** 2).sum()
    loss.backward()
    rule.step()
    rule.clear_grad()
net.eval()
paddle.jit.save(run, sys.argv[1] + "/net", input_spec=[paddle.static.InputSpec([None, 2, 8, 8], "float32")])
loaded = paddle.jit.load(sys.argv[1] + "/net", for_prediction=True)
with paddle.no_grad():
    for _ in range(25):
        made = loaded(x).numpy()
found = hashlib.sha256(made.tobytes())
for parameter in net.parameters():
    found.update(parameter.numpy().tobytes())
found_kernels = [each for each in gc.get_objects() if isinstance(each, Kernels)]
print("WHOSE", sorted({whose for each in found_kernels for _, whose in each.report()}))
print("MADE", found.hexdigest())
"""
DAMAGED = {
    "import": 'raise ImportError("no part of it")',
    "library": "",  # loads, but its first function finds no library
}
LIBRARY = """
def get_host_cpu_name():
    raise OSError("libllvmlite.so: invalid ELF header")
"""


def run(folder: Path, *words: str, **variables: str) -> list[str]:
    """The lines that the script prints in a process of its own."""
    env = {**os.environ, "MODEL_STUDIO_KERNELS": "auto", **variables}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(folder), *words],
        capture_output=True,
        text=True,
        env=env,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def damage(folder: Path, how: str) -> dict[str, str]:
    """A package of that name which can't be used, and the variables with which Python finds it first."""
    package = folder / "llvmlite"
    package.mkdir()
    (package / "__init__.py").write_text(DAMAGED[how], encoding="utf-8")
    (package / "ir.py").write_text("", encoding="utf-8")
    (package / "binding.py").write_text(LIBRARY, encoding="utf-8")
    return {"PYTHONPATH": os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What NumPy's kernels give."""
    return run(tmp_path_factory.mktemp("plain"), MODEL_STUDIO_KERNELS="numpy")[-1]


def test_without_it_numpy_computes(plain: str, tmp_path: Path) -> None:
    assert run(tmp_path, "hidden") == ["WHOSE ['numpy']", plain]


@pytest.mark.parametrize(
    ("how", "error"),
    [
        ("import", "ImportError: no part of it"),
        ("library", "OSError: libllvmlite.so: invalid ELF header"),
    ],
)
def test_a_damaged_one_is_one_line_in_the_log(plain: str, tmp_path: Path, how: str, error: str) -> None:
    variables = damage(tmp_path, how)
    repair = "run: pip install --force-reinstall llvmlite"
    reason = f"WARNING kernels: NumPy computes: llvmlite can't be loaded ({error}); {repair}"
    assert run(tmp_path, **variables) == [reason, "WHOSE ['numpy']", plain]


def test_fast_with_a_damaged_one_is_refused(tmp_path: Path) -> None:
    env = {**os.environ, **damage(tmp_path, "library"), "MODEL_STUDIO_KERNELS": "fast"}
    code = "import engine; engine.jit.to_static(engine.nn.Linear(2, 2))(engine.ones([2, 2]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 1
    assert (
        "ModeError: kernels: 'fast' needs compiled kernels: llvmlite can't be loaded (OSError" in done.stderr
    )
