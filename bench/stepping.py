"""What it costs to step through a training step: making the plan, and looking at each result for NaN.

``python -m bench.stepping [--rows lenet,resnet,...|all] [--rounds N]``. Each network runs in a process of its
own with one thread, once with NumPy's kernels and once with compiled ones. The plan is that of a training:
forward and backward. Ratios are of the processor time of a run to the plan's, the least of the rounds, in
which both take turns. Two minutes for all rows.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from time import process_time
from typing import Any

from bench.arguments import listed, positive
from bench.nets import ROWS
from bench.timing import table, take_turns

NAMES = [name for name, row in ROWS.items() if row.kind == "train"]
MADE_MS, TIMES = 100.0, 3.0  # the budgets: of making LeNet's plan, and of a run with the look for NaN


def measure(name: str, rounds: int) -> dict[str, float]:
    """Milliseconds of making both plans, and of a run of each, in this process."""
    import engine as paddle
    from bench.peers.paddle_nets import network
    from engine.debugger.views import is_finite
    from engine.training.whole_step import WholeStep

    row = ROWS[name]
    x, labels = (paddle.to_tensor(array) for array in row.job.data())
    model, functional = network(paddle, row.job), paddle.nn.functional
    function = paddle.jit.to_static(
        lambda x, label: functional.cross_entropy(model(x), label), full_graph=True
    )
    concrete, _ = function.get_concrete_program(x, labels)
    step = WholeStep(function, None, (x, labels), network=model)

    def seconds(work: Callable[[], Any]) -> Callable[[], float]:
        def timed() -> float:
            begin = process_time()
            work()
            return process_time() - begin

        return timed

    def run(look: bool) -> None:
        for part in step.parts:
            for moment in part.begin():
                if look and not all(map(is_finite, moment.made)):
                    raise SystemExit(f"{name}: a result is not finite")

    def plan() -> None:
        concrete.with_gradients([x, labels])
        for parameter in model.parameters():
            parameter.clear_gradient(False)

    work = {
        "made": lambda: WholeStep(function, None, (x, labels), network=model),
        "plan": plan,
        "steps": lambda: run(False),
        "looks": lambda: run(True),
    }
    for each in work.values():
        each()
    series = take_turns({key: seconds(each) for key, each in work.items()}, rounds)
    return {each.name: each.best * 1e3 for each in series}


def main(arguments: list[str] | None = None) -> None:
    """Measure, and print the table and what is over its budget."""
    parser = argparse.ArgumentParser(prog="python -m bench.stepping", description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=listed(["all", *NAMES]), default=["lenet", "resnet", "transformer"])
    parser.add_argument("--rounds", type=positive, default=10)
    parser.add_argument("--one", choices=NAMES, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        print(json.dumps(measure(options.one, options.rounds)))
        return
    rows, over = [["", "made ms", "plan ms", "steps ms", "with a look", "times the plan"]], []
    for name in NAMES if "all" in options.rows else options.rows:
        for kernels in ("numpy", "fast"):
            command = [sys.executable, "-m", "bench.stepping", "--one", name, "--rounds", str(options.rounds)]
            alone = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MODEL_STUDIO_KERNELS": kernels}
            done = subprocess.run(
                command, check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, **alone}
            )
            found = json.loads(done.stdout)
            times = found["looks"] / found["plan"]
            if times > TIMES or (name == "lenet" and found["made"] > MADE_MS):
                over.append(f"{name}, {kernels}")
            shown = [f"{found[key]:.2f}" for key in ("made", "plan", "steps", "looks")]
            rows.append([f"{ROWS[name].title}, {kernels}", *shown, f"{times:.2f}"])
    print(table(rows))
    print(f"over the budget: {'; '.join(over)}" if over else "all within the budget")


if __name__ == "__main__":
    main()
