"""Profiles a training: a few of its steps, with the time, bytes and operations of each kernel."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.core.devices import label
from engine.core.errors import ArgumentError, DataError
from engine.core.layer_calls import names_of, noting_layer_calls
from engine.core.place import current_place
from engine.eager import mode as eager
from engine.files.checkpoint import latest_checkpoint, read_checkpoint
from engine.kernels.cpu.threads import computing_threads, get_num_threads
from engine.profiler.costs import Cost, costs_of
from engine.profiler.profiler import Profiler
from engine.profiler.result import ProfilerResult
from engine.training.config import TrainingConfig
from engine.training.data import fetch_data
from engine.training.folder.run_folder import RunFolder
from engine.training.kernel_swap import KernelSwap
from engine.training.randomness import random_state, seed_everything, set_random_state
from engine.training.setup import Parts, build_parts

if TYPE_CHECKING:
    from engine.training.layers.watch import LayerReading
    from engine.training.network.given_inputs import Input
    from engine.training.stepper import Stepper

# Steps before the recorded ones: the first traces, plans and compiles.
WARM_UP = 3


@dataclass(frozen=True)
class Profiled:
    """What a profile has shown: the recording, how many steps it holds and how long they took in all, the
    loss of the last one, and the seconds of a step while nothing was recorded. ``compiled`` are the operators
    whose compiled kernels were in use, ``costs`` what each operator took of a step, ``peak`` the GFLOP/s of a
    large product of float32 here (0 on a GPU). ``threads`` is how many threads computed, ``device`` where,
    ``fallback`` why the CPU did where ``auto`` hoped for a GPU, and ``layers`` what a step does to them."""

    result: ProfilerResult
    steps: int
    seconds: float
    unrecorded: float
    loss: float
    compiled: tuple[str, ...] = ()
    costs: tuple[Cost, ...] = ()
    peak: float = 0.0
    threads: int = 1
    device: str = "cpu"
    fallback: str = ""
    layers: LayerReading | None = None


def profile(
    config: TrainingConfig,
    steps: int = 10,
    source_folder: Path | None = None,
    inputs: Sequence[Input] = (),
    look: bool = False,
) -> Profiled:
    """Train ``steps`` batches of a network of its own, after three others, and record the last ones.

    Nothing is written, the weights are not saved, and the random numbers of the process continue as if
    nothing had been drawn. Compiled kernels, where the settings ask for them, are there before the first step
    that counts. ``source_folder`` has the code of a run. ``inputs`` (shape and dtype of each) are fed with
    random numbers instead of the data, see :func:`engine.training.network.given_inputs.build_given`. With
    ``look`` a further step shows what it does to the layers.

    Raises:
        ArgumentError: fewer than one step, or the loss is no longer a number. ModeError: the kernels "fast"
            without llvmlite. What making and running the model raises, as in a training.
    """
    if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
        raise ArgumentError(f"profile: steps must be a positive number: got {steps!r}; give at least 1")
    before = random_state()
    try:
        kernels = KernelSwap(config.kernels, together=True)
        with computing_threads(config.threads), kernels.in_use():
            config = config.changed(out="", workers=1)
            return _profiled(config, steps, lambda: parts_of(config, source_folder, inputs), kernels, look)
    finally:
        set_random_state(before)


def parts_of(config: TrainingConfig, source_folder: Path | None, inputs: Sequence[Input]) -> Parts:
    """What a training of ``config`` needs, on its data, or on random numbers for ``inputs``."""
    if inputs:
        from engine.training.network.given_inputs import build_given

        return build_given(config, inputs)
    fetch_data(config.data, lambda message: None)
    return build_parts(config, source_folder)


def _profiled(
    config: TrainingConfig, steps: int, build: Callable[[], Parts], kernels: KernelSwap, look: bool
) -> Profiled:
    seed_everything(config.seed)
    parts = build()
    parts.check()
    batches = _endless(parts.batches)

    def train(count: int, each: Any = None) -> float:
        loss = math.nan
        for _ in range(count):
            batch = next(batches)
            with paths():
                loss, _ = parts.stepper.train(*batch)
            if not math.isfinite(loss):
                raise ArgumentError(
                    f"profile: the loss is not a finite number: {loss} with learning rate "
                    f"{config.learning_rate:g}; give a smaller --lr"
                )
            if each is not None:
                each()
        return loss

    paths: Callable[[], AbstractContextManager[None]] = nullcontext
    train(WARM_UP - 1)
    taken = kernels.due(WARM_UP - 1)
    train(1)
    begin = time.perf_counter()
    train(steps)
    unrecorded = (time.perf_counter() - begin) / steps
    recording = Profiler(on_trace_ready=lambda _: None, with_flops=True, record_shapes=True)
    paths = partial(_noting_paths, parts.stepper)
    with recording:
        begin = time.perf_counter()
        loss = train(steps, recording.step)
        seconds = time.perf_counter() - begin
    assert recording.profiler_result is not None, "it recorded"
    paths = nullcontext
    if look:
        parts.stepper.watch_layers()
        train(1)
    compiled = tuple(taken["operators"]) if taken is not None else ()
    traced = parts.stepper.traced()
    costs = costs_of(
        recording.profiler_result,
        steps,
        parts.stepper.network_call,
        None if traced is None else traced.main_program,
    )
    return Profiled(
        recording.profiler_result,
        steps,
        seconds,
        unrecorded,
        loss,
        compiled,
        tuple(costs),
        peak_gflops() if current_place().is_cpu_place() else 0.0,
        get_num_threads(),
        label(),
        parts.fallback,
        parts.stepper.take_layers() if look else None,
    )


@contextmanager
def _noting_paths(stepper: Stepper) -> Iterator[None]:
    """Let operators know the call of a Layer that they run in; those of a Program know it already."""
    if stepper.static:
        yield
        return
    # The shortcuts of eager operators record no paths: with a watcher, none are taken.
    eager.watch(_see)
    try:
        with noting_layer_calls(names_of(stepper.layer)):
            yield
    finally:
        eager.unwatch(_see)


def _see(*_: object) -> None:
    """See an operator."""


def peak_gflops() -> float:
    """GFLOP/s of a product of matrices of 1024 by 1024 numbers in float32, on the threads in use."""
    x = np.ones((1024, 1024), np.float32)
    times = []
    for _ in range(4):
        begin = time.perf_counter()
        np.matmul(x, x)
        times.append(time.perf_counter() - begin)
    return float(2 * 1024**3 / min(times) * 1e-9)


def _endless(batches: Any) -> Iterator[Any]:
    while True:
        yield from batches


def config_of_run(folder: Path) -> TrainingConfig:
    """The settings that a run was begun with, from its newest checkpoint.

    Raises:
        DataError: the folder holds no checkpoint.
    """
    store = RunFolder(folder)
    store.refuse_links()
    found = latest_checkpoint(folder / "checkpoints")
    if found.entry is None:
        raise DataError(
            f"profile: there is no sound checkpoint in {folder}: it is not a run, or was stopped before its "
            "first one; give the folder of a run, or --model"
        )
    return TrainingConfig.from_dict(read_checkpoint(found.entry.path)["config"])
