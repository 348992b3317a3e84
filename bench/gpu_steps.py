"""Steps of the networks of ``bench.nets`` on a GPU, in the engine and in torch: for ``bench.gpu``."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from statistics import median
from typing import Any

import engine
from bench.nets import LEARNING_RATE, Job
from bench.peers.paddle_nets import network
from engine.kernels.choice import cuda_graphs

MODES = ("eager", "static", "graph")
PRECISIONS = ("float32", "float16", "bfloat16")


@dataclass(frozen=True)
class Step:
    """One row of the table: milliseconds by the host's clock (median), and what a step asked of the driver
    (``calls`` in words), with the most memory of the GPU and of the host in MB."""

    who: str
    milliseconds: float
    calls: str
    device_memory: float
    host_memory: float
    losses: tuple[float, ...]


@contextmanager
def graphs(mode: str) -> Iterator[None]:
    """CUDA graphs as the mode has them."""
    with cuda_graphs.guard("auto" if mode == "graph" else "off"):
        yield


def engine_step(job: Job, mode: str, precision: str) -> Callable[[], Any]:
    """A step (forward, loss, backward, Adam) on the current device; gives its loss as a Tensor.

    In half precision with ``auto_cast`` (level O1), and in float16 with a loss scaler.
    """
    model = network(engine, job)
    optimizer = engine.optimizer.Adam(learning_rate=LEARNING_RATE, parameters=model.parameters())
    inputs, labels = job.data()
    x, y = engine.to_tensor(inputs), engine.to_tensor(labels.reshape(-1, 1))
    forward = model if mode == "eager" else engine.jit.to_static(model)
    scaler = engine.amp.GradScaler(init_loss_scaling=1024.0) if precision == "float16" else None

    def step() -> Any:
        half = precision != "float32"
        with engine.amp.auto_cast(dtype=precision) if half else nullcontext():
            loss = engine.nn.functional.cross_entropy(forward(x), y)
        if scaler is None:
            loss.backward()
            optimizer.step()
        else:
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        optimizer.clear_grad()
        return loss

    return step


def torch_step(job: Job, precision: str) -> Callable[[], Any]:
    """The same step in torch, eager, on its first GPU."""
    import torch
    import torch.nn.functional as F

    from bench.peers.torch_nets import network as torch_network

    model = torch_network(job).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    x, y = (torch.from_numpy(array).cuda() for array in job.data())
    scaler = torch.amp.GradScaler("cuda", init_scale=1024.0, enabled=precision == "float16")
    kind = getattr(torch, precision)

    def step() -> Any:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=kind, enabled=precision != "float32"):
            loss = F.cross_entropy(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        return loss.detach()

    return step


def measured(
    who: str,
    step: Callable[[], Any],
    wait: Callable[[], None],
    rounds: int,
    counting: Any,
    peak: Callable[[], int],
) -> Step:
    """Run a step: five for its losses, ``rounds`` of ten for its time, one for what it asks of the driver."""
    losses = tuple(float(step()) for _ in range(5))
    wait()
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        for _ in range(10):
            step()
        wait()
        times.append((time.perf_counter() - begin) / 10)
    with counting() as calls:
        step()
    values = "not counted" if calls is None else calls.text()
    host = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Step(who, 1000 * median(times), values, peak() / 1e6, host, losses)


def engine_steps(job: Job, precision: str, rounds: int, counting: Any) -> list[Step]:
    """The step of the engine in each mode, on the current GPU."""
    cuda, found = engine.device.cuda, []
    for mode in MODES:
        with graphs(mode):
            cuda.empty_cache()
            cuda.reset_max_memory_allocated()
            step = engine_step(job, mode, precision)
            name = {"eager": "eager", "static": "static, no graph", "graph": "static, CUDA graph"}[mode]
            found.append(measured(name, step, cuda.synchronize, rounds, counting, cuda.max_memory_allocated))
    return found


def torch_steps(job: Job, precision: str, rounds: int, counting: Any) -> list[Step]:
    """torch's step; nothing where torch is absent or has no GPU."""
    try:
        import torch
    except ImportError:
        return []
    if not torch.cuda.is_available():
        return []
    torch.cuda.reset_peak_memory_stats()
    return [
        measured(
            f"torch {torch.__version__}",
            torch_step(job, precision),
            torch.cuda.synchronize,
            rounds,
            counting,
            torch.cuda.max_memory_allocated,
        )
    ]
