"""Trainings of the command line and scripts with one seed end bitwise identical: at once, parted, with
kernels to compile, on a busy machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.robust.small_training import final, same

# Draws from all three generators in each step.
MODEL = """
import random

import numpy as np

from engine import nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(784, 10)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        scale = 1.0 + 0.2 * random.random() - 0.1 * np.random.random()
        return self.linear(self.dropout(x.reshape([-1, 784])) * scale)
"""
# Everything outside of a training that takes compiled kernels: eager calls, the two plans of a converted
# layer, the one of a converted step, a Program, the eager update, a plan of several shapes, frozen plans with
# and without a chain.
SCRIPT = """
import hashlib, sys
import numpy as np
import engine as paddle
from engine import nn, static

paddle.set_num_threads(2)
random, made = np.random.default_rng(0), hashlib.sha256()


def net():
    paddle.seed(1)
    return nn.Sequential(
        nn.Conv2D(2, 16, 3, padding=1), nn.BatchNorm2D(16), nn.ReLU(), nn.MaxPool2D(2, 2),
        nn.Conv2D(16, 16, 3, padding=1), nn.GELU(), nn.Flatten(), nn.Linear(16 * 16, 10),
    )


def values(*shape):
    return paddle.to_tensor(random.standard_normal(shape).astype("float32"))


def took(network, converts):
    run = paddle.jit.to_static(network) if converts == "layer" else network
    rule = paddle.optimizer.Adam(parameters=network.parameters())

    def step(x):
        loss = nn.functional.log_softmax(run(x)).square().mean()
        loss.backward()
        rule.step()
        rule.clear_grad()
        return loss

    step = paddle.jit.to_static(step) if converts == "step" else step
    for n in range(150):
        made.update(step(values(32 if n % 3 else 24, 2, 8, 8)).numpy().tobytes())
    for parameter in network.parameters():
        made.update(parameter.numpy().tobytes())


for converts in ("nothing", "layer", "step"):
    network = net()
    took(network, converts)
network.eval()
chain = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 8))
for number, (one, shape) in enumerate([(network, (2, 8, 8)), (chain, (64,))]):
    path = f"{sys.argv[1]}/net{number}"
    paddle.jit.save(one, path, input_spec=[static.InputSpec([None, *shape], "float32")])
    for words in ({}, {"for_prediction": True}):
        loaded = paddle.jit.load(path, **words)
        loaded.eval()
        with paddle.no_grad():
            for _ in range(150):
                made.update(loaded(values(2, *shape)).numpy().tobytes())
paddle.enable_static()
x = static.data("x", [8, 64], "float32")
loss = nn.functional.softmax(static.nn.fc(x, 32)).square().mean()
paddle.optimizer.Adam(0.001).minimize(loss)
executor = static.Executor()
executor.run(static.default_startup_program())
for _ in range(150):
    feed = {"x": random.standard_normal((8, 64)).astype("float32")}
    made.update(np.asarray(executor.run(feed=feed, fetch_list=[loss])[0]).tobytes())
print(made.hexdigest())
"""
REPEATED = 50 if os.environ.get("MODEL_STUDIO_LONG") else 1
DIGITS = ("--data", "digits", "--samples", "400", "--batch-size", "4", "--epochs", "3")


def _train(*words: str | Path, **variables: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "studio", "train", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        env={**os.environ, **variables},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.timeout(300)
def test_a_parted_training_of_a_model_that_draws_ends_as_one_at_once(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(MODEL)
    words = (*DIGITS, "--model", f"{tmp_path / 'net.py'}:Net", "--eager", "--out")
    _train(*words, tmp_path / "whole")
    _train(*words, tmp_path / "parted", "--stop-after", "1")
    said = _train("--resume", "--trust", "--out", tmp_path / "parted")
    assert "resuming after step 100" in said
    assert same(final(tmp_path / "parted"), final(tmp_path / "whole"))


@pytest.mark.timeout(300)
def test_a_training_that_compiles_its_kernels_ends_as_one_that_finds_them(tmp_path: Path) -> None:
    pytest.importorskip("llvmlite", reason="llvmlite is not installed")
    variables = {"MODEL_STUDIO_KERNELS": "auto", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    for name in ("compiles", "finds"):
        _train(*DIGITS, "--model", "lenet", "--out", tmp_path / name, **variables)
        assert '"since":20' in (tmp_path / name / "journal.jsonl").read_text()
    assert same(final(tmp_path / "compiles"), final(tmp_path / "finds"))


@pytest.mark.timeout(300)
def test_a_parted_eager_training_takes_compiled_kernels_at_the_same_step(tmp_path: Path) -> None:
    pytest.importorskip("llvmlite", reason="llvmlite is not installed")
    words = (*DIGITS, "--model", "lenet", "--eager", "--out")
    _train(*words, tmp_path / "whole", MODEL_STUDIO_KERNELS="auto")
    _train(*words, tmp_path / "parted", "--stop-after", "1", MODEL_STUDIO_KERNELS="auto")
    _train("--resume", "--trust", "--out", tmp_path / "parted", MODEL_STUDIO_KERNELS="auto")
    assert '"conv2d"' in (tmp_path / "whole" / "journal.jsonl").read_text()
    assert same(final(tmp_path / "parted"), final(tmp_path / "whole"))


@contextmanager
def _busy(count: int) -> Iterator[None]:
    """Processes that take the cores from the compiler's thread, or from the script."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for each in others:
            each.kill()
            each.wait()


@pytest.mark.timeout(2400 if REPEATED > 1 else 300)
def test_a_script_ends_bitwise_identical_whatever_the_compiler_has_ready(tmp_path: Path) -> None:
    pytest.importorskip("llvmlite", reason="llvmlite is not installed")
    cache, seen = tmp_path / "cache", {}
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")  # what is converted has a file
    for n in range(REPEATED):
        for cold in (True, False):
            if cold:
                shutil.rmtree(cache, ignore_errors=True)
            with _busy((n + 1) % 4):
                done = subprocess.run(
                    [sys.executable, str(script), str(tmp_path)],
                    capture_output=True,
                    text=True,
                    timeout=900,
                    check=False,
                    env={**os.environ, "MODEL_STUDIO_KERNELS": "auto", "XDG_CACHE_HOME": str(cache)},
                )
            assert done.returncode == 0, done.stdout + done.stderr
            seen[n, cold] = done.stdout
    assert len(set(seen.values())) == 1, seen
    assert any(cache.rglob("*.kernel")), "nothing was compiled"
