"""Workers and their line protocol (a count and a job in, one JSON object out), and the inputs all share."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
FIND = "import importlib.util, sys; print(*[n for n in sys.argv[1:] if importlib.util.find_spec(n)])"


def serve(version: str, repeat: Callable[[int, str], dict[str, Any]]) -> None:
    """In a worker: announce ``version``; answer each line ``N JOB`` with ``repeat(N, JOB)`` and its time."""
    print(json.dumps({"ready": version}), flush=True)
    for line in sys.stdin:
        count, _, job = line.strip().partition(" ")
        start = time.perf_counter()
        answer = repeat(int(count), job)
        print(json.dumps({"seconds": time.perf_counter() - start, **answer}), flush=True)


class Worker:
    """A peer in its own process; ``python`` is the interpreter that has its library."""

    def __init__(self, python: str, module: str, arguments: Sequence[str], threads: int) -> None:
        count = str(threads)
        limits = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), count)
        own = {"BENCH_THREADS": count, "PYTHONPATH": str(ROOT), "GLOG_minloglevel": "2"}
        self.name = " ".join([module.rpartition(".")[2], *arguments])
        self._process = subprocess.Popen(
            [python, "-m", module, *arguments],
            cwd=ROOT,
            env=os.environ | limits | own,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        self.version = str(self._read()["ready"])

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("{"):  # libraries greet on stdout too
                return dict(json.loads(line))
        raise SystemExit(f"bench: {self.name} ended with exit code {self._process.wait()}; see above")

    def repeat(self, count: int, job: str = "") -> dict[str, Any]:
        """Let the worker do ``job`` ``count`` times; its answer, with ``seconds`` for all of them."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{count} {job}\n")
        self._process.stdin.flush()
        return self._read()

    def close(self) -> None:
        """End the worker."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


def threads() -> int:
    """In a worker: how many threads this contender uses."""
    return int(os.environ["BENCH_THREADS"])


def libraries(python: str, names: Sequence[str]) -> list[str]:
    """Those of ``names`` that the interpreter ``python`` has."""
    if python == sys.executable:
        return [name for name in names if importlib.util.find_spec(name)]
    done = subprocess.run([python, "-c", FIND, *names], capture_output=True, encoding="utf-8", check=True)
    return done.stdout.split()


# ----- the job "lenet": the network of the training document, one fixed batch, fixed initial weights --------

LENET_SHAPES = (
    *((6, 1, 5, 5), (6,)),
    *((16, 6, 5, 5), (16,)),
    *((400, 120), (120,)),  # a Linear's weight is [in, out], as in Paddle
    *((120, 84), (84,)),
    *((84, 10), (10,)),
)


def lenet_weights() -> Iterator[np.ndarray]:
    """Initial parameters, float32, in the order of the layers: equal for all, so losses can be compared."""
    random = np.random.default_rng(0)
    for shape in LENET_SHAPES:
        fan_in = int(np.prod(shape[1:])) if len(shape) == 4 else shape[0]
        scale = 0.0 if len(shape) == 1 else (1.0 / fan_in) ** 0.5
        yield (scale * random.standard_normal(shape)).astype(np.float32)


def lenet_batch(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Images ``[size, 1, 28, 28]`` float32 in 0 to 1 and labels ``[size]`` int64."""
    random = np.random.default_rng(1)
    return random.random((size, 1, 28, 28), dtype=np.float32), random.integers(0, 10, size)


# ----- the job "resnet": ResNet-18 on pictures of 32 x 32 --------------------------------------------------


def resnet_weight(shape: tuple[int, ...]) -> np.ndarray:
    """Weights of a layer, float32: they depend on its shape alone, so the order of layers does not matter."""
    fan_in = int(np.prod(shape[1:])) if len(shape) == 4 else shape[0]
    random = np.random.default_rng(list(shape))
    return ((2.0 / fan_in) ** 0.5 * random.standard_normal(shape)).astype(np.float32)


def resnet_batch(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Images ``[size, 3, 32, 32]`` float32 in -1 to 1 and labels ``[size]`` int64."""
    random = np.random.default_rng(1)
    return random.random((size, 3, 32, 32), dtype=np.float32) * 2 - 1, random.integers(0, 10, size)
