"""Attention with its gradients as operators, as the plan's fused ones, compiled, and in torch, in
alternation.

``python -m bench.attention [--sizes 16,64,4,32 ...] [--threads N] [--rounds N]``. Sizes are batch, length,
heads, and the size of a head; the heads are views of rows ``[batch, length, heads * size]``, as projections
give them. Each contender makes the result and the gradients of queries, keys and values, in one process. Wall
time and the time that all threads computed: on a busy machine only the latter says what the code costs.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib.util import find_spec
from time import perf_counter, process_time
from typing import Any

import numpy as np

import engine as paddle
from bench.timing import Series, table, take_turns
from engine import static
from engine.kernels.choice import kernels
from engine.kernels.fast.compiler import compiler
from engine.program.run.plan import Plan

Array = np.ndarray[Any, Any]
USUAL = ("16,64,4,32", "4,256,8,64", "32,32,2,16")


def plan_of(sizes: tuple[int, ...], passes: int, choice: str) -> Plan:
    """A plan of attention and its gradients; level 0 of ``passes`` leaves the operators as they are."""
    batch, length, heads, size = sizes
    with kernels.guard(choice), static.program_guard(static.Program()):
        program = static.default_main_program()
        data = [static.data(n, [batch, length, heads * size], "float32") for n in ("q", "k", "v", "g")]
        for each in data[:3]:
            each.stop_gradient = False
        parted = [paddle.reshape(x, [batch, length, heads, size]) for x in data[:3]]
        out = paddle.nn.functional.scaled_dot_product_attention(*parted)
        out = paddle.reshape(out, [batch, length, heads * size])
        gradients = static.gradients([out], data[:3], [data[3]])
        specs = {v.name: v.spec for v in data}
        return Plan(program, program.global_block().ops, data, [out, *gradients], specs, passes=passes)


def of_torch(sizes: tuple[int, ...], arrays: list[Array], threads: int) -> Callable[[], Any]:
    """The same in torch."""
    import torch

    torch.set_num_threads(threads)
    batch, length, heads, size = sizes
    q, k, v, g = (torch.from_numpy(x) for x in arrays)
    leaves = [x.requires_grad_() for x in (q, k, v)]

    def run() -> Any:
        parted = [x.view(batch, length, heads, size).transpose(1, 2) for x in leaves]
        out = torch.nn.functional.scaled_dot_product_attention(*parted)
        out = out.transpose(1, 2).reshape(batch, length, heads * size)
        return out, *torch.autograd.grad(out, leaves, g)

    return run


def measured(sizes: tuple[int, ...], threads: int, rounds: int) -> str:
    """The table of one row."""
    batch, length, heads, size = sizes
    random = np.random.default_rng(0)
    arrays = [random.standard_normal((batch, length, heads * size)).astype(np.float32) for _ in range(4)]
    paddle.enable_static()
    plans = {
        "operators": plan_of(sizes, 0, "numpy"),
        "fused": plan_of(sizes, 1, "numpy"),
        "compiled": plan_of(sizes, 1, "fast"),
    }
    paddle.disable_static()
    compiler().wait()
    contenders: dict[str, Callable[[], Any]] = {
        name: lambda plan=plan: plan(list(arrays))
        for name, plan in plans.items()  # type: ignore[misc]
    }
    if find_spec("torch"):
        contenders["torch"] = of_torch(sizes, arrays, threads)
    wanted = contenders["operators"]()
    for name, run in contenders.items():
        for got, want in zip(run(), wanted, strict=True):
            np.testing.assert_allclose(np.asarray(got.detach() if name == "torch" else got), want, atol=2e-3)
    cpu: dict[str, Series] = {name: Series(name) for name in contenders}

    def timed(name: str) -> Callable[[], float]:
        def once() -> float:
            start, used = perf_counter(), process_time()
            contenders[name]()
            cpu[name].seconds.append(process_time() - used)
            return perf_counter() - start

        return once

    wall = {s.name: s for s in take_turns({name: timed(name) for name in contenders}, rounds)}
    lines = [["us", "min", "median", "cpu min", "cpu median", "x cpu"]]
    first = cpu["operators"].typical
    for name, one in wall.items():
        used = cpu[name]
        figures = (one.best, one.typical, used.best, used.typical)
        lines.append([name, *[f"{1e6 * f:,.0f}" for f in figures], f"{used.typical / first:.2f}"])
    return table(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="*", default=USUAL, help="batch,length,heads,size")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=100)
    options = parser.parse_args()
    paddle.set_num_threads(options.threads)
    for text in options.sizes:
        sizes = tuple(int(n) for n in text.split(","))
        print("\nbatch {}, {} tokens, {} heads of {}".format(*sizes), f"on {options.threads} threads")
        print(measured(sizes, options.threads, options.rounds))


if __name__ == "__main__":
    main()
