"""Steps a second of data-parallel training and the share of communication in them; see ``bench.parallel``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

from bench.timing import table
from engine.distributed.mpi import find_mpiexec

NETS = {"lenet": (64, (1, 28, 28), 40), "resnet18": (16, (3, 32, 32), 2)}  # batch, an image, steps a turn
MARK = "measured "


def _net(name: str) -> Any:
    from engine.vision import models

    return models.LeNet() if name == "lenet" else models.resnet18(num_classes=10)


class Stopwatch:
    """Adds up the seconds of calls of a function, the time of waiting for others included."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.seconds = 0.0

    def __call__(self, *arguments: Any) -> Any:
        start = time.perf_counter()
        found = self._function(*arguments)
        self.seconds += time.perf_counter() - start
        return found


def measure(name: str, batch: int, rounds: int) -> None:
    """What each process does; the first prints seconds a step and the share of communication, as JSON."""
    import engine as paddle
    from engine import distributed as dist
    from engine.distributed import gradient_buckets

    watches = [Stopwatch(gradient_buckets.all_reduced), Stopwatch(gradient_buckets.gathered)]
    gradient_buckets.all_reduced, gradient_buckets.gathered = watches  # type: ignore[assignment]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one process is alone, as it should be
        dist.init_parallel_env()
        paddle.seed(0)
        net = _net(name)
        wrapped = paddle.DataParallel(net)
    adam = paddle.optimizer.Adam(0.001, parameters=net.parameters())
    _, image, steps = NETS[name]
    rng = np.random.default_rng(dist.get_rank())
    x = paddle.to_tensor(rng.random((batch, *image), dtype=np.float32))
    y = paddle.to_tensor(rng.integers(0, 10, (batch, 1)))

    def turn() -> tuple[float, float]:
        dist.barrier()
        for watch in watches:
            watch.seconds = 0.0
        start = time.perf_counter()
        for _ in range(steps):
            paddle.nn.functional.cross_entropy(wrapped(x), y).backward()
            adam.step()
            adam.clear_grad()
        taken = time.perf_counter() - start
        return taken / steps, sum(watch.seconds for watch in watches) / taken

    turn()
    taken, shares = zip(*[turn() for _ in range(rounds)], strict=True)
    if dist.get_rank() == 0:
        values = {"best": min(taken), "middle": median(taken), "share": median(shares)}
        print(MARK + json.dumps(values), flush=True)


def compare(processes: int, rounds: int) -> None:
    """Train with one process and with several, and print one table.

    Weak scaling: each process has the batch of one. Strong scaling: it is shared out among them.
    """
    rows = [["", "batch of each", "steps/s best", "median", "samples/s", "x one process", "communication"]]
    for name, (batch, _, _) in NETS.items():
        alone = 0.0
        for label, count, size in (
            ("1 process", 1, batch),
            (f"{processes}, weak", processes, batch),
            (f"{processes}, strong", processes, batch // processes),
        ):
            found = _run(count, name, size, rounds)
            speed = count * size / found["best"]
            alone = alone or speed
            rows.append(
                [
                    f"{name} {label}",
                    str(size),
                    f"{1 / found['best']:.1f}",
                    f"{1 / found['middle']:.1f}",
                    f"{speed:.0f}",
                    f"{speed / alone:.2f}",
                    f"{found['share']:.0%}",
                ]
            )
    print("steps a second of training (forward, backward, Adam), eager; samples of all processes together")
    print(table(rows))


def _run(count: int, name: str, size: int, rounds: int) -> dict[str, float]:
    worker = [sys.executable, "-m", "engine.distributed.worker", "-m", "bench.parallel", "--net", name]
    command = [find_mpiexec(), "-n", str(count), *worker, "--batch", str(size), "--rounds", str(rounds)]
    # One BLAS thread a process, in one process too: more would be another comparison.
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=os.environ | threads)
    line = next(each for each in done.stdout.splitlines() if each.startswith(MARK))
    found: dict[str, float] = json.loads(line.removeprefix(MARK))
    return found
