"""The operator table and the kernels that matter on a GPU: for ``bench.gpu``.

Each row of ``tests/engine/ops/table`` is held to NumPy's result and timed; kernels of the engine's own are
timed against CuPy's default for sizes that networks have.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

import engine
from engine.core.operators.opdef import OPS
from engine.core.place import place_guard
from engine.kernels.choice import kernels

TOLERANCE = 1e-9


@dataclass(frozen=True)
class Checked:
    """An operator: how many rows, what was wrong in them, microseconds of a call on the CPU and the GPU
    (small arrays: what a call costs, not what the device can do)."""

    op: str
    rows: int
    wrong: tuple[str, ...]
    cpu: float
    gpu: float


def operators(only: Sequence[str] = ()) -> list[Checked]:
    """Every operator of the table (or ``only`` these) on GPU 0, with kernels of the engine's own."""
    from tests.engine.ops.test_table import BY_OP

    found = []
    for op, cases in BY_OP.items():
        if only and op not in only:
            continue
        checked = [_checked(case) for case in cases]
        wrong = tuple(f"{case.id}: {text}" for case, (text, _, _) in zip(cases, checked, strict=True) if text)
        cpu, gpu = (median(times) for times in list(zip(*checked, strict=True))[1:])
        found.append(Checked(op, len(cases), wrong, cpu, gpu))
    return found


def _checked(case: Any) -> tuple[str, float, float]:
    """What is wrong with a row, and its microseconds on both devices."""
    from tests.engine.ops.test_table import _copies, _run

    begin = time.perf_counter()
    want = _run(case, _copies(case.sample.inputs))
    cpu = time.perf_counter() - begin
    try:
        with place_guard("gpu:0"), kernels.guard("auto"):
            _run(case, [_moved(each) for each in case.sample.inputs])  # compiles
            inputs = [_moved(each) for each in case.sample.inputs]
            engine.device.cuda.synchronize()
            begin = time.perf_counter()
            got = _run(case, inputs)
            engine.device.cuda.synchronize()
            gpu = time.perf_counter() - begin
        text = "" if OPS[case.op].random else _difference(got, want)
    except Exception as error:  # a report lists all failing rows, not only the first
        return f"{type(error).__name__}: {str(error)[:160]}", 1e6 * cpu, float("nan")
    return text, 1e6 * cpu, 1e6 * gpu


def _moved(value: Any) -> Any:
    if isinstance(value, list):
        return [_moved(each) for each in value]
    return None if value is None else engine.to_tensor(np.asarray(value), place="gpu:0")._array


def _difference(got: Sequence[Any], want: Sequence[Any]) -> str:
    for mine, theirs in zip(got, want, strict=True):
        if theirs is None:
            continue
        here = np.asarray(mine.get() if hasattr(mine, "get") else mine)
        if here.shape != theirs.shape or here.dtype != theirs.dtype:
            return f"{here.shape} {here.dtype} for {theirs.shape} {theirs.dtype}"
        near = 1e-6 if here.dtype == np.float32 else TOLERANCE
        alike = (
            np.allclose(here, theirs, near, near, equal_nan=True)
            if here.dtype.kind in "fc"
            else np.array_equal(here, theirs)
        )
        if not alike:
            off = np.abs(here.astype(np.complex128) - theirs.astype(np.complex128))
            return f"differs by {np.nanmax(off):.3g}"
    return ""


@dataclass(frozen=True)
class Size:
    """A kernel at a size: a function of Tensors of these shapes, run forward and back."""

    title: str
    shapes: tuple[tuple[int, ...], ...]
    compute: Callable[..., Any]


def sizes() -> list[Size]:
    """What networks ask for."""
    F = engine.nn.functional

    def entropy(x: Any) -> Any:
        return F.cross_entropy(x, engine.zeros([x.shape[0], 1], "int64"))

    def batch_norm(x: Any) -> Any:
        width = x.shape[1]
        mean, variance = engine.zeros([width]), engine.ones([width])
        return F.batch_norm(x, mean, variance, engine.ones([width]), engine.zeros([width]), training=True)

    def same(x: Any, w: Any) -> Any:
        return F.conv2d(x, w, padding=1, groups=x.shape[1] // w.shape[1])

    return [
        Size("conv2d 64x1x28x28, 6x5x5", ((64, 1, 28, 28), (6, 1, 5, 5)), F.conv2d),
        Size("conv2d 32x64x32x32, 64x3x3", ((32, 64, 32, 32), (64, 64, 3, 3)), same),
        Size("conv2d 32x512x4x4, 512x3x3", ((32, 512, 4, 4), (512, 512, 3, 3)), same),
        Size("depthwise 32x128x32x32, 3x3", ((32, 128, 32, 32), (128, 1, 3, 3)), same),
        Size("max_pool2d 64x32x32x32, 2", ((64, 32, 32, 32),), lambda x: F.max_pool2d(x, 2)),
        Size("matmul 64x400x120", ((64, 400), (400, 120)), engine.matmul),
        Size("matmul 1024x1024x1024", ((1024, 1024), (1024, 1024)), engine.matmul),
        Size("bmm 64x64x32x64", ((64, 64, 32), (64, 32, 64)), engine.matmul),
        Size("softmax 64x4x64x64", ((64, 4, 64, 64),), F.softmax),
        Size("cross entropy 64x10", ((64, 10),), entropy),
        Size("cross entropy 4096x1000", ((4096, 1000),), entropy),
        Size("layer norm 1024x128", ((1024, 128),), lambda x: F.layer_norm(x, 128)),
        Size("batch norm 32x64x32x32", ((32, 64, 32, 32),), batch_norm),
        Size("gelu 1M", ((1 << 20,),), F.gelu),
        Size("dropout 1M", ((1 << 20,),), lambda x: F.dropout(x, 0.5)),
        Size("embedding 4096 of 10000x128", ((10_000, 128),), lambda w: F.embedding(engine.arange(4096), w)),
        Size("sum 4096x1024 of rows", ((4096, 1024),), lambda x: x.sum(axis=1)),
    ]


def kernels_of(chosen: Sequence[Size], rounds: int) -> list[tuple[str, float, float]]:
    """Title and microseconds forward and back, with the engine's kernels and with CuPy's alone, on GPU 0."""
    found = []
    with place_guard("gpu:0"):
        for size in chosen:
            draw = np.random.default_rng(0).standard_normal
            inputs = [engine.to_tensor(draw(s).astype(np.float32), stop_gradient=False) for s in size.shapes]
            times = []
            for choice in ("auto", "numpy"):
                with kernels.guard(choice):
                    times.append(_timed(lambda: size.compute(*inputs), inputs, rounds))  # noqa: B023
            found.append((size.title, *times))
    return found


def _timed(compute: Callable[[], Any], inputs: Sequence[Any], rounds: int) -> float:
    """Microseconds on the device, by events: the median."""
    cuda, times = engine.device.cuda, []
    for turn in range(rounds + 2):  # two warm up
        for each in inputs:
            each.clear_gradient()
        begin, end = cuda.Event(), cuda.Event()
        begin.record()
        compute().sum().backward()
        end.record()
        if turn > 1:
            times.append(1000 * begin.elapsed_time(end))
    return median(times)
