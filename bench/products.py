"""From which size on a product gains by two threads: ``python -m bench.products [--rounds N] [--pause US]``.

Products of matrices [rows, inner] x [inner, columns] by one call of BLAS, in two shards that the interpreter
hands over, and in two that compiled code hands over (with llvmlite), in alternation within one process.
``--pause`` microseconds of other work stand before each, so that workers fall asleep, as between the
operators of a plan. Microseconds, least and median; ``x`` is the median over the rounds of a way's time by
that of one call.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.timing import paired_ratio, table, take_turns

SIZES = (
    (32, 64, 64),
    (64, 64, 64),
    (64, 128, 64),
    (128, 64, 128),
    (128, 128, 128),
    (256, 128, 128),
    (128, 512, 128),
    (512, 128, 256),
    (128, 512, 512),
    (1024, 128, 512),
    (512, 512, 512),
)


def timed(call: Callable[[], Any], pause: float) -> Callable[[], float]:
    """Seconds of ``call`` after so many seconds of computing."""

    def turn() -> float:
        until = time.perf_counter() + pause
        while time.perf_counter() < until:
            pass
        start = time.perf_counter()
        call()
        return time.perf_counter() - start

    return turn


def ways(rows: int, inner: int, columns: int) -> dict[str, Callable[[], Any]]:
    """The product in one call, and in two shards by each way of handing over."""
    from engine.kernels import choice
    from engine.kernels.cpu import products
    from engine.kernels.fast.compiler import compiler

    random = np.random.default_rng(0)
    a = random.standard_normal((rows, inner), dtype=np.float32)
    b = random.standard_normal((inner, columns), dtype=np.float32)
    out = np.empty((rows, columns), np.float32)

    def shared(kernels: str) -> None:
        products.SHARD = rows * inner * columns // 2
        choice.kernels.set(kernels)
        products.product(np, a, b, out)

    for _ in range(3):  # asks for the import, for the code, for the crew
        shared("fast")
        compiler().wait(60)
    return {
        "one call": lambda: np.matmul(a, b, out=out),
        "interpreter": lambda: shared("numpy"),
        "compiled": lambda: shared("fast"),
    }


def main() -> None:
    """Measure and print."""
    made = argparse.ArgumentParser(prog="python -m bench.products", description=__doc__.splitlines()[0])
    made.add_argument("--rounds", type=int, default=200)
    made.add_argument("--pause", type=float, default=50.0)
    options = made.parse_args()
    from engine.kernels.cpu.threads import set_num_threads

    set_num_threads(2)
    rows = [["", "2^20 of a shard", "one call", "interpreter", "x", "compiled", "x"]]
    for size in SIZES:
        turns = {name: timed(way, options.pause * 1e-6) for name, way in ways(*size).items()}
        one, *others = take_turns(turns, options.rounds)
        row = ["x".join(map(str, size)), f"{size[0] * size[1] * size[2] / 2**21:.2f}", summary(one)]
        for each in others:
            row += [summary(each), f"{paired_ratio(each, one):.2f}"]
        rows.append(row)
    print(table(rows))


def summary(series: Any) -> str:
    """Least and median microseconds."""
    return f"{series.best * 1e6:.0f}/{series.typical * 1e6:.0f}"


if __name__ == "__main__":
    main()
