"""What it costs to explain an answer of LeNet: ``python -m bench.explain [--rounds N]``.

One image, one thread, after the first of each kind, which compiles. ``here`` is in this process, ``child``
through the process that the window asks. Milliseconds of elapsed time, the least and the median of the
rounds, in which all take turns; the budgets are for the median here.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from bench.arguments import positive
from bench.timing import table, take_turns

# Milliseconds; windows of 6 in steps of 2 are 144 places.
BUDGETS = {"activations": 5.0, "saliency": 15.0, "integrated, 32 steps": 50.0, "occlusion, 144 places": 30.0}


def work_of(subject: Any, image: np.ndarray) -> dict[str, Callable[[], Any]]:
    """The four methods on an image."""
    wanted = [each.variable for each in subject.activations([image])]
    return {
        "activations": lambda: subject.activations([image], wanted, 64),
        "saliency": lambda: subject.saliency([image]),
        "integrated, 32 steps": lambda: subject.integrated_gradients([image], steps=32),
        "occlusion, 144 places": lambda: subject.occlusion([image], size=6, step=2),
    }


def main(arguments: list[str] | None = None) -> None:
    """Measure, and print the table and what is over its budget."""
    parser = argparse.ArgumentParser(prog="python -m bench.explain", description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=positive, default=30)
    options = parser.parse_args(arguments)

    import engine as paddle
    from engine import explain
    from engine.explain import Subject
    from engine.explain.guarded.process import ExplainProcess, ProcessModel
    from engine.static import InputSpec

    net = paddle.vision.models.LeNet()
    net.eval()
    image = np.random.default_rng(0).random((1, 1, 28, 28), np.float32)

    def timed(work: Callable[[], Any]) -> Callable[[], float]:
        def seconds() -> float:
            begin = perf_counter()
            work()
            return perf_counter() - begin

        return seconds

    with tempfile.TemporaryDirectory() as folder:
        prefix = str(Path(folder) / "lenet")
        paddle.jit.save(net, prefix, input_spec=[InputSpec([None, 1, 28, 28], "float32", "x")])
        with ExplainProcess(prefix) as process:
            subjects = {
                "here": explain.of_saved(prefix),
                "child": Subject(ProcessModel(process, owned=False)),
            }
            work = {
                (name, where): each
                for where, subject in subjects.items()
                for name, each in work_of(subject, image).items()
            }
            for each in work.values():
                for _ in range(25):  # plans take compiled kernels after some runs
                    each()
            series = take_turns(
                {f"{name}; {where}": timed(each) for (name, where), each in work.items()}, options.rounds
            )
    found = {each.name: each for each in series}
    rows, over = [["LeNet, one image", "here ms", "median", "child ms", "median", "budget"]], []
    for name, budget in BUDGETS.items():
        times = [
            x * 1e3
            for where in subjects
            for x in (found[f"{name}; {where}"].best, found[f"{name}; {where}"].typical)
        ]
        rows.append([name, *(f"{x:.2f}" for x in times), f"{budget:g}"])
        if times[1] > budget:
            over.append(name)
    print(table(rows))
    print(f"over the budget: {'; '.join(over)}" if over else "all within the budget")


if __name__ == "__main__":
    main()
