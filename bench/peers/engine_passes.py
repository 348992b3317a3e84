"""Worker: steps of a network of ``bench.nets`` in the engine with some of its passes.

``python -m bench.peers.engine_passes LEVEL KIND [PASS]``: LEVEL of the passes, KIND as in ``bench.passes``;
PASS is the function that is omitted. With ``MODEL_STUDIO_KERNELS=fast`` steps are measured once compiled
kernels are there. The jobs are those of ``bench.contest``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import engine
from bench.nets import LEARNING_RATE, Job
from bench.peers.answering import answer_jobs
from bench.peers.paddle_nets import NETWORKS, initial_values, network
from bench.peers.paddle_steps import compiled_kernels, training
from engine import static
from engine.program.passes import level, pipeline
from engine.program.run.stages import fuse

KINDS = ("train", "layer", "program", "predict")
# The passes of level 1: those of the pipeline, and what plans run themselves.
OF_PLANS = "fuse_elementwise"
EXACT_PASSES = (
    *dict.fromkeys(e.rewrite.__name__ for e in pipeline.PIPELINE if e.level <= pipeline.EXACT),
    OF_PLANS,
)


def program(job: Job) -> Callable[[], Any]:
    """One step of a static Program; gives its loss."""
    engine.enable_static()
    images, labels = job.data()
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x = static.data("x", [None, *job.shape], "float32")
        y = static.data("y", [None, 1], "int64")
        model = NETWORKS[job.net](engine, *job.sizes)
        loss = engine.nn.functional.cross_entropy(model(x), y)
        engine.optimizer.Adam(learning_rate=LEARNING_RATE).minimize(loss)
    executor = static.Executor()
    executor.run(startup)
    for parameter, value in initial_values(engine, model):
        static.global_scope().find_var(parameter.name).get_tensor().set(value, engine.CPUPlace())
    feed = {"x": images, "y": labels.reshape(-1, 1)}
    return lambda: executor.run(main, feed, [loss])[0]


def predicting(job: Job) -> Callable[[], Any]:
    """The converted network alone; gives the mean of its results."""
    model = network(engine, job)
    model.eval()
    forward = engine.jit.to_static(model)
    x = engine.to_tensor(job.data()[0])

    def predict() -> Any:
        with engine.no_grad():
            return forward(x).mean()

    return predict


def main(passes: str, kind: str, without: str = "") -> None:
    """Serve jobs."""
    level.set(int(passes))
    known = {*EXACT_PASSES, *(each.rewrite.__name__ for each in pipeline.PIPELINE)}
    if without and without not in known:
        raise SystemExit(f"bench.passes: there is no pass {without!r}; there are {', '.join(sorted(known))}")
    if without == OF_PLANS:
        fuse.fuse_elementwise = lambda live, *_: live
    pipeline.PIPELINE = tuple(each for each in pipeline.PIPELINE if each.rewrite.__name__ != without)

    def make(_: str, job: Job) -> tuple[Callable[[], Any], Callable[[Any], float]]:
        if kind == "program":
            return program(job), float
        if kind == "predict":
            return predicting(job), float
        return training(engine, "static" if kind == "train" else "layer", job), float

    answer_jobs(f"engine {engine.__version__}", make, compiled_kernels())


if __name__ == "__main__":
    main(*sys.argv[1:])
